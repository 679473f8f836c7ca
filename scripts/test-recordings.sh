#!/bin/sh
# scripts/fetch-recordings.sh, with a repository of this test's own: `make test OF=recordings`. No network.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "test-recordings: error: $*" >&2
    exit 1
}

repo=$work/git/owner/name
mkdir -p "$repo/data"
echo "0.0 5.0" >"$repo/data/a trace.txt"
echo "0.0 7.0" >"$repo/data/b.txt"
git -C "$repo" init -q
git -C "$repo" add .
git -C "$repo" -c user.name=test -c user.email=test@localhost commit -qm test
# Servers of public repositories allow it.
git -C "$repo" config uploadpack.allowAnySHA1InWant true
commit=$(git -C "$repo" rev-parse HEAD)
hash() { sha256sum <"$1" | cut -d ' ' -f 1; }
a=$(hash "$repo/data/a trace.txt") b=$(hash "$repo/data/b.txt")

# take LIST: what the script says and does with it.
take() {
    printf '%s\n' "$@" >"$work/list"
    rm -rf "$work/out"
    sh scripts/fetch-recordings.sh "$work/out" --list "$work/list" --from "file://$work/git" >"$work/said" 2>&1
}
refused() {
    says=$1
    shift
    if take "$@"; then fail "expected a refusal: $says"; fi
    grep -q "$says" "$work/said" || fail "expected \"$says\", found: $(cat "$work/said")"
}

of="repository owner/name $commit MIT"
take "# two" "$of" "$a traces/x/0.txt data/a trace.txt" "$b traces/x/1.txt data/b.txt" || fail "$(cat "$work/said")"
[ "$(cat "$work/out/traces/x/0.txt")" = "0.0 5.0" ] || fail "0.txt is another one"
[ "$(hash "$work/out/traces/x/1.txt")" = "$b" ] || fail "1.txt is another one"
grep -q "2 files" "$work/said" || fail "found: $(cat "$work/said")"

# A last line without an end counts, and a git that reads its input leaves the list alone.
mkdir "$work/bin"
printf '#!/bin/sh\ncat >/dev/null\nexec %s "$@"\n' "$(command -v git)" >"$work/bin/git"
chmod 755 "$work/bin/git"
printf '%s\n%s\n%s' "$of" "$a traces/x/0.txt data/a trace.txt" "$b traces/x/1.txt data/b.txt" >"$work/list"
rm -rf "$work/out"
PATH=$work/bin:$PATH sh scripts/fetch-recordings.sh "$work/out" --list "$work/list" --from "file://$work/git" \
    >"$work/said" 2>&1 || fail "$(cat "$work/said")"
grep -q "2 files" "$work/said" || fail "found: $(cat "$work/said")"

refused "found SHA-256 $b, expected $a" "$of" "$a traces/x/0.txt data/b.txt"
[ ! -e "$work/out/traces/x/0.txt" ] || fail "a file with another content was written"
refused "has no file data/c.txt" "$of" "$a traces/x/0.txt data/c.txt"
refused "has no commit" "repository owner/name 0123456789012345678901234567890123456789 MIT"
refused "expected a commit and a licence" "repository owner/name $commit" "$a traces/x/0.txt data/b.txt"
refused "is no name below a folder" "$of" "$a ../0.txt data/b.txt"
refused "above all repositories" "$a traces/x/0.txt data/b.txt"
grep -c '^repository ' scripts/recordings.txt | grep -qx 4 || fail "scripts/recordings.txt has not four repositories"
echo "test-recordings: ok"

#!/bin/sh
# Public recordings of links and pages, with which docs/reproduction can be made by anybody:
#
#   sh scripts/fetch-recordings.sh DIR
#   ANALECTS_DATA=DIR analects reproduce confucius/fig10
#
# They come from public repositories of git at the commits in scripts/recordings.txt, where each file has its SHA-256
# and each repository its licence. A file with another content is not written. Of the pages' recordings these are the
# originals, with bodies; docs/reproduction was made with the same ones without bodies, cookies and most headers. That
# pages made of the originals are the same was not tried, nor was this script over the internet: its test has a
# repository of its own (scripts/test-recordings.sh).
#   --list FILE   take another list than scripts/recordings.txt
#   --from URL    take the repositories from below URL instead of https://github.com
set -eu
list=$(dirname "$0")/recordings.txt
from=https://github.com
folder=

fail() {
    echo "fetch-recordings: error: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --list | --from)
        [ $# -gt 1 ] || fail "$1 has no value"
        if [ "$1" = --list ]; then list=$2; else from=$2; fi
        shift
        ;;
    -*) fail "found \"$1\", expected a folder, --list FILE or --from URL" ;;
    *)
        [ -z "$folder" ] || fail "found two folders, \"$folder\" and \"$1\", expected one"
        folder=$1
        ;;
    esac
    shift
done
[ -n "$folder" ] || fail "found no folder, expected: fetch-recordings.sh DIR"
for tool in git sha256sum; do
    command -v $tool >/dev/null || fail "$tool is not installed"
done
[ -f "$list" ] || fail "$list is no file"

mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
repository=
files=0

# The object's hash is that of all that is in it: git refuses what does not have it. Whole commits come, in one
# connection each: without their files (--filter=blob:none) each file would need a connection of its own. git's input
# is not the list.
fetch() {
    echo "fetch-recordings: $repository at $commit ($licence)"
    rm -rf "$work/repo"
    git init -q --bare "$work/repo" </dev/null
    git --git-dir="$work/repo" fetch -q --depth 1 "$from/$repository" "$commit" </dev/null ||
        fail "$from/$repository has no commit $commit"
}

take() {
    case $name in /* | *..*) fail "$list: $name is no name below a folder" ;; esac
    git --git-dir="$work/repo" cat-file blob "$commit:$path" </dev/null >"$work/file" 2>/dev/null ||
        fail "$repository has no file $path at $commit"
    found=$(sha256sum <"$work/file" | cut -d ' ' -f 1)
    [ "$found" = "$hash" ] || fail "$name: found SHA-256 $found, expected $hash"
    mkdir -p "$(dirname "$folder/$name")"
    mv "$work/file" "$folder/$name"
    files=$((files + 1))
}

# The last line may have no end.
while read -r first second rest || [ -n "$first" ]; do
    case $first in
    '' | '#'*) ;;
    repository)
        case $rest in
        *' '*) ;;
        *) fail "$list: repository $second: found \"$rest\", expected a commit and a licence" ;;
        esac
        repository=$second commit=${rest%% *} licence=${rest#* }
        fetch
        ;;
    *)
        [ -n "$repository" ] || fail "$list: a file stands above all repositories"
        hash=$first name=$second path=$rest
        take
        ;;
    esac
done <"$list"
echo "fetch-recordings: $files files below $folder, each with its SHA-256"

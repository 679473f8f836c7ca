#!/bin/sh
# series.sh TREE OUT: makes the series of mencius for a kernel tree from kernel/, into OUT/000N-*.patch.
# What belongs to the tree and not to the module, and the words of each patch, are beside this script.
set -eu
[ $# = 2 ] || { echo "usage: $0 TREE OUT" >&2; exit 2; }
tree=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
kernel=$here/../../kernel
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Nothing of the host's user: the same sources make the same patches.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 PYTHONDONTWRITEBYTECODE=1
for who in AUTHOR COMMITTER; do
    export "GIT_${who}_NAME=The Analects developers" \
        "GIT_${who}_EMAIL=analects@users.noreply.github.com" "GIT_${who}_DATE=2026-01-01T00:00:00Z"
done
commit() { # MESSAGE
    git add -A
    git commit -q -F "$1"
}

git init -q -b mencius .
uapi=include/uapi/linux/pkt_sched.h
spec=Documentation/netlink/specs/tc.yaml
tdc=tools/testing/selftests/tc-testing
for file in $uapi $spec net/sched/sch_api.c net/sched/Kconfig net/sched/Makefile MAINTAINERS $tdc/config; do
    mkdir -p "$(dirname "$file")"
    cp "$tree/$file" "$file"
done
echo "the tree" >"$work/.git/words"
commit "$work/.git/words"
git tag tree

git apply "$here/1-export.diff"
commit "$here/1-export.txt"

# The module's own header goes before the last line of the kernel's.
header=$kernel/mencius/pkt_sched_mencius.h
sed -i '$d' $uapi
{
    echo "/* MENCIUS */"
    python3 "$here/one_file.py" --uapi "$header"
    echo
    echo "#endif"
} >>$uapi
python3 "$here/one_file.py" "$kernel/mencius/sch_mencius.c" >net/sched/sch_mencius.c
git apply "$here/2-build.diff"
commit "$here/2-mencius.txt"

python3 "$here/netlink_spec.py" "$header" "$tree/$spec" >$spec
commit "$here/3-spec.txt"

# Without the cases of what a first series does without.
mkdir -p $tdc/tc-tests/qdiscs
python3 - "$kernel/tc/tests/mencius.json" >$tdc/tc-tests/qdiscs/mencius.json <<'PYTHON'
import json
import sys

with open(sys.argv[1]) as file:
    cases = json.load(file)
kept = [case for case in cases if " shared" not in case["cmdUnderTest"]]
print(json.dumps(kept, indent=4, ensure_ascii=False))
PYTHON
sed -i 's/^CONFIG_NET_SCH_INGRESS=m$/&\nCONFIG_NET_SCH_MENCIUS=m/' $tdc/config
commit "$here/4-selftests.txt"

rm -f "$out"/[0-9]*.patch
git config branch.mencius.description "$(cat "$here/cover.txt")"
git format-patch -q --no-signature --cover-letter --cover-from-description=subject \
    --subject-prefix='RFC PATCH net-next' -o "$out" tree

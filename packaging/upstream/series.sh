#!/bin/sh
# series.sh TREE OUT: makes the patch series for a kernel tree from kernel/, into OUT/000N-*.patch.
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
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
for who in AUTHOR COMMITTER; do
    export "GIT_${who}_NAME=The Analects developers" \
        "GIT_${who}_EMAIL=analects@users.noreply.github.com" "GIT_${who}_DATE=2026-01-01T00:00:00Z"
done
commit() { # MESSAGE
    git add -A
    git commit -q -F "$1"
}

git init -q .
for file in include/uapi/linux/pkt_sched.h net/sched/sch_api.c net/sched/Kconfig net/sched/Makefile; do
    mkdir -p "$(dirname "$file")"
    cp "$tree/$file" "$file"
done
echo "the tree" >"$work/.git/words"
commit "$work/.git/words"
git tag tree

git apply "$here/1-export.diff"
commit "$here/1-export.txt"

# uapi DISCIPLINE: the module's own header goes before the last line of the kernel's.
uapi() {
    header=include/uapi/linux/pkt_sched.h
    sed -i '$d' $header
    {
        echo "/* $1 */" | tr '[:lower:]' '[:upper:]'
        sed '1,/^#include <linux\/types.h>/d' "$kernel/$1/pkt_sched_$1.h"
    } >>$header
}
# sources FILES: into the tree; what compat.h spells for older kernels has its name here.
sources() {
    for file in "$@"; do
        sed -e '/#include "\(..\/common\/\)\?compat.h"/d' -e '/#include "pkt_sched_[a-z]*.h"/d' \
            -e 's,#include "unroll.h",#include <linux/unroll.h>,' \
            -e 's,#include "\.\./common/,#include ",' \
            -e 's/^\(\t*\)compat_drop_overlimit(skb, q->fs.sch, q->fs.to_free)/\1qdisc_drop_reason(skb, q->fs.sch, q->fs.to_free,\n\1\t\t  QDISC_DROP_OVERLIMIT)/' \
            -e 's/^\(\t*\)compat_drop_congested(skb, q->fs.sch, q->fs.to_free)/\1qdisc_drop_reason(skb, q->fs.sch, q->fs.to_free,\n\1\t\t  QDISC_DROP_CONGESTED)/' \
            -e 's/^\(\t*\)compat_set_pkt_len(part, sch);/\1qdisc_skb_cb(part)->pkt_len = part->len;\n\1qdisc_skb_cb(part)->pkt_segs = 1;\n\1qdisc_calculate_pkt_len(part, qdisc_root_bh(sch));/' \
            "$file" >"net/sched/$(basename "$file")"
    done
    if grep -nE 'compat' net/sched/*.h net/sched/sch_[cmf]*.c; then
        echo "series: something of compat.h is left" >&2
        exit 1
    fi
}
selftests() {
    tests=tools/testing/selftests/tc-testing/tc-tests/qdiscs
    mkdir -p $tests
    cp "$kernel/tc/tests/$1.json" $tests/
}

uapi confucius
commit "$here/2-uapi.txt"
sources "$kernel"/confucius/confucius*.h "$kernel"/common/flow_[lns]*.h "$kernel/common/flow_trace.h" "$kernel/confucius/sch_confucius.c"
sed -i 's,^#include <net/gen_stats.h>,&\n#include <net/gso.h>,' net/sched/flow_sched.h
sed -i 's,^#include <net/netlink.h>,&\n#include <net/pkt_sched.h>,' net/sched/confucius_netlink.h
git apply "$here/3-build.diff"
commit "$here/3-discipline.txt"
selftests confucius
commit "$here/4-selftests.txt"

uapi mencius
commit "$here/5-mencius-uapi.txt"
sources "$kernel"/mencius/mencius*.h "$kernel/common/flow_table.h" "$kernel/mencius/sch_mencius.c"
sed -i 's,^#include <net/netlink.h>,&\n#include <net/pkt_sched.h>,' net/sched/mencius_netlink.h
git apply "$here/6-build.diff"
commit "$here/6-mencius.txt"
selftests mencius
commit "$here/7-mencius-selftests.txt"

uapi floq
commit "$here/8-floq-uapi.txt"
sources "$kernel"/floq/floq*.h "$kernel/floq/sch_floq.c"
sed -i 's,^#include <net/netlink.h>,&\n#include <net/pkt_sched.h>,' net/sched/floq_netlink.h
git apply "$here/9-build.diff"
commit "$here/9-floq.txt"
selftests floq
commit "$here/10-floq-selftests.txt"

rm -f "$out"/[0-9]*.patch
git format-patch -q --no-signature --subject-prefix='PATCH net-next' -o "$out" tree

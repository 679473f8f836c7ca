#!/bin/sh
# Mencius as a patch series (packaging/upstream): `make test OF=upstream`. It applies to Debian's source of 7.x, passes
# checkpatch.pl, has a netlink spec that the kernel's reader takes, and builds there without a warning, built in and as
# a module; and each header of the module compiles alone there. The kernel is user-mode Linux, which any compiler builds;
# no root except for missing packages. sparse and coccinelle look at it where they are installed.
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
work=$PWD/target/upstream
say() { echo "test-upstream: $*"; }
fail() {
    say "error: $*" >&2
    exit 1
}

sh scripts/apt.sh gcc libc6-dev make flex bison bc xz-utils patch perl git debian-archive-keyring python3-yaml
mkdir -p "$cache/uml"
flock "$cache/uml/lock" sh scripts/kernel/linux-source.sh
source=$(cd "$cache/uml/src" && pwd)

say "making the series, for $(cat "$cache/uml/package")"
rm -rf "$work"
mkdir -p "$work"
sh packaging/upstream/series.sh "$source" "$work/patches"

# A tree of its own, which costs no space if links can be made: patch replaces files.
cp -al "$source" "$work/tree" 2>/dev/null || { rm -rf "$work/tree" && cp -a "$source" "$work/tree"; }
for patch in "$work"/patches/000[1-9]*.patch; do
    patch -s -p1 --fuzz=0 -d "$work/tree" <"$patch"
done

qdisc=net/sched/sch_mencius.c
say "checkpatch.pl"
# Qdisc is the kernel's own word; a signature is a person's; MAINTAINERS is in the same patch.
for patch in "$work"/patches/000[1-9]*.patch; do
    (cd "$work/tree" && perl scripts/checkpatch.pl --strict --no-summary --quiet --max-line-length=80 \
        --ignore CAMELCASE,MISSING_SIGN_OFF,FILE_PATH_CHANGES "$patch") || fail "$patch is not as the kernel wants it"
done

say "the netlink spec"
PYTHONDONTWRITEBYTECODE=1 python3 - "$work/tree" <<'PYTHON' || fail "the kernel's reader refuses the spec"
import sys

tree = sys.argv[1]
sys.path.insert(0, f"{tree}/tools/net/ynl/pyynl")
from lib import SpecFamily

family = SpecFamily(f"{tree}/Documentation/netlink/specs/tc.yaml")
uapi = open(f"{tree}/include/uapi/linux/pkt_sched.h").read()
for name in ["mencius-attrs", "mencius-stats-attrs", "mencius-host-attrs", "mencius-flow-attrs"]:
    attributes = family.attr_sets[name]
    for attribute in attributes.attrs:
        constant = (attributes.yaml["name-prefix"] + attribute).upper().replace("-", "_")
        assert f"\t{constant}," in uapi, constant
PYTHON

build() { make -s -C "$work/tree" ARCH=um O="$work/build" KCONFIG_ALLCONFIG="$work/config-$how" "$@" >>"$work/build.log" 2>&1; }
for how in y m; do
    say "building it as $how"
    ours="CONFIG_NET_SCH_MENCIUS=$how"
    { cat kernel/test/uml.config && echo "$ours"; } >"$work/config-$how"
    build alldefconfig
    grep -qx "$ours" "$work/build/.config" || fail "the configuration has no $ours"
    build prepare || fail "the tree does not build, see $work/build.log"
    build W=1 "${qdisc%c}o" || { tail -n 40 "$work/build.log"; fail "$qdisc does not build"; }
    if grep -n 'sch_mencius.*warning:' "$work/build.log"; then fail "there are warnings"; fi
done

if command -v sparse >/dev/null; then
    say "sparse"
    rm -f "$work/build/${qdisc%c}o"
    # 0.6.4 does not know that word, nor the constants of MODULE_LICENSE() and its like, whichever module has them.
    build C=1 CHECK="sparse -D__typeof_unqual__=__typeof__" "${qdisc%c}o" || fail "sparse fails, see $work/build.log"
    if grep -E 'sch_mencius\.c:[0-9:]+ (warning|error)' "$work/build.log" | grep -v 'bad constant expression'; then
        fail "sparse complains"
    fi
fi
if command -v spatch >/dev/null; then
    say "coccinelle"
    for check in "$work"/tree/scripts/coccinelle/*/*.cocci; do
        timeout 120 spatch -D report --very-quiet --no-show-diff --sp-file "$check" -I "$work/tree/include" \
            "$work/tree/$qdisc" 2>/dev/null || true
    done >"$work/coccinelle.log"
    if grep -n sch_mencius "$work/coccinelle.log"; then fail "coccinelle complains"; fi
fi

say "each header alone"
# The module has the uapi itself.
cp --remove-destination "$source/include/uapi/linux/pkt_sched.h" "$work/tree/include/uapi/linux/pkt_sched.h"
mkdir -p "$work/alone"
sh kernel/copy.sh "$work/alone" mencius
for header in "$work"/alone/common/*.h "$work"/alone/mencius/*.h; do
    name=$(basename "$header" .h)
    # A list of parameters is what its reader makes of it.
    [ "$name" != mencius_params ] || continue
    echo "#include \"${header#"$work/alone/"}\"" >"$work/alone/alone_$name.c"
    echo "obj-m += alone_$name.o" >>"$work/alone/Kbuild"
done
# What a header has and does not use itself is no fault of it, nor are hooks that it declares for others.
echo "ccflags-y += -I$work/alone/mencius -Wno-unused-function -Wno-unused-const-variable" >>"$work/alone/Kbuild"
objects=$(cd "$work/alone" && echo alone_*.c | sed 's/\.c/.o/g')
# shellcheck disable=SC2086 # words
build -k M="$work/alone" $objects || { grep -n 'error:' "$work/build.log"; fail "a header does not compile alone"; }
say "ok"

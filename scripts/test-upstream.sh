#!/bin/sh
# The modules as a patch series (packaging/upstream): `make test OF=upstream`. It applies to Debian's
# source of 7.x, passes checkpatch.pl, and builds there without a warning, built in and as a
# module. The kernel is user-mode Linux, which any compiler builds; no root except for missing packages.
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
work=$PWD/target/upstream
say() { echo "test-upstream: $*"; }
fail() {
    say "error: $*" >&2
    exit 1
}

sh scripts/apt.sh gcc libc6-dev make flex bison bc xz-utils patch perl git debian-archive-keyring
mkdir -p "$cache/uml"
flock "$cache/uml/lock" sh scripts/kernel/linux-source.sh
source=$(cd "$cache/uml/src" && pwd)

say "making the series, for $(cat "$cache/uml/package")"
rm -rf "$work"
mkdir -p "$work"
sh packaging/upstream/series.sh "$source" "$work/patches"

# A tree of its own, which costs no space if links can be made: patch replaces files.
cp -al "$source" "$work/tree" 2>/dev/null || { rm -rf "$work/tree" && cp -a "$source" "$work/tree"; }
for patch in "$work"/patches/*.patch; do
    patch -s -p1 --fuzz=0 -d "$work/tree" <"$patch"
done

say "checkpatch.pl"
check() { # IGNORED-TYPES FILE
    (cd "$work/tree" && perl scripts/checkpatch.pl --strict --no-summary --quiet --max-line-length=80 \
        --ignore "$1" -f "net/sched/$2") || fail "$2 is not as the kernel wants it"
}
for file in "$work"/tree/net/sched/*confucius* "$work"/tree/net/sched/flow_* \
    "$work"/tree/net/sched/*mencius* "$work"/tree/net/sched/*floq*; do
    name=${file##*/}
    case $name in
    # Every header of tracepoints has lines that end with a parenthesis.
    *_trace.h) check OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,CAMELCASE "$name" ;;
    *_params.h) check PARENTHESIS_ALIGNMENT "$name" ;;
    # A list of parameters has columns that one use or another does not take.
    *_netlink.h) check CAMELCASE,MACRO_ARG_UNUSED "$name" ;;
    # Qdisc is the kernel's own word.
    *) check CAMELCASE "$name" ;;
    esac
done

# With events, which the tests' kernel does not need.
{
    grep -v CONFIG_FTRACE kernel/test/uml.config
    echo CONFIG_FTRACE=y
    echo CONFIG_ENABLE_DEFAULT_TRACERS=y
} >"$work/config"
for how in y m; do
    say "building them as $how"
    ours="CONFIG_NET_SCH_CONFUCIUS=$how CONFIG_NET_SCH_MENCIUS=$how CONFIG_NET_SCH_FLOQ=$how"
    # The lines are split into words.
    # shellcheck disable=SC2086
    { cat "$work/config" && printf '%s\n' $ours; } >"$work/config-$how"
    build() { make -s -C "$work/tree" ARCH=um O="$work/build" KCONFIG_ALLCONFIG="$work/config-$how" "$@" >>"$work/build.log" 2>&1; }
    build alldefconfig
    for line in CONFIG_EVENT_TRACING=y $ours; do
        grep -qx "$line" "$work/build/.config" || fail "the configuration has no $line"
    done
    build prepare || fail "the tree does not build, see $work/build.log"
    for trace in confucius_move mencius_flow floq_move; do
        object=net/sched/sch_${trace%_*}.o
        build W=1 "$object" || { tail -n 40 "$work/build.log"; fail "$object does not build"; }
        nm "$work/build/$object" | grep -q " __tracepoint_$trace\$" || fail "$object has no tracepoints"
    done
    if grep -nE '(confucius|mencius|floq|flow_sched|flow_table).*warning:' "$work/build.log"; then fail "there are warnings"; fi
done
say "ok"

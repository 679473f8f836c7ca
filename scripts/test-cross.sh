#!/bin/sh
# Shows that nothing here needs 64 bits or little-endian: builds for other processors with
# Debian's cross compilers, and runs the results under qemu.
#   sh scripts/test-cross.sh
# - each discipline's core in C replays traces, and must decide as the one in Rust does here;
# - the tc plugin parses and prints;
# - the module is compiled against Debian's kernel headers, which Debian has for all of these
#   except big-endian mips.
set -eu
cd "$(dirname "$0")/.."
sh scripts/apt.sh gcc make libc6-dev qemu-user-static \
    gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf gcc-mips-linux-gnu gcc-mipsel-linux-gnu \
    libc6-dev-arm64-cross libc6-dev-armhf-cross libc6-dev-mips-cross libc6-dev-mipsel-cross
out=$PWD/target/cross
rm -rf "$out"
mkdir -p "$out"

flags="-std=gnu11 -O2 -Wall -Wextra -Werror"
common="kernel/tc/tc_words.c kernel/tc/tc_figures.c kernel/tc/tc_print.c"

# build COMPILER FOLDER: the programs, static so that qemu needs no libraries.
build() {
    mkdir -p "$2"
    # The lists are split into words.
    # shellcheck disable=SC2086
    {
        for discipline in $(sh kernel/copy.sh --list); do
            "$1" $flags -static -o "$2/replay_$discipline" "kernel/test/replay_$discipline.c"
            plugin="kernel/tc/q_$discipline.c kernel/tc/q_${discipline}_stats.c $common"
            "$1" $flags -static -o "$2/test_$discipline" "kernel/tc/tests/test_$discipline.c" $plugin
            "$1" $flags -fPIC -shared -fvisibility=hidden -o "$2/q_$discipline.so" $plugin
        done
    }
}

# Random traces, those worked out by hand, and what Rust decides on them.
for discipline in $(sh kernel/copy.sh --list); do
    echo "cross: traces of $discipline"
    ANALECTS_TRACES=100 ANALECTS_TRACE_DIR=$out/traces/$discipline \
        cargo test --quiet --locked -p qdisc --test it "kernel_c::$discipline::" -- --ignored > "$out/cargo.log" 2>&1 ||
        { cat "$out/cargo.log"; exit 1; }
done

# replay_traces DISCIPLINE COMMAND...: lines that begin with "did" are only C's.
replay_traces() {
    traces=$out/traces/$1
    count=0
    shift
    for trace in "$traces"/*.trace; do
        timeout 120 "$@" < "$trace" | sed '/^did /d' | cmp "${trace%.trace}.expected" -
        count=$((count + 1))
    done
    [ "$count" -gt 100 ]
}

# try TRIPLET QEMU
try() {
    build "$1-gcc" "$out/$1"
    for discipline in $(sh kernel/copy.sh --list); do
        replay_traces "$discipline" "qemu-$2-static" "$out/$1/replay_$discipline"
        "qemu-$2-static" "$out/$1/test_$discipline" > "$out/$1/plugin" 2> /dev/null
        echo "cross: $1: $discipline: $count traces decided as in Rust; $(cat "$out/$1/plugin")"
    done
}

try aarch64-linux-gnu aarch64
try arm-linux-gnueabihf arm
try mips-linux-gnu mips
try mipsel-linux-gnu mipsel

# module FLAVOUR ARCH TRIPLET: warnings are errors, also those of W=1.
module() {
    build=$headers/usr/src/$(cat "$headers/$1.name")
    source=$out/$3/module
    sh kernel/copy.sh "$source"
    make -C "$build" M="$source" ARCH="$2" CROSS_COMPILE="$3-" W=1 modules \
        > "$source/log" 2>&1 || { tail -n 20 "$source/log"; exit 1; }
    if grep -i 'warning' "$source/log"; then
        echo "cross: $3: the module has warnings" >&2
        exit 1
    fi
    echo "cross: $3: modules for $(cat "$headers/$1.name"): $(size "$source"/sch_*.ko 2> /dev/null | awk 'NR > 1 { printf "%s %s bytes ", $6, $4 }' | sed "s,$source/,,g")"
}

headers=$(sh scripts/cross-headers.sh arm64:arm64 armmp:armhf 4kc-malta:mipsel)
module arm64 arm64 aarch64-linux-gnu
module armmp arm arm-linux-gnueabihf
module 4kc-malta mips mipsel-linux-gnu

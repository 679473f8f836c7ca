#!/bin/sh
# Shows that nothing here needs 64 bits or little-endian: builds for other processors with
# Debian's cross compilers, and runs the results under qemu.
#   sh scripts/cross.sh
# - the C core replays a trace and must decide as it does here;
# - the tc plugin parses and prints;
# - the module is compiled against Debian's kernel headers, which Debian has for all of these
#   except big-endian mips.
set -eu
cd "$(dirname "$0")/.."
sh scripts/apt.sh gcc make libc6-dev gawk qemu-user-static \
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
        "$1" $flags -static -o "$2/replay" kernel/test/replay_confucius.c
        for discipline in $(sh kernel/copy.sh --list); do
            plugin="kernel/tc/q_$discipline.c kernel/tc/q_${discipline}_stats.c $common"
            "$1" $flags -static -o "$2/test_$discipline" "kernel/tc/tests/test_$discipline.c" $plugin
            "$1" $flags -fPIC -shared -fvisibility=hidden -o "$2/q_$discipline.so" $plugin
        done
    }
}

replay_traces() {
    for seed in 1 2 3 4 5; do
        gawk -v seed=$seed -v lines=20000 -f scripts/cross-trace.awk | timeout 120 "$@"
    done
}

build gcc "$out/native"
replay_traces "$out/native/replay" > "$out/native/decisions"
echo "cross: here: $(wc -l < "$out/native/decisions") decisions, of them" \
    "$(grep -c ^drop "$out/native/decisions") drops," \
    "$(grep -c ^move "$out/native/decisions") moves, $(grep -c ^mark "$out/native/decisions") marks"

# try TRIPLET QEMU
try() {
    build "$1-gcc" "$out/$1"
    replay_traces "qemu-$2-static" "$out/$1/replay" > "$out/$1/decisions"
    cmp "$out/native/decisions" "$out/$1/decisions"
    for discipline in $(sh kernel/copy.sh --list); do
        "qemu-$2-static" "$out/$1/test_$discipline" > "$out/$1/plugin" 2> /dev/null
        echo "cross: $1: the same decisions; $(cat "$out/$1/plugin")"
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

#!/bin/sh
# kernel-module.sh KERNEL SOURCE OUT: builds the external module directory SOURCE (Kbuild, *.c, *.h)
# for one of kernel-engine's kernels, with its suite's compiler, into OUT. Any warning is an error.
set -eu
[ $# = 3 ] || { echo "usage: $0 6.1|6.12|7.x SOURCE OUT" >&2; exit 2; }
kernel=$1 source=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd)
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
[ -f "$cache/$kernel/release" ] || fail "$kernel: not fetched: run \`make kernel-engine KERNEL=$kernel\`"
suite=$(suite_of "$kernel")
release=$(cat "$cache/$kernel/release")

cp "$source"/Kbuild "$source"/*.[ch] "$out/"
say "$kernel: building $(basename "$source") for $release"
if ! in_chroot "$suite" "$out" "$kernel" make -s -C "/headers/usr/src/linux-headers-$release" \
    M=/build W=1 modules >"$out/build.log" 2>&1; then
    cat "$out/build.log" >&2
    fail "$kernel: the module does not build"
fi
if grep -iq 'warning' "$out/build.log"; then
    cat "$out/build.log" >&2
    fail "$kernel: the module builds with warnings"
fi

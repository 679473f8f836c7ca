#!/bin/sh
# kernel-module.sh KERNEL SOURCE OUT [FOLDER]: copies SOURCE to OUT and builds there, or in OUT/FOLDER,
# the modules its Kbuild names, for one of kernel-engine's kernels, with that kernel's compiler. Any
# warning is an error.
set -eu
[ $# = 3 ] || [ $# = 4 ] || { echo "usage: $0 6.1|6.12|7.x SOURCE OUT [FOLDER]" >&2; exit 2; }
kernel=$1 source=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd) folder=${4:-.}
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
[ -f "$cache/$kernel/release" ] || fail "$kernel: not fetched: run \`make kernel-engine RELEASE=$kernel\`"
suite=$(suite_of "$kernel")
release=$(cat "$cache/$kernel/release")

cp -R "$source/." "$out/"
# No BTF: that needs pahole, and nothing here reads it.
say "$kernel: building $(basename "$source")/$folder for $release"
if ! in_chroot "$suite" "$out" "$kernel" make -s -C "/headers/usr/src/linux-headers-$release" \
    "M=/build/$folder" W=1 CONFIG_DEBUG_INFO_BTF_MODULES= modules \
    >"$out/build.log" 2>&1; then
    cat "$out/build.log" >&2
    fail "$kernel: the module does not build"
fi
if grep -iq 'warning' "$out/build.log"; then
    cat "$out/build.log" >&2
    fail "$kernel: the module builds with warnings"
fi

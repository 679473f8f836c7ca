#!/bin/sh
# vmlinux.sh BZIMAGE OUT: the ELF kernel inside a bzImage, which QEMU enters through its PVH note.
# Offsets: Linux, Documentation/arch/x86/boot.rst.
set -eu
. scripts/kernel/common.sh
image=$1 out=$2

number() { # OFFSET BYTES: a little-endian number of the header
    od -An -t "u$2" -j "$1" -N "$2" "$image" | tr -d ' '
}
[ "$(od -An -c -j 514 -N 4 "$image" | tr -d ' ')" = HdrS ] || fail "$image is not a bzImage"
sectors=$(number 497 1)
[ "$sectors" != 0 ] || sectors=4
start=$(((sectors + 1) * 512 + $(number 584 4)))
length=$(($(number 588 4) - 4)) # the last four bytes are the unpacked length

payload() { tail -c "+$((start + 1))" "$image" | head -c "$length"; }
magic=$(payload | od -An -t x1 -N 4 | tr -d ' ')
case $magic in
fd377a58) payload | xz -dc >"$out.part" ;;
28b52ffd) payload | zstd -dcq >"$out.part" ;;
1f8b*) payload | gzip -dc >"$out.part" ;;
*) fail "$image: compressed in a way that is not known (it begins with $magic)" ;;
esac
[ "$(od -An -c -j 1 -N 3 "$out.part" | tr -d ' ')" = ELF ] || fail "$image: no ELF kernel inside"
mv "$out.part" "$out"

#!/bin/sh
# guest.sh: builds the programs inside the engine's machines, into the cache: the static binary
# analects-guest, and the tc plugins of our disciplines. cargo and cc know what has changed.
set -eu
. scripts/kernel/common.sh

# Code for any x86-64, whatever this host has, with the C library inside. ANALECTS_PROFILE as in scripts/built.sh.
say "building the guest"
profile=${ANALECTS_PROFILE:-release}
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
${CARGO:-cargo} rustc --profile "$profile" --locked --quiet -p guest --bin analects-guest -- \
    -C target-feature=+crt-static || fail "the guest does not build"
built=${CARGO_TARGET_DIR:-target}/$folder/analects-guest
cmp -s "$built" "$cache/analects-guest" || {
    cp "$built" "$cache/analects-guest.part"
    mv "$cache/analects-guest.part" "$cache/analects-guest"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernel=$(basename "$(dirname "$(ls "$cache"/*/release | head -n 1)")")
tc_plugins "$kernel" "$work" || fail "the tc plugins do not build"
for plugin in "$work"/tc/q_*.so; do
    cp "$plugin" "$cache/plugin.part"
    mv "$cache/plugin.part" "$cache/${plugin##*/}"
done

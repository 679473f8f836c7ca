#!/bin/sh
# The witness for `gcc`: libwebrtc's own goog_cc, out of Debian's source package of Chromium, built
# outside of the tree in ${ANALECTS_CACHE:-~/.cache/analects}/witness (some 1.1 GB, kept).
# Then both run in the same calls; the input and output of the witness go into
# crates/core/cca/tests/it/witness, and the test there replays ours over it.
#
# usage: scripts/witness-gcc.sh          ANALECTS_DATA names a folder with office-wifi/0.txt, if set
set -eu
cd "$(dirname "$0")/.."

suite=trixie
cache=${ANALECTS_CACHE:-$HOME/.cache/analects}/witness
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
records=crates/core/cca/tests/it/witness

sh scripts/apt.sh g++ make xz-utils ca-certificates debian-archive-keyring

# Its own lists of sources: this machine's are not changed.
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$cache/apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$cache/apt/lists" -o Dir::Cache="$cache/apt" \
        -o APT::Sandbox::User=root "$@"
}

fetch() {
    mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial" "$cache/source"
    echo "deb-src [signed-by=$keyring] http://deb.debian.org/debian $suite main" \
        >"$cache/apt/sources.list"
    apt update
    # The one file that is needed, by the index, which is signed: 'URI' NAME SIZE SHA256:SUM.
    line=$(apt source --print-uris chromium | grep "\.orig\.tar\.xz' ")
    sum=${line##* }
    uri=${line%%\' *}
    archive=$cache/apt/$(echo "$line" | cut -d ' ' -f 2)
    [ -f "$archive" ] || /usr/lib/apt/apt-helper download-file "${uri#\'}" "$archive" "$sum"
    echo "witness: unpacking what it needs of $(basename "$archive")"
    tar -C "$cache/source" --strip-components=2 --wildcards -xJf "$archive" \
        '*/third_party/webrtc/*' '*/third_party/abseil-cpp/*'
    basename "$archive" .orig.tar.xz >"$cache/source/version"
}

[ -f "$cache/source/version" ] || fetch
make -s -C witness -j"$(nproc)" SOURCE="$cache/source" OUT="$cache/out" "$cache/out/goog_cc"
echo "witness: goog_cc of $(cat "$cache/source/version")"

mkdir -p "$records"
wifi=${ANALECTS_DATA:+$ANALECTS_DATA/traces/office-wifi/0.txt}
# The path is one word or none.
# shellcheck disable=SC2086
cargo run --release --locked -q -p sim --example witness -- "$cache/out/goog_cc" "$records" $wifi
cargo test --release --locked -q -p cca --test it witness -- --nocapture

# libwebrtc's sources, out of Debian's source package of Chromium, outside of the tree in
# ${ANALECTS_CACHE:-~/.cache/analects}/witness (some 1.1 GB, kept). Scripts that build a witness read
# this file; afterwards `$cache/source` has `webrtc`, `abseil-cpp` and `version`.

suite=trixie
cache=${ANALECTS_CACHE:-$HOME/.cache/analects}/witness
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

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

# Builds the witness NAME as $cache/out/NAME: witness NAME
witness() {
    make -s -C witness -j"$(nproc)" SOURCE="$cache/source" OUT="$cache/out" "$cache/out/$1"
    echo "witness: $1 of $(cat "$cache/source/version")"
}

[ -f "$cache/source/version" ] || fetch

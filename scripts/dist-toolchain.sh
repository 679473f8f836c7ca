#!/bin/sh
# Fetches Debian 13's newest Rust compiler with its standard library for x86_64, aarch64 and armv7, and prints the
# path of a rustc that runs where it is unpacked: with its own C library, beside whatever is installed.
set -eu
cd "$(dirname "$0")/.."
cache=${ANALECTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/analects}/dist
rustc=$cache/rustc
if [ -e "$cache/done" ]; then
    echo "$rustc"
    exit 0
fi
[ "$(dpkg --print-architecture)" = amd64 ] || {
    echo "dist: found a $(dpkg --print-architecture) host, expected amd64" >&2
    exit 1
}

echo "dist: fetching Debian 13's rustc-web and its standard library for three processors: 200 MB, and 800 unpacked," >&2
echo "dist: in $cache" >&2
rm -rf "$cache"
mkdir -p "$cache/debs" "$cache/root"
suite=trixie architectures='arm64 armhf'
. scripts/cross-apt.sh
cd "$cache/debs"
# What the library for this processor needs is what the compiler needs, but for a linker.
needs=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances libstd-rust-web-dev | grep -o '^[a-z][^:]*$')
# shellcheck disable=SC2086 # words
apt-get download -qq rustc-web $needs libstd-rust-web-dev:arm64 libstd-rust-web-dev:armhf >&2
for deb in *.deb; do
    dpkg -x "$deb" "$cache/root"
done
cd "$cache"
rm -rf debs
cat >"$rustc" <<'SH'
#!/bin/sh
root=$(dirname "$0")/root
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" \
    "$root/usr/bin/rustc" --sysroot "$root/usr" "$@"
SH
chmod 755 "$rustc"
"$rustc" --version >&2
: >"$cache/done"
echo "$rustc"

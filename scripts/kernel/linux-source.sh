#!/bin/sh
# Debian's kernel source, 7.2 or else the newest 7.x, into $cache/uml/src, once: verified by apt
# against the archive's keys, with one patch of ours.
set -eu
. scripts/kernel/common.sh
uml=$cache/uml
[ ! -f "$uml/package" ] || exit 0
mkdir -p "$uml"
uml=$(cd "$uml" && pwd)

# A separate apt, independent of the host's: sources, lists and state under $uml/apt.
private_apt() { # SUITE
    rm -rf "$uml/apt"
    mkdir -p "$uml/apt/etc/apt.conf.d" "$uml/apt/etc/preferences.d" \
        "$uml/apt/state/lists/partial" "$uml/apt/cache/archives/partial"
    : >"$uml/apt/status"
    echo "deb [signed-by=$keyring] $mirror/debian $1 main" >"$uml/apt/etc/sources.list"
    cat >"$uml/apt/conf" <<CONF
Dir::Etc "$uml/apt/etc";
Dir::State "$uml/apt/state";
Dir::State::status "$uml/apt/status";
Dir::Cache "$uml/apt/cache";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
CONF
    export APT_CONFIG="$uml/apt/conf"
    apt-get -qq update
}

# 7.2, on which all this was tested; the newest 7.x if that is gone.
source_package() {
    apt-cache pkgnames linux-source-7 | sort -V | awk '
        /^linux-source-7\.[0-9]+$/ { last = $0; if ($0 == "linux-source-7.2") found = $0 }
        END { print found ? found : last }'
}

for suite in trixie-backports forky sid; do
    say "looking for Debian's kernel sources in $suite"
    private_apt "$suite" || continue
    package=$(source_package)
    [ -z "$package" ] || break
done
[ -n "${package:-}" ] || fail "no linux-source-7.x in trixie-backports, forky or sid at $mirror"
say "fetching $package (160 MB) from $suite"
rm -rf "$uml/src" "$uml/build" "$uml/debs"
mkdir -p "$uml/debs" "$uml/src"
(cd "$uml/debs" && apt-get -qq download "$package") || fail "$package cannot be fetched"
say "unpacking it"
dpkg-deb --fsys-tarfile "$uml/debs/$package"_*.deb | tar -xO --wildcards '*.tar.xz' |
    tar -xJ -C "$uml/src" --strip-components=1
patch -s -p1 -d "$uml/src" <kernel/test/uml-stacktrace.patch
(cd "$uml/debs" && ls) >"$uml/package.new"
rm -rf "$uml/debs" "$uml/apt"
mv "$uml/package.new" "$uml/package"

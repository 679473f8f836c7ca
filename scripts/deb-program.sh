#!/bin/sh
# Builds the Debian package of the programs into target/deb: analects and analects-router, manual pages and
# completions, and the units that keep a queue discipline on a device.
#   sh scripts/deb-program.sh [--check] [arm64]
# --check runs lintian on it too. With arm64, the package of the static programs of scripts/dist.sh for aarch64, into
# target/deb-arm64. Needs no root, except to install build dependencies.
set -eu
cd "$(dirname "$0")/.."
check=
if [ "${1:-}" = --check ]; then
    check=$1
    shift
fi
sh scripts/apt.sh dpkg-dev fakeroot
[ -z "$check" ] || sh scripts/apt.sh lintian
case ${1:-} in
'')
    architecture=$(dpkg --print-architecture)
    deb=$PWD/target/deb programs=$PWD/target/release
    profile=release
    ${CARGO:-cargo} build --locked --release -p router
    ;;
arm64)
    architecture=arm64
    deb=$PWD/target/deb-arm64 programs=$PWD/target/programs/aarch64
    profile=dev
    sh scripts/dist.sh aarch64
    ;;
*)
    echo "deb-program: found architecture \"$1\", expected arm64" >&2
    exit 2
    ;;
esac
# The pages of this host's program: another's say the same.
make -s man ANALECTS_PROFILE=$profile

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
root=$deb/analects
share=$root/usr/share
rm -rf "$root"
mkdir -p "$root/DEBIAN" "$root/usr/bin" "$share/man/man1" "$share/doc/analects/examples" \
    "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
# Both are stripped by their profiles.
install -m 755 "$programs/analects" "$programs/analects-router" "$root/usr/bin/"
for page in target/man/*.1; do
    gzip -9n <"$page" >"$share/man/man1/$(basename "$page").gz"
done
cp target/completions/analects.bash "$share/bash-completion/completions/analects"
cp target/completions/analects.zsh "$share/zsh/vendor-completions/_analects"
cp target/completions/analects.fish "$share/fish/vendor_completions.d/analects.fish"
cp -R scenarios/*.toml scenarios/inputs "$share/doc/analects/examples/"
mkdir -p "$root/usr/lib/systemd/system"
install -m 644 packaging/systemd/analects-tc@.service packaging/systemd/analects-pace.service \
    packaging/systemd/analects-gateway.service packaging/systemd/analects-probe.service \
    packaging/systemd/analects-autorate@.service "$root/usr/lib/systemd/system/"
cp packaging/systemd/options.example "$share/doc/analects/examples/analects-tc-options"
cp packaging/ifupdown/analects-tc "$share/doc/analects/examples/analects-tc-ifupdown"
cat >"$share/doc/analects/copyright" <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: analects
Source: https://github.com/analects/analects

Files: *
Copyright: 2026 The Analects developers
License: Expat or Apache-2.0

License: Expat
END
sed '1,/^$/d; s/^$/./; s/^/ /' LICENSE-MIT >>"$share/doc/analects/copyright"
cat >>"$share/doc/analects/copyright" <<'END'

License: Apache-2.0
 On Debian systems the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
END
printf 'analects (%s) unstable; urgency=medium\n\n  * See the project.\n\n -- The Analects developers <analects@users.noreply.github.com>  %s\n' \
    "$version" "$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -n 1)" |
    gzip -9n >"$share/doc/analects/changelog.gz"

# The libraries that they need: dpkg-shlibdeps has to run in a source package's folder. Static ones need none.
needs=
if [ "$architecture" = arm64 ]; then
    mkdir -p "$share/lintian/overrides"
    printf 'analects: statically-linked-binary [usr/bin/%s]\n' analects analects-router \
        >"$share/lintian/overrides/analects"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/debian"
    echo 'Source: analects' >"$work/debian/control"
    needs=$(cd "$work" && dpkg-shlibdeps -O "$root"/usr/bin/* 2>/dev/null | sed -n 's/^shlibs:Depends=/Depends: /p')
    [ -n "$needs" ] || { echo "deb-program: dpkg-shlibdeps found no library that the programs need" >&2; exit 1; }
fi
cat >"$root/DEBIAN/control" <<END
Package: analects
Version: $version
Architecture: $architecture
Maintainer: The Analects developers <analects@users.noreply.github.com>
Section: net
Priority: optional
${needs:+$needs
}Recommends: iproute2-analects
Homepage: https://github.com/analects/analects
Description: compares queue disciplines under calls, pages and downloads
 Analects runs video calls, web pages and transfers over a link in virtual
 time, under Confucius and the queue disciplines that Linux has, and says who
 stalls, who waits, and why. With tc it puts a discipline on a device behind a
 shaper, and takes it back. The program analects-router has what routers need
 of it, and no simulator.
END
find "$root" -type d -exec chmod 755 {} +
find "$share" -type f -exec chmod 644 {} +
package=$deb/analects_${version}_$architecture.deb
fakeroot dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
rm -rf "$root"
ls "$package"
[ -z "$check" ] || lintian --fail-on error --allow-root "$package"
[ -n "$check" ] && [ "$architecture" = arm64 ] || exit 0

# Installed into an empty root by dpkg, and started under QEMU.
sh scripts/apt.sh qemu-user-static
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
mkdir -p "$empty/var/lib/dpkg/info" "$empty/var/lib/dpkg/updates"
: >"$empty/var/lib/dpkg/status"
echo arm64 >"$empty/var/lib/dpkg/arch"
fakeroot dpkg --root="$empty" --log=/dev/null --force-architecture --force-not-root --force-script-chrootless \
    --install "$package"
for program in analects analects-router; do
    qemu-aarch64-static "$empty/usr/bin/$program" --version
done

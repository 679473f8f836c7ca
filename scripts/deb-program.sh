#!/bin/sh
# Builds the Debian package of the program into target/deb: analects, its manual pages and
# completions, and the unit that keeps a queue discipline on a device.
#   sh scripts/deb-program.sh [--check]
# --check runs lintian on it too. Needs no root, except to install build dependencies.
set -eu
cd "$(dirname "$0")/.."
sh scripts/apt.sh dpkg-dev fakeroot
[ "${1:-}" != --check ] || sh scripts/apt.sh lintian
make -s man ANALECTS_PROFILE=release

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
architecture=$(dpkg --print-architecture)
root=$PWD/target/deb/analects
share=$root/usr/share
rm -rf "$root"
mkdir -p "$root/DEBIAN" "$root/usr/bin" "$share/man/man1" "$share/doc/analects/examples" \
    "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
install -s -m 755 target/release/analects "$root/usr/bin/analects"
for page in target/man/*.1; do
    gzip -9n <"$page" >"$share/man/man1/$(basename "$page").gz"
done
cp target/completions/analects.bash "$share/bash-completion/completions/analects"
cp target/completions/analects.zsh "$share/zsh/vendor-completions/_analects"
cp target/completions/analects.fish "$share/fish/vendor_completions.d/analects.fish"
cp -R scenarios/*.toml scenarios/inputs "$share/doc/analects/examples/"
mkdir -p "$root/usr/lib/systemd/system"
install -m 644 packaging/systemd/analects-tc@.service packaging/systemd/analects-pace.service \
    packaging/systemd/analects-gateway.service "$root/usr/lib/systemd/system/"
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

# The libraries it needs: dpkg-shlibdeps has to run in a source package's folder.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debian"
echo 'Source: analects' >"$work/debian/control"
needs=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/analects" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$root/DEBIAN/control" <<END
Package: analects
Version: $version
Architecture: $architecture
Maintainer: The Analects developers <analects@users.noreply.github.com>
Section: net
Priority: optional
Depends: $needs
Recommends: iproute2-analects
Homepage: https://github.com/analects/analects
Description: compares queue disciplines under calls, pages and downloads
 Analects runs video calls, web pages and transfers over a link in virtual
 time, under Confucius and the queue disciplines that Linux has, and says who
 stalls, who waits, and why. With tc it puts a discipline on a device behind a
 shaper, and takes it back.
END
find "$root" -type d -exec chmod 755 {} +
find "$share" -type f -exec chmod 644 {} +
fakeroot dpkg-deb --root-owner-group --build "$root" "target/deb/analects_${version}_$architecture.deb" >/dev/null
rm -rf "$root"
ls "target/deb/analects_${version}_$architecture.deb"
[ "${1:-}" != --check ] || lintian --fail-on error --allow-root "target/deb/analects_${version}_$architecture.deb"

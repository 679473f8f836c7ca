#!/bin/sh
# Installs those of the Debian packages named that are missing; asks for root only then.
set -eu
missing=
for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "apt: there is no apt-get here; install what these packages of Debian's have, as your system names it:$missing" >&2
    exit 1
fi
echo "apt: installing$missing"
if [ "$(id -u)" = 0 ]; then root=; else root=sudo; fi
# One after the other: apt refuses to run in parallel with another apt.
exec 8>"${TMPDIR:-/tmp}/analects-apt.lock"
flock 8
$root apt-get update -qq
# The names are split into words.
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing

# shellcheck shell=sh
# Shared by the scripts here; sourced with the project's root as the current directory.

cache=${ANALECTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/analects}/kernel
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=${ANALECTS_DEBIAN_MIRROR:-http://deb.debian.org}

say() { echo "kernel-engine: $*"; }
fail() {
    echo "kernel-engine: error: $*" >&2
    exit 1
}

# Runs a command as root.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# The Debian release whose compiler built a kernel.
suite_of() {
    case $1 in
    6.1 | 6.12) echo bookworm ;;
    7.x) echo trixie ;;
    esac
}

# The archives of a kernel and its suite's programs.
sources_of() {
    line() { echo "deb [signed-by=$keyring] $mirror/$1 $2 main"; }
    case $1 in
    bookworm)
        line debian bookworm
        line debian-security bookworm-security
        ;;
    trixie)
        line debian trixie
        line debian-security trixie-security
        ;;
    6.1) sources_of bookworm ;;
    6.12) line debian bookworm-backports ;;
    7.x) line debian trixie-backports ;;
    esac
}

# A checksum of files' names and contents.
checksum() { sha256sum "$@" | sha256sum | cut -c1-64; }

# Whether the stamp $1 holds the text $2.
stamped() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

# in_chroot SUITE BUILD KERNEL COMMAND...: runs a command in the suite's chroot, with the directory
# BUILD at /build and the kernel's headers at /headers. A mount namespace of its own: nothing to
# undo, and it works as a plain user.
in_chroot() {
    root=$cache/chroot-$1 build=$2 headers=$cache/$3/headers
    shift 3
    if [ "$(id -u)" = 0 ]; then map=; else map=--map-root-user; fi
    # shellcheck disable=SC2016,SC2086
    unshare $map --mount sh -euc '
        root=$1 build=$2 headers=$3
        shift 3
        mount --bind "$build" "$root/build"
        mount --bind "$headers" "$root/headers"
        for d in dev proc; do mount --rbind "/$d" "$root/$d"; done
        exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/ "$@"
    ' sh "$root" "$build" "$headers" "$@"
}

# tc_plugins KERNEL OUT: the tc plugins of our disciplines, OUT/tc/q_*.so, with the C library of the
# machines' tc, which may be older than this host's. KERNEL is any in the cache.
tc_plugins() {
    sh kernel/copy.sh "$2"
    mkdir -p "$2/tc"
    cp kernel/tc/Makefile kernel/tc/*.[ch] "$2/tc/"
    in_chroot bookworm "$2" "$1" make -s -C /build/tc
}

#!/bin/sh
# Builds static programs for other Linux systems into target/programs/PROCESSOR: `analects`, and `analects-router`,
# which has the commands for routers only.
#   sh scripts/dist.sh [PROCESSOR...], of x86_64, aarch64 and armv7; all of them without an argument
# Their C library is glibc, linked into them: Debian has Rust's standard library for it, and not for musl.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
[ $# != 0 ] || set -- x86_64 aarch64 armv7

# triple_of PROCESSOR
triple_of() {
    case $1 in
    x86_64) echo x86_64-unknown-linux-gnu ;;
    aarch64) echo aarch64-unknown-linux-gnu ;;
    armv7) echo armv7-unknown-linux-gnueabihf ;;
    *)
        echo "dist: found processor \"$1\", expected x86_64, aarch64 or armv7" >&2
        exit 2
        ;;
    esac
}

# toolchain_of PROCESSOR: a C compiler, which links too, and the packages it is in.
toolchain_of() {
    case $1 in
    x86_64) echo cc gcc libc6-dev ;;
    aarch64) echo aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross ;;
    armv7) echo arm-linux-gnueabihf-gcc gcc-arm-linux-gnueabihf libc6-dev-armhf-cross ;;
    esac
}

# most BYTES FILE: fails if the file is larger.
most() {
    size=$(stat -c %s "$2")
    if [ "$size" -gt "$1" ]; then
        echo "dist: $2: found $size bytes, expected at most $1" >&2
        exit 1
    fi
}

RUSTC=$(sh scripts/dist-toolchain.sh)
# A cache of one compiler's answers would hide the other's.
unset RUSTFLAGS RUSTC_WRAPPER
export RUSTC
for processor in "$@"; do
    triple=$(triple_of "$processor")
    # shellcheck disable=SC2046 # words
    set -- $(toolchain_of "$processor")
    linker=$1
    shift
    sh scripts/apt.sh "$@"
    variable=CARGO_TARGET_$(echo "$triple" | tr a-z- A-Z_)
    flags='-C target-feature=+crt-static'
    # Addresses to be relocated take 0.2 MB less; binutils 2.40 can pack them for this processor only.
    [ "$processor" != x86_64 ] || flags="$flags -C link-arg=-Wl,-z,pack-relative-relocs"
    export "${variable}_LINKER=$linker" "${variable}_RUSTFLAGS=$flags"
    echo "dist: $processor: building, for some minutes"
    # Apart: together, each would have what only the other needs of the crates that they share.
    ${CARGO:-cargo} build --locked --profile dist --target "$triple" -p router
    ${CARGO:-cargo} build --locked --profile dist --target "$triple" -p analects
    out=$target/programs/$processor
    mkdir -p "$out"
    for program in analects analects-router; do
        cp "$target/$triple/dist/$program" "$out/$program"
    done
    most 14680064 "$out/analects"
    most 5242880 "$out/analects-router"
    (cd "$out" && sha256sum analects analects-router >SHA256SUMS)
    echo "dist: $out: $(stat -c '%n %s bytes' "$out/analects" "$out/analects-router" | sed 's,.*/,,' | paste -s -d , )"
done

#!/bin/sh
# Installs the build dependency other than a Rust toolchain: a C linker. Asks for root only then.
set -eu
if ! command -v cargo >/dev/null; then
    echo "setup: cargo is missing; install a Rust toolchain (https://rustup.rs)" >&2
    exit 1
fi
command -v cc >/dev/null && exit 0
if [ "$(uname)" = Darwin ]; then
    echo "setup: a C linker is missing; xcode-select --install brings it" >&2
    exit 1
fi
sh scripts/apt.sh gcc libc6-dev

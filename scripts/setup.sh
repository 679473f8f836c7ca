#!/bin/sh
# Installs what building needs beside a Rust toolchain: a C linker. Asks for root only then.
set -eu
if ! command -v cargo >/dev/null; then
    echo "setup: cargo is missing; install a Rust toolchain (https://rustup.rs)" >&2
    exit 1
fi
command -v cc >/dev/null && exit 0
echo "setup: installing a C linker (package gcc)"
if [ "$(id -u)" = 0 ]; then root=""; else root="sudo"; fi
$root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq gcc libc6-dev

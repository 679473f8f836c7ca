#!/bin/sh
# Builds the playground, a page with the simulator inside, into target/playground.
set -eu
target=wasm32-wasip1

sysroot=$(rustc --print sysroot)
if [ ! -d "$sysroot/lib/rustlib/$target" ]; then
    command -v rustup >/dev/null || {
        echo "playground: this Rust toolchain has no standard library for $target. Install Rust from" >&2
        echo "https://rustup.rs and run make again, or install $target as your distribution has it." >&2
        exit 1
    }
    echo "playground: installing Rust's standard library for $target (rustup target add $target): some 20 MB to"
    echo "fetch, 100 MB on the disk, in $sysroot/lib/rustlib/$target"
    rustup target add "$target"
fi
command -v python3 >/dev/null || sh scripts/apt.sh python3
${CARGO:-cargo} build --locked --profile page --target "$target" -p playground
python3 playground/build.py "${CARGO_TARGET_DIR:-target}/$target/page/playground.wasm" target/playground

#!/bin/sh
# The playground's size and speed: against native on this machine, and in a headless Chromium.
set -eu
cd "$(dirname "$0")/.."
command -v node >/dev/null || sh scripts/apt.sh nodejs
command -v chromium >/dev/null || sh scripts/apt.sh chromium
sh scripts/playground.sh
${CARGO:-cargo} build --locked --profile page -p playground
node playground/tests/speed.mjs "${CARGO_TARGET_DIR:-target}/page/playground"

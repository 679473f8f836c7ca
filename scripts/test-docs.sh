#!/bin/sh
# The commands of the documents that take minutes, and their output.
set -eu
cd "$(dirname "$0")/.."
exec "${CARGO:-cargo}" test --locked -p analects --test it -- --ignored docs::long --nocapture

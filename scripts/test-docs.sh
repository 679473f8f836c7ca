#!/bin/sh
# The commands of the documents that take long, with their output and the pictures that they draw.
set -eu
cd "$(dirname "$0")/.."
exec "${CARGO:-cargo}" test --locked -p analects --test it -- --ignored docs::long pictures::long --nocapture

#!/bin/sh
# Tests that take half a minute each: a line of this host that is measured, and what an attack on a household is known to do.
set -eu
cd "$(dirname "$0")/.."
slow() { "${CARGO:-cargo}" test --locked -p "$1" --test it -- --ignored "$2"; }
slow analects your_line::
slow sim isolation::search::

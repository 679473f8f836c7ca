#!/bin/sh
# The named causes of calls' stalls, over scenarios of one cause: a table, in a minute.
set -eu
cd "$(dirname "$0")/.."
exec "${CARGO:-cargo}" test --locked -p analects --test it -- --ignored causes:: --nocapture

#!/bin/sh
# Licences, bans and sources of all dependencies; advisories where their database can be reached.
set -eu
if ! command -v cargo-deny >/dev/null && [ ! -x target/tools/bin/cargo-deny ]; then
    echo "deny: building cargo-deny, once"
    cargo install cargo-deny --locked --quiet --root target/tools
fi
PATH="$PATH:$PWD/target/tools/bin"
cargo deny --all-features --log-level error check licenses bans sources
if timeout 60 cargo deny check advisories >target/advisories.log 2>&1; then
    echo "deny: advisories ok"
elif grep -qi 'failed to fetch\|unable to fetch\|failed to clone\|network\|connect\|resolve' target/advisories.log; then
    echo "deny: SKIPPED advisories: their database cannot be reached from here"
else
    cat target/advisories.log >&2
    exit 1
fi

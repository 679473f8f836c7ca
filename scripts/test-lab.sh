#!/bin/sh
# A program of somebody's own, as `analects new` begins it: made outside of this tree, built, tested, and used.
#   sh scripts/test-lab.sh
# It builds the library once more, by the other package's profile: some minutes.
set -eu
cd "$(dirname "$0")/.."
analects=$(realpath "$(sh scripts/built.sh analects)")
target=$(realpath "${CARGO_TARGET_DIR:-target}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "test-lab: error: $*" >&2
    exit 1
}

cd "$folder"
"$analects" new your-lab
if "$analects" new your-lab 2> refused; then fail "a folder was overwritten"; fi
grep -q 'your-lab exists' refused || fail "$(cat refused)"
cd your-lab
if grep -r 'my-lab\|LIBRARY' --exclude Cargo.lock .; then fail "a word of the template is left"; fi

export CARGO_TARGET_DIR="$target/lab"
echo "test-lab: building and testing it"
cargo test --quiet
echo "test-lab: its commands"
lab=$CARGO_TARGET_DIR/debug/your-lab
cargo build --quiet
"$lab" --version | grep '^your-lab 0\.1\.0, with analects '
"$lab" describe newest | grep '^newest (discipline): last in, first out'
"$lab" run scenario.toml --columns stall,spoilt,bulk_rate --repeat 5 --store kept --out results
grep -h '^# analects .* in your-lab 0\.1\.0, engine sim' results/scenario.toml
runs=$(grep -c "stall_s" results/results.csv)
[ "$runs" -ge 15 ] || fail "results/results.csv has $runs lines of stall_s, expected one for each run at least"
"$lab" sweep scenario.toml -d newest --over disciplines.newest.limit=10,100 --metric spoilt --repeat 5

# Another program has other entries by these names, so that it takes over no result.
results() { find kept/results -type f | wc -l; }
before=$(results)
"$lab" run scenario.toml --repeat 5 --store kept > again
[ "$(results)" = "$before" ] || fail "the same program did not take over its results"
sed -i 's/packets.pop_back()/packets.pop_front()/' src/discipline.rs
cargo build --quiet
"$lab" run scenario.toml --repeat 5 --store kept > other
[ "$(results)" -gt "$before" ] || fail "a changed program took over the results of the old one"
if cmp -s again other; then fail "first in, first out gives the figures of last in, first out"; fi
echo "test-lab: ok"

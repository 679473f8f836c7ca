#!/bin/sh
# Five scenarios in all three engines, side by side: simulator, Linux in virtual time, and this host's sockets in
# real time, which needs root and some 25 minutes of a host with little else to do. Prints a page of Markdown.
#   reproduction-engines.sh [ANALECTS]
set -eu
cd "$(dirname "$0")/.."
analects=${1:-$(sh scripts/built.sh analects)}
out=target/reproduction-engines
mkdir -p "$out"
for name in cubic slow page call-bulk burst; do
    sed 's/^cases = .*/cases = ["pfifo", "fq_codel", "cake", "mencius"]/' "experiments/engines/$name.toml" >"$out/$name.toml"
done
for engine in kernel live; do
    jobs=
    # Two at once would be late.
    [ $engine = kernel ] || jobs='--jobs 1'
    # shellcheck disable=SC2086 # two words or none
    "$analects" agree "$out"/*.toml --engine $engine $jobs --quick --out "$out" --format json >"$out/$engine.json"
done
python3 scripts/reproduction-engines.py "$out/kernel.json" "$out/live.json"

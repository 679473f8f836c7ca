#!/bin/sh
# test-engine.sh KERNEL: `analects run --engine kernel` with KERNEL: pages against a call and a
# transfer, under each discipline; every result is there, and the same seed gives the same bytes. A
# flow with a round trip of its own has it at both ends.
set -eu
. scripts/kernel/common.sh
kernel=$1
analects=$(sh scripts/built.sh analects)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/scenario.toml" <<'EOF'
name = "engine"
duration = "5s"
warmup = "1s"
ecn = true
disciplines = ["fq_codel", "cake", "confucius", "mencius", "floq"]
[link]
steps = "0s 20mbit; 3s 10mbit"
rtt = "40ms"
up = { rate = "5mbit", discipline = "pfifo" }
[[traffic]]
name = "call"
kind = "call"
control = "copa"
[[traffic]]
name = "bulk"
kind = "bulk"
control = "bbr"
rtt = "20ms"
[[traffic]]
name = "page"
kind = "page"
source = "generated:2"
start = "2s"
EOF
run() { "$analects" run "$work/scenario.toml" --engine kernel --kernel "$kernel" --seed 7 --format json "$@"; }
run >"$work/all.json"
run -d confucius -d mencius -d floq >"$work/again.json"
python3 - "$work/all.json" "$work/again.json" <<'EOF'
import json, sys
all, again = (json.load(open(path))["results"] for path in sys.argv[1:])
for result in all:
    name = result["discipline"]
    call, bulk, link = result["calls"][0], result["flows"][0], result["links"][0]
    # Its encoder skips frames while its queue is long.
    assert call["frames"] > 60 and call["goodput_mbps"] > 0.1, (name, call)
    assert bulk["goodput_mbps"] > 1, (name, bulk)
    assert len(result["pages"]) == 1 and result["pages"][0]["requests"] > 0, (name, result["pages"])
    assert 0.6 < link["utilization"] < 1.01 and link["sojourn_ms"]["mean"] > 0, (name, link)
ours = ("confucius", "mencius", "floq")
first, second = ([json.dumps(r) for r in results if r["discipline"] in ours] for results in (all, again))
assert len(first) == 3 and first == second, "the same seed gave another result"
print(f"{len(all)} disciplines; the same seed, the same bytes")
EOF

# A handshake and two flights, up to the last one's arrival: two and a half round trips.
cat >"$work/far.toml" <<'EOF'
name = "far"
duration = "3s"
warmup = "0s"
disciplines = ["pfifo"]
[link]
rate = "20mbit"
rtt = "40ms"
buffer = "100p"
[[traffic]]
name = "near"
kind = "bulk"
control = "reno"
size = "30kB"
start = "2s"
[[traffic]]
name = "far"
kind = "bulk"
control = "reno"
size = "30kB"
rtt = "200ms"
EOF
for engine in sim "kernel --kernel $kernel"; do
    # shellcheck disable=SC2086 # two words
    "$analects" run "$work/far.toml" --engine $engine --format json >"$work/far-${engine%% *}.json"
done
python3 - "$work/far-sim.json" "$work/far-kernel.json" <<'EOF'
import json, sys
sim, kernel = (json.load(open(path))["results"][0]["flows"] for path in sys.argv[1:])
for ours, linux, rtt in zip(sim, kernel, (40, 200)):
    times = (ours["name"], ours["fct_ms"], linux["fct_ms"])
    assert 2 * rtt < linux["fct_ms"] and abs(linux["fct_ms"] - ours["fct_ms"]) < rtt / 10, times
print("round trips of their own")
EOF

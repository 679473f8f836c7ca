#!/bin/sh
# How fast ns-3 is on the two speed scenarios: one line of JSON each, the fastest of RUNS (3)
# runs by user CPU time. Needs jq. Exit code 3: there is no ns-3 here.
set -eu
cd "$(dirname "$0")/../.."
bench/ns3/build.sh

# measure NAME OPTIONS...
measure() {
    name=$1
    shift
    for _ in $(seq "${RUNS:-3}"); do
        target/ns3/dumbbell "$@"
    done | jq -s -c --arg scenario "$name" 'min_by(.user_cpu_s)
        | {scenario: $scenario, simulator, forwarded, user_cpu_s,
           packets_per_cpu_s: (.forwarded / .user_cpu_s | round),
           simulated_s_per_cpu_s: (.duration_s / .user_cpu_s * 10 | round / 10),
           peak_memory_mb}'
}

measure standard --rate=20Mbps --discipline=fq_codel --control=TcpCubic --flows=4 --duration=60
measure large --rate=375Mbps --discipline=fq_codel --control=TcpCubic --flows=100 \
    --duration=10 --warmup=5

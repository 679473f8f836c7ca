#!/bin/sh
# Random attacks under which mencius might serve somebody worse than cake does: 300 with constant senders, and 30 on a
# household of GCC and Cubic; ANALECTS_ATTACKS=20000 and ANALECTS_HOUSEHOLDS=2000 for more. MINIMISE=1 finds the simplest
# that is as bad. Each hundred leaves a file in target/attacks, and is not tried again while the crate qdisc and the
# search are the same. In no stage of the checks: `make test` has fewer.
set -eu
cd "$(dirname "$0")/.."
[ -z "${MINIMISE:-}" ] || export ANALECTS_MINIMISE=1
searched=$(find crates/core/qdisc crates/engines/sim/tests/it/isolation* -type f | LC_ALL=C sort | xargs cat | cksum)
out=target/attacks/${searched%% *}${MINIMISE:+-minimised}
mkdir -p "$out"

# tried CRATE TEST COUNT: so many, a hundred at a time.
tried() {
    crate=$1 test=$2 count=$3 from=0 bad=0
    while [ "$from" -lt "$count" ]; do
        size=$((count - from < 100 ? count - from : 100))
        log=$out/$crate-$from-$size
        [ -f "$log" ] || try
        grep '^\[\|^    ' "$log" || true
        bad=$((bad + $(grep -c '^\[' "$log" || true)))
        from=$((from + size))
    done
    echo "attacks: $crate: $count tried, $bad do more harm than under cake"
    found=$((found + bad))
}

# Tries those from $from on, and leaves $log.
try() {
    if ANALECTS_ATTACKS=$size ANALECTS_ATTACKS_FROM=$from "${CARGO:-cargo}" test --quiet --locked -p "$crate" \
        --test it "$test" -- --exact --nocapture >"$log.part" 2>&1; then
        :
    elif ! grep -q 'attacks do more harm than under cake' "$log.part"; then
        cat "$log.part" >&2
        exit 1
    fi
    mv "$log.part" "$log"
}

found=0
tried qdisc isolation::search::no_attack_harms_more_than_under_cake "${ANALECTS_ATTACKS:-300}"
tried sim isolation::search::no_attack_harms_a_household_more_than_under_cake "${ANALECTS_HOUSEHOLDS:-30}"
[ $found = 0 ]

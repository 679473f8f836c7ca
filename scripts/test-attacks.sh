#!/bin/sh
# Random attacks under which mencius might serve somebody worse than cake does: 300 with constant senders, and 30 on a
# household of GCC and Cubic; ANALECTS_ATTACKS=20000 and ANALECTS_HOUSEHOLDS=2000 for more. MINIMISE=1 finds the simplest
# that is as bad. Each hundred leaves a file in target/attacks, and is not tried again while the sources are the same. In no
# stage of the checks: `make test` has fewer.
set -eu
cd "$(dirname "$0")/.."
[ -z "${MINIMISE:-}" ] || export ANALECTS_MINIMISE=1
searched=$(git ls-files -z crates Cargo.lock | xargs -0 cat | cksum)
out=target/attacks/${searched%% *}${MINIMISE:+-minimised}
mkdir -p "$out"

# tried CRATE TEST COUNT: so many, a hundred at a time.
tried() {
    crate=$1 test=$2 count=$3 from=0 bad=0
    while [ "$from" -lt "$count" ]; do
        size=$((count - from < 100 ? count - from : 100))
        log=$out/$crate-${test##*::}-$from-$size
        [ -f "$log" ] || try
        grep '^\[\|^    [A-Z]' "$log" || true
        bad=$((bad + $(grep -c '^\[' "$log" || true)))
        from=$((from + size))
    done
    echo "attacks: $crate, ${test##*::}: $count tried, $bad"
    found=$((found + bad))
}

# Tries those from $from on, and leaves $log.
try() {
    if ANALECTS_ATTACKS=$size ANALECTS_ATTACKS_FROM=$from "${CARGO:-cargo}" test --quiet --locked -p "$crate" \
        --test it "$test" -- --exact --nocapture >"$log.part" 2>&1; then
        :
    elif ! grep -q 'attacks do more harm than under cake\|cake is worse than itself' "$log.part"; then
        cat "$log.part" >&2
        exit 1
    fi
    grep -q '^test result: .* [1-9][0-9]* \(passed\|failed\)' "$log.part" || { echo "attacks: $crate has no test $test" >&2; exit 1; }
    mv "$log.part" "$log"
}

found=0
tried qdisc isolation::search::no_attack_harms_more_than_under_cake "${ANALECTS_ATTACKS:-300}"
tried sim isolation::search::no_attack_harms_a_household_more_than_under_cake "${ANALECTS_HOUSEHOLDS:-30}"
# The zero: what is found of cake beside itself is chance.
tried qdisc isolation::search::cake_beside_itself_is_no_find "${ANALECTS_ATTACKS:-300}"
[ $found = 0 ]

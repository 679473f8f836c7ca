#!/bin/sh
# Three hundred random attacks under which mencius might serve somebody worse than cake does, and cake beside itself
# as the zero; every commit has forty. ANALECTS_ATTACKS=1000 for more, MINIMISE=1 finds the simplest attack that is as
# bad. Half an hour or more. In no stage of the checks: it has not ended yet.
set -eu
cd "$(dirname "$0")/.."
export ANALECTS_ATTACKS="${ANALECTS_ATTACKS:-300}"
[ -z "${MINIMISE:-}" ] || export ANALECTS_MINIMISE=1
exec "${CARGO:-cargo}" test --quiet --locked -p qdisc --test it isolation::search -- --nocapture

#!/bin/sh
# Makes pages of docs/reproduction: `make reproduction OF=NAME`. An interrupted run is continued.
#
#   reproduction.sh [--short | --quick] NAME...
# tonopah/accuracy  one experiment, into the page of its paper, whose other parts stay; so with any of the papers,
#                   except confucius/fig16, which needs Linux
# confucius         every claim of the paper, under its own calls and under ordinary ones: about ten hours of a processor
# confucius-beyond  questions that are not in the paper, of the recordings in ANALECTS_DATA if set: some hours of a processor
# floq              FLOQ's evaluation, and its open questions: some two hours of a processor
# tonopah           Tonopah's evaluation: some two hours of a processor
# thesis            age-based scheduling, in quick runs, half an hour of two processors: they are too short to test a sentence.
#                   Runs as long as the thesis' are `analects reproduce thesis/all`: days of a processor
# poster            pacing of web traffic, thirty runs each: some ten minutes of two processors; of the recordings as above
# matrix            mencius beside eight others over 200 combinations of calls, neighbours and links, and under abuse: 54,000
#                   runs and 7,200, 4,760 of recorded links, 18,000 of games and look-ups, 1,980 near a call's share, 8,400
#                   of combinations that the rules were not chosen with, 1,710 behind a modem: three or four hours of two
#                   processors. DRAW=TEXT draws other unseen combinations.
# linux             the pages that need Linux: some three hours of two processors
# engines           five scenarios in all three engines: half an hour of a host with little else to do, as root
# reference         the safe rows of ns-3 beside ours (docs/reference/ns3.md): seconds
# --short: one experiment of thesis, floq, tonopah, or a few combinations of the matrix, in quick runs; no page is written.
# --quick: all experiments of a paper in their quick form, those that need Linux aside; no page is written.
set -eu
cd "$(dirname "$0")/.."
form=
case ${1:-} in --short | --quick) form=$1 && shift ;; esac

fail() {
    echo "reproduction: error: $*" >&2
    exit 2
}

# analects ARGUMENTS...: where no kernel is looked for.
analects() { ANALECTS_CACHE=target/without-kernel "$program" "$@"; }

# page NAME ARGUMENTS...: what `reproduce` finds of them is put into docs/reproduction/NAME.md.
page() {
    out=docs/reproduction/$1.md
    shift
    analects reproduce "$@" --into "$out"
}

# options PAPER: those of all experiments on its page.
options() {
    [ "$1" != confucius ] || echo --calls paper,webrtc --runs docs/reproduction/runs.toml
}

matrix=
for part in household abuse recorded-wifi recorded-4g computers edges sparse unseen behind; do
    matrix="$matrix matrix/$part"
done
matrix="$matrix${DRAW:+ --draw $DRAW}"

# shellcheck disable=SC2086 # the matrix is words
short() {
    case $1 in
    floq) analects reproduce floq/mechanism floq-beyond/fair-queues --quick ;;
    thesis) analects reproduce thesis/fig1 thesis/call --quick ;;
    tonopah) analects reproduce tonopah/performance --quick ;;
    matrix) "$program" reproduce $matrix --quick ;;
    *) fail "found \"$1\", expected floq, thesis, tonopah or matrix" ;;
    esac
}

quick() {
    [ -d "experiments/$1" ] || fail "found \"$1\", expected a folder of experiments/"
    analects reproduce "$1/all" --quick
}

# shellcheck disable=SC2046,SC2086 # the matrix is words, and so are options
whole() {
    case $1 in
    confucius/fig16) fail "confucius/fig16 needs Linux, and its page is one of those of linux" ;;
    autorate/* | confucius/* | confucius-beyond/* | floq/* | floq-beyond/* | poster/* | thesis/* | tonopah/*)
        page "${1%%/*}" "$1" $(options "${1%%/*}")
        ;;
    confucius | confucius-beyond | tonopah | poster) page "$1" "$1/all" $(options "$1") ;;
    floq)
        page floq floq/all
        page floq-beyond floq-beyond/all
        ;;
    thesis)
        analects reproduce thesis/all --quick --format markdown >target/thesis.md
        mv target/thesis.md docs/reproduction/
        ;;
    matrix)
        "$program" reproduce $matrix --format markdown >target/matrix.md
        mv target/matrix.md docs/reproduction/
        ;;
    linux)
        sh scripts/kernel-engine.sh 6.1
        "$program" agree engines/all --quick --format markdown >target/linux.md
        mv target/linux.md docs/reproduction/
        "$program" reproduce confucius/fig16 --quick --format markdown >target/confucius-fig16.md
        mv target/confucius-fig16.md docs/reproduction/
        ;;
    engines)
        sh scripts/kernel-engine.sh 6.1
        sh scripts/reproduction-engines.sh "$program" >target/engines.md
        mv target/engines.md docs/reproduction/
        ;;
    reference) "$(ANALECTS_PROFILE=release sh scripts/built.sh bench)" reference bench/ns3 ;;
    *) fail "found \"$1\", expected a name in the head of this file" ;;
    esac
}

[ "$*" = reference ] || program=$(sh scripts/built.sh analects)
for name in "$@"; do
    case $form in --short) short "$name" ;; --quick) quick "$name" ;; *) whole "$name" ;; esac
done

#!/bin/sh
# All experiments of a paper in their quick form: scripts/reproduction-quick.sh PAPER
# PAPER is a folder of experiments/. Those that need Linux are left out, and are named.
set -eu
cd "$(dirname "$0")/.."
if [ $# != 1 ] || [ ! -d "experiments/$1" ]; then
    echo "reproduction-quick: error: found \"$*\", expected a folder of experiments/" >&2
    exit 2
fi
analects=$(sh scripts/built.sh analects)
ANALECTS_CACHE=target/without-kernel exec "$analects" reproduce "$1/all" --quick

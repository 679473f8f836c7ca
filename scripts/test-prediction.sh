#!/bin/sh
# What a call's stall over real sockets is on known lines, beside what `analects measure` predicted of it: a table; three
# minutes a line, an hour in all. As root.
set -eu
cd "$(dirname "$0")/.."
python3 scripts/predict-lines.py "$(sh scripts/built.sh analects)"

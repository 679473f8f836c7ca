#!/bin/sh
# What `analects probe` finds on links that are known, drawn by the commit's hash, beside a call of Python's: a table, in
# five minutes. As root. CPUs that are busy make verdicts unknown.
set -eu
cd "$(dirname "$0")/.."
python3 scripts/probe-links.py "$(ANALECTS_PROFILE=dev sh scripts/built.sh analects)"

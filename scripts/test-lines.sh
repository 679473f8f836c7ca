#!/bin/sh
# What `analects measure` finds on lines that are known, drawn by the commit's hash: a table, in ten minutes. As root.
set -eu
cd "$(dirname "$0")/.."
python3 scripts/measure-lines.py "$(ANALECTS_PROFILE=dev sh scripts/built.sh analects)"

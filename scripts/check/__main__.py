"""Checks this tree, stage by stage: `python3 scripts/check commit`, or `gate`, or the names of stages.

The stages stand in `.ci/stages.toml`. Named alone, a stage runs as in the gate. A gate that was interrupted goes on
with the stages that have not passed yet, as long as what is committed stays the same.
"""

import argparse
import pathlib
import signal
import sys

import passes
import run
import stages


def main():
    # What runs beside has process groups of its own, and is ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = argparse.ArgumentParser(prog="python3 scripts/check", description=__doc__)
    parser.add_argument("what", nargs="+", help="a tier (commit or gate), or the names of stages")
    parser.add_argument("--all", action="store_true", help="run again what has passed on this very tree")
    parser.add_argument("--keep-going", action="store_true", help="go on with other stages after a failure")
    words = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    try:
        chosen = stages.choose(root / ".ci/stages.toml", words.what)
    except stages.Mistake as mistake:
        sys.exit(f"check: error: {mistake}")
    passed = passes.passed(root) if words.what == ["gate"] and not words.all else set()
    skipped = [stage for stage in chosen if stage.name in passed]
    sys.exit(run.run(root, chosen, skipped, words))


main()

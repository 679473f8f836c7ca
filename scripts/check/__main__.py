"""Checks this tree, stage by stage: `python3 scripts/check commit`, or `gate`, or the names of stages.

The stages, their commands and their inputs stand in `.ci/stages.toml`. A stage that has passed with the
same inputs is skipped, and a line says so; `.ci/passed.json` remembers the passes.
"""

import argparse
import pathlib
import sys

import run
import stages


def arguments():
    parser = argparse.ArgumentParser(prog="python3 scripts/check", description=__doc__)
    parser.add_argument(
        "what", nargs="+", help="a tier (commit or gate), or the names of stages"
    )
    parser.add_argument(
        "--list", action="store_true", help="say what would run and why, and run nothing"
    )
    parser.add_argument(
        "--all", action="store_true", help="run stages that passed with the same inputs, too"
    )
    parser.add_argument(
        "--keep-going", action="store_true", help="go on with other stages after a failure"
    )
    parser.add_argument(
        "--trace",
        action="store_true",
        help="run under strace; a stage fails if it opens a file of the tree that its inputs do not name",
    )
    return parser.parse_args()


def main():
    words = arguments()
    root = pathlib.Path(__file__).resolve().parents[2]
    try:
        table = stages.load(root / ".ci/stages.toml")
        chosen = stages.choose(table, words.what)
    except stages.Mistake as mistake:
        sys.exit(f"check: error: {mistake}")
    sys.exit(run.run(root, chosen, words))


main()

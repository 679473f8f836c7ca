#!/usr/bin/env python3
"""compare.py FOLDER: runs mencius.py over all traces there, and says where it decides differently.

FOLDER has NAME.trace and NAME.expected, as the test `mencius::write_traces_down` of crates/core/qdisc
writes them. Exits with 1 if any decision differs.
"""
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

PROGRAM = Path(__file__).parent / "mencius.py"
PATIENCE = 300  # seconds for a trace


def difference(trace):
    """What differs first, or None."""
    with trace.open() as operations:
        run = subprocess.run([sys.executable, PROGRAM], stdin=operations, capture_output=True, text=True,
                             timeout=PATIENCE)
    if run.returncode != 0:
        return run.stderr.strip().splitlines()[-1]
    expected = trace.with_suffix(".expected").read_text().splitlines()
    pairs = zip_longest(expected, run.stdout.splitlines(), fillvalue="nothing")
    for number, (want, have) in enumerate(pairs, 1):
        if want != have:
            return f"decision {number}: expected {want}, found {have}"
    return None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    traces = sorted(Path(sys.argv[1]).glob("*.trace"))
    if not traces:
        sys.exit(f"{sys.argv[1]}: expected files NAME.trace, found none")
    differ = 0
    with ThreadPoolExecutor(2) as pool:
        for done, (trace, found) in enumerate(zip(traces, pool.map(difference, traces)), 1):
            if found:
                differ += 1
                print(f"{trace.stem}: {found}")
            if done % 100 == 0:
                print(f"{done} of {len(traces)} traces", flush=True)
    print(f"{len(traces) - differ} of {len(traces)} traces agree")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()

"""The first minute: what a cold clone's demo costs, from nothing built to its first table.

    bench-first-minute.py [--record]

In processor seconds, relative to those of compiling a fixed set of dependencies in the same run, so that another machine does not
matter. Fails if that is over 10 % more than bench/first-minute.json has; --record writes the file anew. The downloads of
dependencies are made before anything is measured.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "bench/first-minute.json"
# Parsers, macros and generic code, as the demo has; built by release's settings, which the demo's do not touch.
FIXED = ["clap", "jiff", "rustix", "serde_json"]
# More than the record by this part is a failure.
MOST = 0.10


def spent(command: list[str], folder: pathlib.Path, target: pathlib.Path) -> tuple[float, float]:
    """Seconds of the processor and of the clock that a command takes; it has to succeed."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=sys.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor, time.monotonic() - began


def main(record: bool) -> int:
    """Measures, prints and judges."""
    with tempfile.TemporaryDirectory() as work:
        clone, target = pathlib.Path(work, "clone"), pathlib.Path(work, "target")
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        subprocess.run(["cargo", "fetch", "--locked", "--quiet"], cwd=clone, check=True)
        packages = [word for name in FIXED for word in ("-p", name)]
        fixed, _ = spent(["cargo", "build", "--locked", "--release", *packages], clone, target / "fixed")
        # Without a target folder of its own: the demo runs what it built in the tree's.
        demo, seconds = spent(["make", "demo"], clone, clone / "target")
    ratio = demo / fixed
    print(f"first minute: {demo:.0f} s of the processor in {seconds:.0f} s, {ratio:.2f} times the {fixed:.1f} s of {', '.join(FIXED)}")
    if record:
        RECORD.write_text(json.dumps({"demo_of_fixed": round(ratio, 2)}) + "\n")
        return 0
    most = json.loads(RECORD.read_text())["demo_of_fixed"] * (1 + MOST)
    if ratio > most:
        print(f"first minute: error: at most {most:.2f} times was expected; --record if that is intended", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main("--record" in sys.argv[1:]))

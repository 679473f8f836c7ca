#!/usr/bin/env python3
"""A browser as the witness for `gcc`: how Chromium's own answers a link that is cut, and how ours does.

The same trace, buffer and round trip once over `analects link` with two Chromiums (`analects browser`), and once
in the simulator. Both write the same log of packets, and all figures are from it. Each call sends as much as it
may, the link carries a quarter more, and is cut to a half, a quarter and a thirteenth of that.

  witness-browser.py ANALECTS [REPEATS]

It takes a minute for each call, on a machine that does nothing else.
"""

import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

CUT, END = 35, 50  # s
CAPS = [2500, 10000]  # kbit/s
SHARES = [2, 4, 13]
ROUND_TRIP, BUFFER = "40ms", "100p"
AFTER = [1, 2, 5, 10]  # s
# The mean over so long says what is sent.
WINDOW = 0.5
# A rate below this part of the one before the cut is a decrease.
FALLEN = 0.8


def trace(folder, cap, share):
    """A file with the link's rate: `seconds Mbit/s`."""
    full = 1.25 * cap / 1000
    path = folder / f"{cap}-{share}.trace"
    path.write_text(f"0 {full}\n{CUT} {full / share}\n{10 * END} {full / share}\n")
    return path


def packets(log, down):
    """When each packet of the call came, in s, how long it waited, in ms, its bits, and whether it was sent."""
    with open(log, newline="") as lines:
        for row in csv.DictReader(lines):
            if row["link"] == down and int(row["size_bytes"]) > 200:
                yield float(row["in_s"]), float(row["sojourn_ms"]), 8 * int(row["size_bytes"]), row["decision"]


def figures(log, down):
    """What a call did after the cut."""
    all_of = list(packets(log, down))

    def rate(since, until):
        return sum(bits for at, _, bits, _ in all_of if since <= at < until) / (until - since) / 1e6

    before = rate(CUT - 5, CUT)
    steps = (CUT + 0.05 * step for step in range(int((END - CUT) / 0.05)))
    fallen = next((at - CUT for at in steps if rate(at, at + WINDOW) < FALLEN * before), None)
    after = [rate(CUT + at - WINDOW / 2, CUT + at + WINDOW / 2) for at in AFTER]
    waits = [wait for at, wait, _, decision in all_of if at >= CUT and decision == "sent"]
    return [before, fallen if fallen is not None else float("nan"), *after, max(waits)]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")


def chromium(analects, folder, cap, path, repeats):
    """Calls between browsers; those of a host that was too slow do not count."""
    kept = folder / "calls"
    run([analects, "browser", "--rate", path, "--rtt", ROUND_TRIP, "--buffer", BUFFER, "-d", "pfifo",
         "--call", str(cap), "--no-pages", "--warmup", "25", "--seconds", str(END - 25), "--repeat", str(repeats),
         "--keep", kept, "--json", folder / "runs.json"])
    runs = json.loads((folder / "runs.json").read_text())
    for number, one in enumerate(runs, 1):
        if one["link"]["believed"]:
            yield figures(kept / f"{number}-pfifo" / "packets.csv", "down")


def simulated(analects, folder, cap, path, repeats):
    """The same in the simulator."""
    scenario = folder / "call.toml"
    scenario.write_text(f'''
name = "cut"
duration = "{END}s"
disciplines = ["pfifo"]
[link]
trace = "{path}"
rtt = "{ROUND_TRIP}"
buffer = "{BUFFER}"
[[traffic]]
name = "call"
kind = "call"
control = "gcc"
max_rate = "{cap}kbit"
''')
    for seed in range(1, repeats + 1):
        log = folder / f"{seed}.csv"
        run([analects, "run", scenario, "--seed", str(seed), "--repeat", "1", "--log", log])
        yield figures(log, "link")


def row(name, calls):
    if not calls:
        return f"| {name} | no call of this host counts |"
    cells = []
    for values in zip(*calls):
        mean = statistics.mean(values)
        spread = f" ({min(values):.2f} to {max(values):.2f})" if len(values) > 1 else ""
        cells.append(f"{mean:.2f}{spread}")
    return f"| {name} | " + " | ".join(cells) + " |"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    analects, repeats = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) == 3 else 3
    after = " | ".join(f"{at} s" for at in AFTER)
    print(f"| kbit/s, share | control | before, Mbit/s | first decrease, s | {after} | longest wait, ms |")
    print("|---" * (5 + len(AFTER)) + "|")
    for cap in CAPS:
        for share in SHARES:
            for name, calls in [("chromium", chromium), ("gcc", simulated)]:
                with tempfile.TemporaryDirectory() as folder:
                    folder = pathlib.Path(folder)
                    path = trace(folder, cap, share)
                    print(row(f"{cap}, 1/{share} | {name}", list(calls(analects, folder, cap, path, repeats))), flush=True)


main()

"""Prints what probes said: a line for each, and the confusion matrix."""

import collections
import json
import pathlib
import sys

VERDICTS = ["fair-queuing", "shared-fifo", "aqm", "unknown"]
RIGHT = {"pfifo": "shared-fifo", "codel": "aqm", "pie": "aqm"}
# It puts both subflows into one class at times, and into two at others: neither is wrong.
NEITHER = {"confucius"}

cells = collections.defaultdict(collections.Counter)
right = total = 0
print("| rate | RTT | way | discipline | verdict | confidence | Mbit/s | queue, median | 95 % | lost |")
print("|---|---|---|---|---|---|---|---|---|---|")
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    rate, rtt, way, discipline = path.stem.split("-", 3)
    lines = [line for line in path.read_text().splitlines() if line.startswith("{")]
    if not lines:
        print(f"| {rate} | {rtt} | {way} | {discipline} | failed | | | | | |")
        cells[discipline]["failed"] += 1
        continue
    seen = json.loads(lines[-1])
    lost = 100 * seen["lost_bytes"] / max(seen["sent_bytes"], 1)
    print(
        f"| {rate} | {rtt} | {way} | {discipline} | {seen['verdict']} | {seen['confidence']:.2f} "
        f"| {seen['rate_mbit']:.1f} | {seen['queue_ms']:.1f} ms | {seen['queue_p95_ms']:.1f} ms | {lost:.2f} % |"
    )
    cells[discipline][seen["verdict"]] += 1
    if discipline in NEITHER:
        continue
    total += 1
    right += seen["verdict"] == RIGHT.get(discipline, "fair-queuing")
print()
print("| discipline | " + " | ".join(VERDICTS) + " |")
print("|---" * (len(VERDICTS) + 1) + "|")
for discipline, verdicts in sorted(cells.items()):
    print(f"| {discipline} | " + " | ".join(str(verdicts[v]) for v in VERDICTS) + " |")
print(f"\n{right} of {total} right")

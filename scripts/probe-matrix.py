"""Prints what probes said: a line for each, and the confusion matrix."""

import collections
import json
import pathlib
import re
import sys

VERDICTS = ["fair-queuing", "shared-fifo", "aqm", "unknown"]
RIGHT = {
    "pfifo": {"shared-fifo"},
    "codel": {"aqm"},
    "pie": {"aqm"},
    # Both subflows are in one class, which is kept short now and then.
    "confucius": {"shared-fifo", "aqm"},
}


def loss(path):
    """The percentage of packets that a queue dropped, by its own counters; none without them."""
    if not path.is_file():
        return None
    sent, dropped = re.search(r"Sent \d+ bytes (\d+) pkt \(dropped (\d+)", path.read_text()).groups()
    return 100 * int(dropped) / max(int(sent) + int(dropped), 1)


def busy(path):
    """The percentage of a probe's time in which the machine's processor was not idle; none if unknown."""
    if not path.is_file():
        return None
    before, after = ([float(x) for x in line.split()] for line in path.read_text().splitlines())
    return 100 * (1 - (after[1] - before[1]) / (after[0] - before[0]))


def text(percentage):
    return "-" if percentage is None else f"{percentage:.2f} %"


cells = collections.defaultdict(collections.Counter)
right = total = more = compared = 0
print("| Mbit/s | RTT, ms | way | discipline | verdict | confidence | Mbit/s | queue, median | 95 % | lost | NewReno lost | processor busy |")
print("|---" * 12 + "|")
places = (path.stem.split("-", 3) for path in pathlib.Path(sys.argv[1]).glob("*.json"))
for rate, rtt, way, discipline in sorted(places, key=lambda at: (int(at[0]), int(at[1]), *at[2:])):
    path = pathlib.Path(sys.argv[1]) / f"{rate}-{rtt}-{way}-{discipline}"
    lines = [line for line in path.with_name(f"{path.name}.json").read_text().splitlines() if line.startswith("{")]
    total += 1
    if not lines:
        print(f"| {rate} | {rtt} | {way} | {discipline} | failed | | | | | | | |")
        cells[discipline]["failed"] += 1
        continue
    seen = json.loads(lines[-1])
    lost, reno = loss(path / "probe"), loss(path / "reno")
    if lost is None:
        lost = 100 * seen["lost_bytes"] / max(seen["sent_bytes"], 1)
    if reno is not None:
        compared += 1
        more += lost > reno
    print(
        f"| {rate} | {rtt} | {way} | {discipline} | {seen['verdict']} | {seen['confidence']:.2f} "
        f"| {seen['rate_mbit']:.1f} | {seen['queue_ms']:.1f} ms | {seen['queue_p95_ms']:.1f} ms "
        f"| {text(lost)} | {text(reno)} | {text(busy(path / 'uptime'))} |"
    )
    cells[discipline][seen["verdict"]] += 1
    right += seen["verdict"] in RIGHT.get(discipline, {"fair-queuing"})
print()
print("| discipline | " + " | ".join(VERDICTS) + " | failed |")
print("|---" * (len(VERDICTS) + 2) + "|")
for discipline, verdicts in sorted(cells.items()):
    print(f"| {discipline} | " + " | ".join(str(verdicts[v]) for v in [*VERDICTS, "failed"]) + " |")
print(f"\n{right} of {total} right, {100 * right / max(total, 1):.0f} %")
if compared:
    print(f"more lost than by NewReno in {more} of {compared}")

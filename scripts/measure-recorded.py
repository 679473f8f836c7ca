"""Puts `analects measure` behind `analects link` as recorded lines, and prints what it found beside what the link's own log
of packets has: a table in Markdown. Fails if a rate is off by more than a twentieth, a round trip by that or a ms, or a kind
of queue is wrong, in more than one of twelve.

measure-recorded.py PROGRAM [FOLDER]   (every file of FOLDER, or scenarios/inputs/wifi.txt; half a minute for each of four queues)
"""

import csv
import pathlib
import sys
import tempfile

from lines import found_behind, server

WIFI = pathlib.Path(__file__).parent.parent / "scenarios/inputs/wifi.txt"
# Discipline, the buffer of a FIFO in parts of what the line carries in 40 ms, and what such a queue is called.
QUEUES = [("pfifo", 8, {"long"}), ("codel", None, {"short"}), ("fq_codel", None, {"fair"}), ("cake", None, {"fair"})]
RTT = 40
NEAR = 0.05
STEP = 0.1


def link(trace, discipline, buffer):
    limit = f'buffer = "{buffer}bdp"\n' if buffer else ""
    lane = f'discipline = "{discipline}"\n{limit}'
    return f'[link]\nrtt = "{RTT}ms"\ntrace = "{trace}"\n{lane}\n[link.up]\nrate = "20mbit"\n{lane}'


def carried(log):
    """What left the link downwards in each step, in Mbit/s."""
    steps = {}
    with open(log) as rows:
        for row in csv.DictReader(rows):
            if row["link"] == "down" and row["decision"] == "sent":
                step = int(float(row["out_s"]) / STEP)
                steps[step] = steps.get(step, 0) + int(row["size_bytes"]) * 8e-6 / STEP
    return [steps.get(step, 0.0) for step in range(max(steps) + 1)]


def there(course, steps):
    """What the link carried in the second half of the load whose course was measured: where both courses lie nearest."""
    def apart(first):
        return sum((a - b) ** 2 for a, b in zip(course, steps[first:]))

    first = min(range(len(steps) - len(course) + 1), key=apart)
    half = steps[first + len(course) // 2 : first + len(course)]
    return sum(half) / len(half)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    traces = sorted(pathlib.Path(sys.argv[2]).iterdir()) if len(sys.argv) > 2 else [WIFI]
    count = wrong = 0
    print("| recording | queue | down | the link's own | RTT | waits beside, p95 | one way, p95 down/up | found | varies | wrong |")
    print("|---" * 10 + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for trace in traces:
            for discipline, buffer, called in QUEUES:
                log = folder / "log.csv"
                found = found_behind(program, folder, link(trace.resolve(), discipline, buffer), server(program, folder), "--log", log)
                down, rtt = found["down"], found["idle"]["rtt_ms"]
                true = there(down["course_mbit"], carried(log))
                bad = []
                if abs(down["rate_mbit"] / true - 1) > NEAR:
                    bad.append("rate")
                if abs(rtt - RTT) > max(1, NEAR * RTT):
                    bad.append("round trip")
                if down["queue"] not in called:
                    bad.append("kind of queue")
                count += 1
                wrong += bool(bad)
                apart = down["one_way_ms"]
                ways = "/".join(f"{apart[way]['p95']:.0f}" for way in ("down", "up")) if apart else "-"
                print(
                    f"| {trace.parent.name}/{trace.name} | {discipline} | {down['rate_mbit']:.2f} | {true:.2f} | {rtt:.1f} "
                    f"| {down['beside_ms']['p95']:.0f} | {ways} | {down['queue']} | {down['varies']} | {', '.join(bad + down['doubts'])} |",
                    flush=True,
                )
    print(f"\n{wrong} of {count} wrong")
    sys.exit(wrong * 12 > count)


main()

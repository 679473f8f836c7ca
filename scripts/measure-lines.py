"""Draws lines by the commit's hash, puts `analects measure` behind `analects link` as each of them, and prints what it
found beside what is there: a table in Markdown. Fails if more is wrong than may be.

measure-lines.py PROGRAM [COUNT [SEED]]   (24 lines; half a minute each)
"""

import pathlib
import sys
import tempfile

from lines import commit, drawn, full, measured

FIFO, FAIR, SHORT = {"pfifo"}, {"fq_codel", "cake", "mencius"}, {"codel"}
# What is near enough: rates, and a FIFO's buffer by parts; a round trip by a part or ms.
RATE, BUFFER, RTT, RTT_MS = 0.05, 0.15, 0.05, 1.0


def near(found, there, part, least=0.0):
    return abs(found - there) <= max(part * there, least)


def right(discipline, found, wait):
    if discipline in FAIR:
        return found == "fair"
    # A short FIFO and CoDel look alike: both keep waits short.
    return found == ("long" if discipline in FIFO and wait >= 60 else found if discipline in SHORT else "short") and found != "fair"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    seed = sys.argv[3] if len(sys.argv) > 3 else commit()
    wrong = {"rate": 0, "round trip": 0, "buffer": 0, "buffer not filled": 0, "kind of queue": 0}
    print("| line: down/up Mbit/s, RTT ms, buffer ms, discipline, loss % | down | up | RTT | waits beside, p95 down/up | queue | wrong |")
    print("|---" * 7 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for line in drawn(seed, count):
            down, up, rtt, wait, discipline, loss = line
            found = measured(program, pathlib.Path(folder), line)
            bad = set()
            ways = [(found["down"], down), (found["up"], up)]
            for way, there in ways:
                if not near(way["rate_mbit"], there, RATE):
                    bad.add("rate")
                filled, bytes_there = way["buffer_bytes"] or 0, full(there, wait)
                if discipline == "pfifo" and not near(filled, bytes_there, BUFFER):
                    # A buffer that the load did not fill is said to be at least as long.
                    bad.add("buffer" if way["overflowed"] or filled > bytes_there else "buffer not filled")
                if not right(discipline, way["queue"], wait):
                    bad.add("kind of queue")
            # A handshake's two packets take their time on the line.
            packets = 60 * 8e-3 * (1 / down + 1 / up)
            if not near(found["idle"]["rtt_ms"], rtt + packets, RTT, RTT_MS):
                bad.add("round trip")
            for what in bad:
                wrong[what] += 1
            waits = "/".join(f"{way['beside_ms']['p95']:.0f}" if way["beside_ms"] else "-" for way, _ in ways)
            doubts = [doubt for way, _ in ways for doubt in way["doubts"]] + found["notes"]
            kinds = "/".join(way["queue"] for way, _ in ways)
            print(
                f"| {down}/{up}, {rtt}, {wait}, {discipline}, {loss} | {found['down']['rate_mbit']:.2f} "
                f"| {found['up']['rate_mbit']:.2f} | {found['idle']['rtt_ms']:.1f} | {waits} | {kinds} "
                f"| {', '.join(sorted(bad) + doubts)} |",
                flush=True,
            )
    print(f"\nOf {count} lines wrong: " + ", ".join(f"{what} {number}" for what, number in wrong.items()))
    allowed = count // 12
    del wrong["buffer not filled"]
    sys.exit(any(number > allowed for number in wrong.values()))


main()

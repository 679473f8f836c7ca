"""Draws lines by the commit's hash, puts `analects measure` behind `analects link` as each of them, and prints what it
found beside what is there: a table in Markdown. Fails if more is wrong than may be.

measure-lines.py PROGRAM [COUNT [SEED [FIRST]]]   (24 lines, from that of this number on; half a minute each)
"""

import itertools
import pathlib
import sys
import tempfile

from lines import commit, drawn, full, measured

FAIR = {"fq_codel", "cake", "mencius"}
# What a queue is called; a FIFO is long or short by its length in ms, and either about where a call notices it.
CALLED = {"codel": {"short"}, "policer": {"policed"}} | {discipline: {"fair"} for discipline in FAIR}
FELT = 30, 60
# What is near enough: rates, and a FIFO's buffer by parts; a round trip by a part or ms.
RATE, BUFFER, RTT, RTT_MS = 0.05, 0.15, 0.05, 1.0


def near(found, there, part, least=0.0):
    return abs(found - there) <= max(part * there, least)


def right(discipline, found, wait):
    fifo = {"long"} if wait >= FELT[1] else {"long", "short"} if wait >= FELT[0] else {"short"}
    return found in CALLED.get(discipline, fifo)


def lost(way):
    """What the wire loses by itself, in percent."""
    return f"{100 * way['wire_loss']['share']:.2f}" if way["wire_loss"] else "-"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    seed = sys.argv[3] if len(sys.argv) > 3 else commit()
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    wrong = {"rate": 0, "round trip": 0, "buffer": 0, "buffer not filled": 0, "kind of queue": 0}
    print("| line: down/up Mbit/s, RTT ms, buffer ms, discipline, loss % | down | up | RTT | waits beside, p95 down/up | queue | the wire's loss, % | wrong |")
    print("|---" * 8 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for line in itertools.islice(drawn(seed, first + count), first, None):
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
            kinds, losses = ("/".join(of(way) for way, _ in ways) for of in (lambda way: way["queue"], lost))
            print(
                f"| {down}/{up}, {rtt}, {wait}, {discipline}, {loss} | {found['down']['rate_mbit']:.2f} "
                f"| {found['up']['rate_mbit']:.2f} | {found['idle']['rtt_ms']:.1f} | {waits} | {kinds} | {losses} "
                f"| {', '.join(sorted(bad) + doubts)} |",
                flush=True,
            )
    print(f"\nOf {count} lines wrong: " + ", ".join(f"{what} {number}" for what, number in wrong.items()))
    allowed = count // 12
    del wrong["buffer not filled"]
    sys.exit(any(number > allowed for number in wrong.values()))


main()

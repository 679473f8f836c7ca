"""Measures lines that are known, and has the household of scenarios/my-link.toml on each of them over real sockets for two
minutes: a table of the call's stall beside what `analects measure` predicts of one evening, the least and the greatest of
those that it simulates; and beside as many that are simulated on the line as it is, which no measurement could better.
Fails if fewer than five of six are inside.

predict-lines.py PROGRAM [COUNT [SEED [FIRST]]]   (24 lines, from that of this number on; three minutes each)
"""

import itertools
import pathlib
import sys
import tempfile

from lines import begun, commit, drawn, evening, lived, measured, scenario, stalls, told

# Frames and clocks: a real evening is not exact to this, in s.
NEAR = 0.2


def within(stall, of):
    return min(of) - NEAR <= stall <= max(of) + NEAR


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    seed = sys.argv[3] if len(sys.argv) > 3 else commit()
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    inside = witnessed = 0
    print("| line: down/up Mbit/s, RTT ms, buffer ms, discipline, loss % | queue found | predicted, s of 110 | known line simulated | lived | inside | doubts |")
    print("|---" * 7 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for line in itertools.islice(drawn(seed, first + count), first, None):
            found = measured(program, pathlib.Path(folder), line)
            predicted = found["evenings"][0]["stalls_s"]
            path = evening(pathlib.Path(folder), scenario(line))
            known = [stall for stall, _ in stalls(begun(program, path, "--repeat", str(len(predicted))))]
            [(stall, invalid)] = stalls(lived(program, path))
            right = within(stall, predicted)
            inside += right
            witnessed += within(stall, known)
            down, up, rtt, wait, discipline, loss = line
            queues = "/".join(found[way]["queue"] for way in ("down", "up") if found[way])
            doubts = [doubt for way in ("down", "up") if found[way] for doubt in found[way]["doubts"]] + invalid
            print(
                f"| {down}/{up}, {rtt}, {wait}, {discipline}, {loss} | {queues} | {told(predicted)} "
                f"| {told(known)} | {stall:.1f} | {'yes' if right else 'no'} | {'; '.join(doubts)} |",
                flush=True,
            )
    print(f"\n{inside} of {count} inside; {witnessed} inside of what is simulated on the known line")
    sys.exit(inside * 6 < count * 5)


main()

"""Measures lines with a FIFO, and has the household of scenarios/my-link.toml over real sockets for two minutes on each of
them as it is, and behind a shaper with fq_codel, cake and mencius at the rates that `analects measure --compare` chose: a
table of the call's stall beside what that predicted. Where the evenings of two set-ups, as they were simulated, do not
overlap, their order is predicted: fails if fewer than nine of ten such pairs were lived in it.

Behind a shaper that is slower than the line nothing waits in the line itself: the shaper alone is lived.

order-lines.py PROGRAM [COUNT [SEED [FIRST]]]   (eight lines with a FIFO, from that of this number on; four minutes
each). As root.
"""

import itertools
import pathlib
import sys
import tempfile

from lines import commit, drawn, evening, found_behind, lived, scenario, server, stalls, told

# What a shaper has, down and up, as `--compare` has it.
SHAPERS = {
    "fq_codel": ("fq_codel", "fq_codel"),
    "cake": ("cake", "cake"),
    "mencius": ("mencius,target=5ms,max_wait=20ms,ingress=yes", "mencius"),
}
# Frames and clocks: a real evening is not exact to this, in s.
NEAR = 0.2


def shaped(line, shaper, disciplines):
    """The link of a scenario whose shaper is its only queue."""
    lanes = [f'rate = "{shaper[way]}"\ndiscipline = "{one}"\n' for way, one in zip(("down", "up"), disciplines)]
    _, _, rtt, _, _, loss = line
    return f'[link]\nrtt = "{rtt}ms"\n{lanes[0]}loss = {loss / 100}\n\n[link.up]\n{lanes[1]}'


def separate(evenings):
    """Pairs of set-ups of which the first stalls less in any evening."""
    for (less, low), (more, high) in itertools.permutations(evenings.items(), 2):
        if max(low) + NEAR < min(high):
            yield less, more


def evenings(program, folder, links):
    """The stall on each link, all at once, since each has a network of its own; and what is not to be believed."""
    running = {with_: lived(program, evening(folder, link, with_)) for with_, link in links.items()}
    stall, doubts = {}, []
    try:
        for with_, ran in running.items():
            [(stall[with_], invalid)] = stalls(ran)
            doubts += [f"{with_}: {why}" for why in invalid]
    finally:
        for ran in running.values():
            ran.kill()
    return stall, doubts


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    seed = sys.argv[3] if len(sys.argv) > 3 else commit()
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    pairs = right = 0
    print("| line: down/up Mbit/s, RTT ms, buffer ms, loss % | shaper: predicted, s of 110 | lived | pairs apart, in this order | doubts |")
    print("|---" * 5 + "|")
    fifos = (line for line in drawn(seed, 100) if line[4] == "pfifo")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for line in itertools.islice(fifos, first, first + count):
            found = found_behind(program, folder, scenario(line), server(program, folder), wanted="--compare")
            predicted = {one["with"]: one["stalls_s"] for one in found["evenings"]}
            links = {with_: shaped(line, found["shaper"], of) for with_, of in SHAPERS.items()} | {"as it is": scenario(line)}
            stall, doubts = evenings(program, folder, links)
            apart = list(separate(predicted))
            held = sum(stall[less] < stall[more] for less, more in apart)
            pairs += len(apart)
            right += held
            down, up, rtt, wait, _, loss = line
            print(
                f"| {down}/{up}, {rtt}, {wait}, {loss} | {', '.join(f'{one}: {told(of)}' for one, of in predicted.items())} "
                f"| {', '.join(f'{stall[one]:.1f}' for one in predicted)} | {len(apart)}, {held} | {'; '.join(doubts)} |",
                flush=True,
            )
    print(f"\n{right} of {pairs} pairs in the order that was predicted")
    sys.exit(not pairs or right * 10 < pairs * 9)


main()

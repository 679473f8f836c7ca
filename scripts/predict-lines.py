"""Measures lines that are known, and has the household of scenarios/my-link.toml on each of them over real sockets for two
minutes: a table of the call's stall beside what `analects measure` predicts of one evening, the least and the greatest of
the ten that it simulates. Fails if fewer than five of six are inside.

predict-lines.py PROGRAM [COUNT [SEED]]   (24 lines; three minutes each)
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from lines import commit, drawn, measured, scenario

HOUSEHOLD = pathlib.Path(__file__).parent.parent / "scenarios/my-link.toml"
# A seed that no simulated evening has.
SEED = 77
# Frames and clocks: a real evening is not exact to this, in s.
NEAR = 0.2


def lived(program, folder, line):
    """The mean stall of both calls in s, and why they are not to be believed."""
    traffic = HOUSEHOLD.read_text()
    traffic = traffic[traffic.index("[[traffic]]") :]
    head = f'name = "line"\nduration = "120s"\nwarmup = "10s"\ndisciplines = ["{line[4]}"]\n\n'
    (folder / "evening.toml").write_text(f"{head}{scenario(line)}\n{traffic}")
    command = [program, "run", folder / "evening.toml", "--engine", "live", "--seed", str(SEED), "--repeat", "1"]
    ran = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, timeout=300)
    if ran.returncode:
        raise SystemExit(f"predict-lines: {line}: {ran.stderr}")
    result = json.loads(ran.stdout)["results"][0]
    stalls = [call["stall_s"] for call in result["calls"]]
    return sum(stalls) / len(stalls), result["invalid"]


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    seed = sys.argv[3] if len(sys.argv) > 3 else commit()
    inside = 0
    print("| line: down/up Mbit/s, RTT ms, buffer ms, discipline, loss % | queue found | stall predicted, s of 110 | stall of the calls | inside | doubts |")
    print("|---" * 6 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for line in drawn(seed, count):
            found = measured(program, pathlib.Path(folder), line)
            now = found["evenings"][0]
            stall, notes = lived(program, pathlib.Path(folder), line)
            least, most = min(now["stalls_s"]), max(now["stalls_s"])
            right = least - NEAR <= stall <= most + NEAR
            inside += right
            down, up, rtt, wait, discipline, loss = line
            queues = "/".join(found[way]["queue"] for way in ("down", "up") if found[way])
            doubts = [doubt for way in ("down", "up") if found[way] for doubt in found[way]["doubts"]] + notes
            print(
                f"| {down}/{up}, {rtt}, {wait}, {discipline}, {loss} | {queues} | {now['stall_s']['value']:.1f} "
                f"({least:.1f} to {most:.1f}) | {stall:.1f} | {'yes' if right else 'no'} | {'; '.join(doubts)} |",
                flush=True,
            )
    print(f"\n{inside} of {count} inside")
    sys.exit(inside * 6 < count * 5)


main()

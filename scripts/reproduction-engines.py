"""Prints what `analects agree` says of the simulator beside Linux and beside real sockets as one table.

reproduction-engines.py KERNEL.json LIVE.json, both of the same scenarios and seeds.
"""

import json
import sys
from pathlib import Path

VERDICTS = {"agrees": "agrees", "differs": "**differs**", "untold": "cannot be told"}
ABOUT = """\
# Five scenarios in three engines
Made by `make reproduction OF=engines`, as root: the scenarios of `experiments/engines` with four disciplines, in
the simulator (`sim`), in Linux in virtual time (`kernel`: its TCP, qdiscs and shaper, and our module), and
over this host's sockets in real time (`live`: its TCP, and our qdiscs and link). Means over the same seeds;
allowed differences and verdicts as on [the page about Linux](linux.md), of the simulator beside each.
"""


def number(value):
    size = abs(value)
    return f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def rows(path):
    return {(row["scenario"], row["case"], row["of"], row["metric"]): row for row in json.loads(Path(path).read_text())["figures"]}


def totals(name, rows):
    count = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}
    return (f"Of {len(rows)} figures of `{name}`, {count['agrees']} agree with the simulator's, "
            f"{count['differs']} differ, {count['untold']} cannot be told.")


def main(kernel, live):
    kernel, live = rows(kernel), rows(live)
    both = [key for key in kernel if key in live]
    if not both:
        raise SystemExit(f"reproduction-engines: {sys.argv[1]} and {sys.argv[2]} have no figure in common")
    print(ABOUT)
    print(totals("kernel", [kernel[key] for key in both]), totals("live", [live[key] for key in both]))
    scenario = None
    for key in both:
        if key[0] != scenario:
            scenario = key[0]
            print(f"\n## {scenario.removeprefix('own/')}")
            print("| discipline | metric | sim | kernel | | live | |\n| --- | --- | --- | --- | --- | --- | --- |")
        ours, unit = kernel[key]["ours"], kernel[key]["unit"]
        cells = [key[1], f"{key[3]} of {key[2]}", f"{number(ours)} {unit}"]
        for row in kernel[key], live[key]:
            cells += [f"{number(row['witness'])} {unit}", VERDICTS[row["verdict"]]]
        print(f"| {' | '.join(cells)} |")


main(*sys.argv[1:])

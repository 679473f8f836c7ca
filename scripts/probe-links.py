"""Draws links by a seed, puts `analects probe` behind `analects link` as each of them, with a call of Python's own
beside it, and prints what both found: a table in Markdown. Fails if more is wrong or unknown than may be.

probe-links.py PROGRAM [COUNT [SEED [FASTEST]]]   (20 links of up to 300 Mbit/s; a quarter of a minute each)
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from lines import commit, numbers_of

ENDS = pathlib.Path(__file__).with_name("probe-links-ends.py")
SECONDS = 10
DISCIPLINES = {
    "pfifo": {"shared-fifo"},
    "fq_codel": {"fair-queuing"},
    "cake": {"fair-queuing"},
    "mencius": {"fair-queuing"},
    # Both subflows are in one class, which is kept short now and then.
    "confucius": {"shared-fifo", "aqm"},
    "pie": {"aqm"},
    "codel": {"aqm"},
}
# A call's 95th percentile agrees within the larger of both.
NEAR, NEAR_MS = 0.25, 10.0
# The shares of links that may be wrong, or unknown.
WRONG, UNKNOWN = 0.05, 0.15


def drawn(seed, count, fastest):
    """Links: Mbit/s, round trip in ms, discipline, way, cross traffic, Mbit/s of it."""
    numbers = numbers_of(seed)
    names = list(DISCIPLINES)
    for n in range(count):
        rate = round(fastest ** numbers.random(), 1)
        rtt = round(10 ** numbers.uniform(0.9, 2.1))
        kind = numbers.choice(["none", "none", "udp", "tcp"])
        # Of UDP, a tenth of the rate to a fifth more than it.
        udp = round(rate * numbers.choice([0.1, 0.3, 0.5, 1.2]), 2)
        way = numbers.choice(["down", "up"])
        if n % len(names) == 0:
            numbers.shuffle(names)
        yield rate, rtt, names[n % len(names)], way, kind, udp


def scenario(link):
    rate, rtt, discipline, way, _, _ = link
    # The other way is a quarter, as lines are sold, and has no discipline of its own.
    other = max(1.0, rate / 4)
    full = f'buffer = "{max(60, round(rate * max(rtt, 50) / 12))}p"\n' if discipline == "pfifo" else ""

    def lane(own):
        if own:
            return f'rate = "{rate}mbit"\ndiscipline = "{discipline}"\n{full}'
        return f'rate = "{other}mbit"\ndiscipline = "pfifo"\n'

    return f'name = "line"\n\n[link]\nrtt = "0ms"\n{lane(way == "down")}\n[link.up]\n{lane(way == "up")}'


def probed(program, folder, link):
    rate, rtt, _, way, kind, udp = link
    (folder / "line.toml").write_text(scenario(link))
    # As on a wire: a packet that is still to be cut into segments waits as one, and is counted as one.
    whole = "ip link set dev analects0 gso_max_segs 1"
    served = f"{whole} && exec python3 {ENDS} far {program} {folder}/key 900mbit"
    inside = f"{whole} && exec python3 {ENDS} near {program} {way} {SECONDS} {kind} {udp}"
    command = [program, "link", folder / "line.toml", "--set", f"link.rtt={rtt}ms", "--json", folder / "link.json"]
    command += ["--far", f"sh -c '{served}'", "--far-ready", "7411", "--", "sh", "-c", inside]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=180)
    lines = [text for text in ran.stdout.splitlines() if text.startswith("{")]
    if not lines:
        raise SystemExit(f"probe-links: {link}: {ran.stdout}{ran.stderr}")
    return json.loads(lines[-1]), json.loads((folder / "link.json").read_text())


def verdict(found, discipline):
    """right, unknown or wrong; a probe that came to no end is unknown, whatever it says."""
    if found is None or found["verdict"] == "unknown":
        return "unknown"
    return "right" if found["verdict"] in DISCIPLINES[discipline] else "wrong"


def calls(found, beside):
    """Whether what the probe's call waited is what the other waited: right, unknown or wrong."""
    call = (found or {}).get("call")
    if not call or not call["filled"] or call["late"] > 0.03 or call["beside_p95_ms"] is None or call["alone_ms"] is None:
        return "unknown"
    there = beside.get("p95", float("inf"))
    return "right" if abs(call["beside_p95_ms"] - there) <= max(NEAR * there, NEAR_MS) else "wrong"


def row(link, found, beside, late):
    rate, rtt, discipline, way, kind, udp = link
    call = (found or {}).get("call") or {}
    ms = [call.get("alone_ms"), call.get("beside_p95_ms"), beside.get("p50"), beside.get("p95")]
    ms = ["-" if x is None else f"{x:.0f}" for x in ms]
    lost = [100 * call["lost"] if call else None, 100 * beside["lost"]]
    lost = "/".join("-" if x is None else f"{x:.0f}" for x in lost)
    cells = [
        f"{rate} {way}, {rtt}, {discipline}, {kind if kind != 'udp' else f'udp {udp}'}",
        f"{found['rate_mbit']:.1f}" if found else "-",
        f"{found['verdict']} {found['confidence']:.2f}" if found else "no end",
        verdict(found, discipline),
        ms[0],
        f"{ms[1]}/{ms[3]}",
        lost,
        calls(found, beside),
        "late" if late else "",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = sys.argv[3] if len(sys.argv) > 3 else commit()
    fastest = int(sys.argv[4]) if len(sys.argv) > 4 else 300
    verdicts, waits = [], []
    print(
        "| link: Mbit/s, RTT ms, discipline, cross traffic | rate | verdict | it is | call alone, ms "
        "| call beside, p95: probe's/Python's | lost, %: probe's/Python's | it is | machine |"
    )
    print("|---" * 9 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for link in drawn(seed, count, fastest):
            both, summary = probed(program, pathlib.Path(folder), link)
            found, beside, late = both["probe"], both["call"], not summary.get("believed", True)
            if found is None:
                print(f"probe-links: {link}: {both['said'].strip()}", file=sys.stderr, flush=True)
            row(link, found, beside, late)
            verdicts.append(verdict(found, link[2]))
            waits.append(calls(found, beside))
    for name, seen in [("verdicts", verdicts), ("calls", waits)]:
        print(f"\n{name}: " + ", ".join(f"{seen.count(what)} {what}" for what in ["right", "unknown", "wrong"]))
    wrong = verdicts.count("wrong") > WRONG * count or waits.count("wrong") > 0
    sys.exit(wrong or max(verdicts.count("unknown"), waits.count("unknown")) > UNKNOWN * count)


main()

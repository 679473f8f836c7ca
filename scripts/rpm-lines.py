"""Round trips a minute of known lines, by `analects measure` and by the draft's reference client
(github.com/network-quality/goresponsiveness, built elsewhere), in turn, against our server and, where one is named, against
the reference server (github.com/network-quality/server): a table in Markdown. The client follows an older draft, which
takes the mean of times where today's takes the mean of rates: of its times follow the rates here. It knows the draft's
limit of what probes may take of a line and does not keep it (PTC; a hundred pairs a second are a quarter of 20 Mbit/s), so
it is asked for as many as ours sends. Fails if one of them differs by more than a tenth. As root.

rpm-lines.py PROGRAM CLIENT [SERVER]   (two minutes for each line and server)
"""

import pathlib
import re
import sys
import tempfile

from lines import PORT, behind, measured, scenario, server

LINES = [
    (20, 5, 30, 200, "pfifo", 0),
    (50, 10, 20, 100, "pfifo", 0),
    (8, 8, 100, 400, "pfifo", 0),
    (20, 10, 30, 0, "fq_codel", 0),
    (10, 5, 60, 0, "cake", 0),
    (40, 40, 40, 0, "codel", 0),
]
NEAR = 0.1
TRIALS = 3


def pairs(mbit):
    """Pairs of requests a second on a line of so many Mbit/s, as ours sends them."""
    part, pair, least, most = (ours_of(name) for name in ("PART", "PAIR", "PAIRS_LEAST", "PAIRS"))
    return round(min(max(part * mbit * 1e6 / 8 / pair, least), most))


def ours_of(name):
    """A number that our client has, where it is declared."""
    source = pathlib.Path(__file__).parent.parent / "crates/host/line/src/direction.rs"
    return float(re.search(rf"^const {name}: f64 = (\S+);", source.read_text(), re.M)[1])


def theirs(said):
    """Of both ways round trips a minute beside the load and on its connections, by the client's own trimmed means."""
    parts = re.split(r"^(Download|Upload):$", said, flags=re.M)
    for name, part in zip(parts[1::2], parts[2::2]):
        # The last of each are of the intervals that count.
        foreign, own = ([float(s) for s in re.findall(rf"Trimmed Mean {of} RTT: *(\S+)", part)] for of in ("Foreign", "Self"))
        if foreign and own:
            yield name, (60 / foreign[-1], 60 / own[-1])


def ours(found):
    """The same by ours, with how far it may be believed."""
    for name, way in (("Download", "down"), ("Upload", "up")):
        if found[way] and found[way]["responsiveness"]:
            of = found[way]["responsiveness"]
            yield name, ((of["foreign"], of["loaded"]), found[way]["confidence"])


def main():
    program, client = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    wrong = 0
    print("| server | line: down/up Mbit/s, RTT ms, buffer ms, discipline | way | beside the load: theirs, ours | on its connections | RPM | off by | confidence |")
    print("|---" * 8 + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        servers = {"ours": f"{server(program, folder)} --seconds 300"}
        if len(sys.argv) > 3:
            # Its document has the name by which it is reached.
            servers["reference"] = f"{pathlib.Path(sys.argv[3]).resolve()} -create-cert -listen-addr 0.0.0.0 -public-port {PORT} -config-name 100.64.0.1"
        for line in LINES:
            for kind, served in servers.items():
                reference = f"{client} -debug -config $ANALECTS_FAR -port {PORT} -path .well-known/nq -rpm.mps {pairs(min(line[:2]))}"
                # It ends by itself where a connection of its load is not there yet when a probe wants it.
                for _ in range(TRIALS):
                    said = "".join(behind(program, folder, scenario(line), served, reference))
                    if "should have reused" not in said:
                        break
                them, us = dict(theirs(said)), dict(ours(measured(program, folder, line, served)))
                down, up, rtt, wait, discipline, _ = line
                for way in ("Download", "Upload"):
                    if way not in them or way not in us:
                        raise SystemExit(f"rpm-lines: {kind} {line} {way}: {said[-1500:]}\n{us}")
                    pair = them[way], us[way][0]
                    rpm = [sum(found) / 2 for found in pair]
                    off = rpm[1] / rpm[0] - 1
                    # Where one of them has none, it is no match either.
                    wrong += not abs(off) <= NEAR
                    beside, own = ([f"{found[n]:.0f}" for found in pair] for n in (0, 1))
                    print(
                        f"| {kind} | {down}/{up}, {rtt}, {wait or '-'}, {discipline} | {way.lower()} | {', '.join(beside)} | {', '.join(own)} "
                        f"| {rpm[0]:.0f}, {rpm[1]:.0f} | {100 * off:+.0f} % | {us[way][1]} |",
                        flush=True,
                    )
    print(f"\n{wrong} off by more than {100 * NEAR:.0f} %")
    sys.exit(wrong > 0)


main()

"""Round trips a minute of known lines, by `analects measure` and by the draft's reference client
(github.com/network-quality/goresponsiveness, built elsewhere), in turn, against our server and, where one is named, against
the reference server (github.com/network-quality/goserver): a table in Markdown. Four things make the client comparable:
- It takes the mean of times where today's draft takes the mean of rates, and leaves out a pair of requests of which one does
  not end in time, which are the slow ones. Of the times of its single requests follow the rates here, by the draft's rule.
- It knows the draft's limit of what probes may take of a line and does not keep it (PTC; a hundred pairs a second are a
  quarter of 20 Mbit/s), so it is asked for as many as ours sends.
- It goes on adding connections, up to 16, where ours has as many as fill the line in its nine seconds. A request on one of
  them waits for what each of them holds ready, so that it is asked for as many.
- What it sends waits in its own socket, which the draft wants to be short (TCP_NOTSENT_LOWAT). The namespaces give all
  sockets ours; and Reno, since BBR may lose handshakes before a FIFO, whose repetitions are then measured.
Fails if one of them differs by more than a tenth. As root.

rpm-lines.py PROGRAM CLIENT [SERVER]   (two minutes for each line and server)
"""

import math
import pathlib
import re
import sys
import tempfile

from lines import PORT, behind, found_behind, scenario, server

LINES = [
    (20, 5, 30, 200, "pfifo", 0),
    (50, 10, 20, 100, "pfifo", 0),
    (8, 8, 100, 400, "pfifo", 0),
    (20, 10, 30, 0, "fq_codel", 0),
    (10, 5, 60, 0, "cake", 0),
    (40, 40, 40, 0, "codel", 0),
]
FIRST = "sysctl -qw net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_notsent_lowat=32768"
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
    """Of both ways round trips a minute beside the load and on its connections, by the client's single requests."""
    for name, kind in (("Download", "SelfDown"), ("Upload", "SelfUp")):
        foreign, own = (seconds(said, f"{name.lower()} probe", kind) for kind in ("Foreign", kind))
        if foreign and own:
            # A request beside the load has three round trips.
            yield name, (3 * 60 / trimmed_mean(foreign), 60 / trimmed_mean(own))


def seconds(said, way, kind):
    """How long requests of a kind took, as its debugging prints them: "2.3s" or "401.8ms"."""
    found = re.findall(rf"\({way}\) \({kind} Probe \d+\) sanity vs total: \S+ vs (\S+?)(m?)s$", said, re.M)
    return [float(number) / (1000 if milli else 1) for number, milli in found]


def trimmed_mean(values):
    """Without the longest twentieth."""
    kept = sorted(values)[: math.ceil(0.95 * len(values))]
    return sum(kept) / len(kept)


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
                found = found_behind(program, folder, scenario(line), served, first=FIRST)
                us = dict(ours(found))
                most = max(found[way]["connections"] for way in ("down", "up") if found[way])
                as_ours = f"-rpm.mps {pairs(min(line[:2]))} -rpm.mnp {most}"
                reference = f"{client} -debug -config $ANALECTS_FAR -port {PORT} -path .well-known/nq {as_ours}"
                # It ends by itself where a connection of its load is not there yet when a probe wants it.
                for _ in range(TRIALS):
                    said = "".join(behind(program, folder, scenario(line), served, reference, first=FIRST))
                    if "should have reused" not in said:
                        break
                them = dict(theirs(said))
                down, up, rtt, wait, discipline, _ = line
                for way in ("Download", "Upload"):
                    row = f"| {kind} | {down}/{up}, {rtt}, {wait or '-'}, {discipline} | {way.lower()} "
                    if way not in them or way not in us:
                        # Its requests on loaded connections may all last longer than it does.
                        wrong += 1
                        print(f"{row}| {'theirs' if way not in them else 'ours'} has none | | | | |", flush=True)
                        continue
                    pair = them[way], us[way][0]
                    rpm = [sum(found) / 2 for found in pair]
                    off = rpm[1] / rpm[0] - 1
                    wrong += abs(off) > NEAR
                    beside, own = ([f"{found[n]:.0f}" for found in pair] for n in (0, 1))
                    print(
                        f"{row}| {', '.join(beside)} | {', '.join(own)} "
                        f"| {rpm[0]:.0f}, {rpm[1]:.0f} | {100 * off:+.0f} % | {us[way][1]} |",
                        flush=True,
                    )
    print(f"\n{wrong} off by more than {100 * NEAR:.0f} %")
    sys.exit(wrong > 0)


main()

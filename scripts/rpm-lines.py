"""Round trips a minute of known lines, by `analects measure` and by the draft's reference client
(github.com/network-quality/goresponsiveness, built elsewhere), in turn, against our server and, where one is named, against
the reference server (github.com/network-quality/server): a table in Markdown. The client follows an older draft, which
takes the mean of times where today's takes the mean of rates: of its times follow the rates here. Fails if one of
them differs by more than a tenth. As root.

rpm-lines.py PROGRAM CLIENT [SERVER]   (two minutes for each line and server)
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from lines import scenario

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
PORT = 7411


def theirs(said):
    """Of both ways round trips a minute beside the load and on its connections, by the client's own trimmed means."""
    parts = re.split(r"^(Download|Upload):$", said, flags=re.M)
    for name, part in zip(parts[1::2], parts[2::2]):
        # The last of each are of the intervals that count.
        foreign, own = ([float(s) for s in re.findall(rf"Trimmed Mean {of} RTT: *(\S+)", part)] for of in ("Foreign", "Self"))
        if foreign and own:
            yield name, (60 / foreign[-1], 60 / own[-1])


def ours(said):
    line = next((text for text in said.splitlines() if text.startswith("{")), None)
    for name, way in (("Download", "down"), ("Upload", "up")) if line else ():
        found = json.loads(line)[way]
        if found and found["responsiveness"]:
            of = found["responsiveness"]
            yield name, (of["foreign"], of["loaded"]), found["confidence"]


def behind(program, folder, line, server, inside):
    """What a client says behind the line, with a server of one kind beyond it."""
    (folder / "line.toml").write_text(f'name = "line"\n\n{scenario(line)}')
    whole = "ip link set dev analects0 gso_max_segs 1"
    command = [program, "link", folder / "line.toml", "--far", f"sh -c '{whole} && exec {server}'", "--far-ready", str(PORT)]
    ran = subprocess.run([*command, "--", "sh", "-c", f"{whole} && {inside}"], capture_output=True, text=True, timeout=200)
    return ran.stdout + ran.stderr


def main():
    program, client = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    wrong = 0
    print("| server | line: down/up Mbit/s, RTT ms, buffer ms, discipline | way | beside the load: theirs, ours | on its connections | RPM | off by | confidence |")
    print("|---" * 8 + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        limits = "--rate 900mbit --rate-in-all 900mbit --seconds 300 --bytes 20GB --bytes-in-all 40GB"
        servers = {"ours": f"{program} probe serve --listen 0.0.0.0:{PORT} --key {folder}/key {limits}"}
        if len(sys.argv) > 3:
            # Its document has the name by which it is reached.
            servers["reference"] = f"{pathlib.Path(sys.argv[3]).resolve()} -create-cert -listen-addr 0.0.0.0 -public-port {PORT} -config-name 100.64.0.1"
        for line in LINES:
            for kind, server in servers.items():
                measure = f"{program} measure https://$ANALECTS_FAR:{PORT} --trust-anyone --json"
                reference = f"{client} -debug -config $ANALECTS_FAR -port {PORT} -path .well-known/nq"
                # It ends by itself where a connection of its load is not there yet when a probe wants it.
                for _ in range(TRIALS):
                    first = behind(program, folder, line, server, reference)
                    if "should have reused" not in first:
                        break
                said = first, behind(program, folder, line, server, measure)
                them, us = dict(theirs(said[0])), {way: (found, sure) for way, found, sure in ours(said[1])}
                down, up, rtt, wait, discipline, _ = line
                for way in ("Download", "Upload"):
                    if way not in them or way not in us:
                        raise SystemExit(f"rpm-lines: {kind} {line} {way}: {said[0][-1500:]}\n{said[1][-1500:]}")
                    pair = them[way], us[way][0]
                    rpm = [sum(found) / 2 for found in pair]
                    off = rpm[1] / rpm[0] - 1
                    wrong += abs(off) > NEAR
                    beside, own = ([f"{found[n]:.0f}" for found in pair] for n in (0, 1))
                    print(
                        f"| {kind} | {down}/{up}, {rtt}, {wait or '-'}, {discipline} | {way.lower()} | {', '.join(beside)} | {', '.join(own)} "
                        f"| {rpm[0]:.0f}, {rpm[1]:.0f} | {100 * off:+.0f} % | {us[way][1]} |",
                        flush=True,
                    )
    print(f"\n{wrong} off by more than {100 * NEAR:.0f} %")
    sys.exit(wrong > 0)


main()

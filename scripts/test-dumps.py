"""Calls between two Chromiums over a link, each with a cause that this script makes at a time that it knows, as
chrome://webrtc-internals dumps them: `analects import webrtc-internals` has to name each cause within two seconds of when it
began and ended, and nothing where nothing was. Needs Chromium, and /dev/net/tun; a minute for each cause. With a folder in
ANALECTS_DUMPS the dumps stay there.

test-dumps.py [--short] [PROGRAM [CAUSE...]]   (--short: the first three)
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from chromium import Browser
from made_call import SCRIPT

# When a cause begins and ends, in seconds of the call, and how long the call is.
FROM, UNTIL, LASTS = 20, 26, 40
NEAR = 2
# The link begins so many seconds before the call at most.
BEGIN = 8
RATE = "8mbit"
# A full buffer waits for 300 ms: the timeline tells of 100.
LANE = f'rate = "{RATE}", buffer = "200p"'
GOOD = f"{LANE}, up = {{ {LANE} }}"


def steps(rate):
    """A link's rate that is another one in the middle."""
    return f'steps = "0s {RATE}; {BEGIN + FROM}s {rate}; {BEGIN + UNTIL}s {RATE}", buffer = "200p"'


PAGE = f"""<!doctype html><title>call</title><script>{SCRIPT}""" + """
let peer;
const make = () => {
    peer = end(made());
    watch(peer);
};
const described = async () => {
    while (peer.iceGatheringState !== "complete") await new Promise(done => setTimeout(done, 20));
    return JSON.stringify(peer.localDescription);
};
const offer = async () => { make(); await peer.setLocalDescription(); return described(); };
const answer = async offer => {
    make();
    await peer.setRemoteDescription(offer);
    await peer.setLocalDescription();
    return described();
};
const accept = answer => peer.setRemoteDescription(answer).then(() => true);
const active = on => {
    const sender = peer.getSenders().find(sender => sender.track.kind === "video");
    const parameters = sender.getParameters();
    for (const encoding of parameters.encodings) encoding.active = on;
    return sender.setParameters(parameters).then(() => true);
};
</script>"""

STREAM = 7500


class Cause:
    """What is done to a call, and what a dump is to say of it."""

    def __init__(self, names, link=GOOD, near=None, far=None, whole=False, stays=False, beside=()):
        self.names, self.link, self.near, self.far = names, link, near, far
        # What follows from it, and may stand there, too.
        self.beside = set(beside)
        # All the time; what a sender believes of its line comes back long after the line.
        self.whole, self.stays = whole, stays

    def is_named(self, found, span):
        """Whether the timeline has it, from and until then."""
        right = [at for at in found if at[2] in self.names]
        if any(at[2] not in self.names | self.beside for at in found):
            return False
        if not self.names:
            return True
        if self.whole:
            return self.names == {at[2] for at in right if at[1] - at[0] > LASTS / 2}
        begins = [at for at in right if abs(at[0] - span[0]) <= NEAR]
        return any(abs(at[1] - span[1]) <= NEAR or (self.stays and at[1] > span[1]) for at in begins)


CAUSES = {
    "none": Cause(set()),
    "loss": Cause({"loss, received", "loss, sent"}, link=GOOD + ', loss = "5%"', whole=True),
    "outage": Cause({"outage"}, link=f"{steps('0mbit')}, up = {{ {steps('0mbit')} }}", beside={"freeze"}),
    "bandwidth": Cause({"bandwidth"}, link=f"{LANE}, up = {{ {steps('150kbit')} }}", stays=True, beside={"loss, sent", "loss, received", "round trip", "freeze"}),
    "camera": Cause({"camera"}, near=("draws = false", "draws = true")),
    "far camera": Cause({"far camera"}, far=("draws = false", "draws = true"), beside={"freeze"}),
    "off": Cause({"switched off"}, near=("active(false)", "active(true)")),
    "upload": Cause({"round trip"}, near="upload", beside={"loss, sent"}),
    "download": Cause({"round trip"}, near="download", beside={"loss, received"}),
}


def handed(file, text=None):
    """Leaves a message for the other end, or waits for one."""
    if text is not None:
        file.with_suffix(".part").write_text(text)
        file.with_suffix(".part").rename(file)
        return None
    until = time.monotonic() + 60
    while not file.exists():
        if time.monotonic() > until:
            sys.exit(f"test-dumps: error: {file.name} never came")
        time.sleep(0.1)
    return file.read_text()


def serve():
    """Takes and gives bytes for ever: what uploads and downloads talk to."""
    listener = socket.create_server(("", STREAM))

    def one(connection):
        with connection:
            down = connection.recv(1) == b"d"
            try:
                while down:
                    connection.sendall(bytes(65536))
                while connection.recv(65536):
                    pass
            except OSError:
                pass

    while True:
        threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()


def load(way, until):
    """Two transfers for as long as that."""
    ends = []
    for _ in range(2):
        connection = socket.create_connection((os.environ["ANALECTS_FAR"], STREAM))
        connection.sendall(way[:1].encode())
        connection.settimeout(0.2)
        ends.append(connection)

    def one(connection):
        with connection:
            while time.monotonic() < until:
                try:
                    if way == "upload":
                        connection.send(bytes(16384))
                    elif not connection.recv(65536):
                        break
                except TimeoutError:
                    pass

    for connection in ends:
        threading.Thread(target=one, args=(connection,), daemon=True).start()


def end(role, cause, folder):
    """One end of a call: the near one dumps."""
    cause = CAUSES[cause]
    page = folder / f"{role}.html"
    page.write_text(PAGE)
    inner = folder / role
    inner.mkdir()
    if role == "far":
        threading.Thread(target=serve, daemon=True).start()
    browser = Browser(inner)
    try:
        internals = browser.internals() if role == "near" else None
        call = browser.tab(page.as_uri())
        time.sleep(1)
        if role == "far":
            handed(folder / "offer", browser.run(call, "offer()"))
            browser.run(call, f"accept({handed(folder / 'answer')})")
        else:
            handed(folder / "answer", browser.run(call, f"answer({handed(folder / 'offer')})"))
        until = time.monotonic() + 60
        while not (lasted := browser.run(call, "lasted()") or 0):
            if time.monotonic() > until:
                sys.exit("test-dumps: error: no picture of the call came within 60 s")
            time.sleep(0.1)
        began = time.monotonic() - lasted
        done = cause.near if role == "near" else cause.far
        for at, script in [(FROM, 0), (UNTIL, 1)]:
            time.sleep(max(0, began + at - time.monotonic()))
            if isinstance(done, tuple):
                browser.run(call, done[script])
            elif done and script == 0:
                load(done, began + UNTIL)
        time.sleep(max(0, began + LASTS - time.monotonic()))
        if role == "near":
            (folder / "dump.json").write_bytes(browser.dump(internals))
            (folder / "began").write_text(str(time.time() - (time.monotonic() - began)))
        else:
            time.sleep(60)
    finally:
        browser.end()


def first(dump):
    """When the first sample was taken, in seconds since 1970: the second zero of the timeline."""
    times = []
    for connection in json.loads(dump)["PeerConnections"].values():
        for name, series in connection["stats"].items():
            if name.endswith("-timestamp") and series["statsType"] in ("inbound-rtp", "outbound-rtp"):
                times += json.loads(series["values"]) if isinstance(series["values"], str) else series["values"]
    return min(times) / 1000


def told(text):
    """What the timeline has: from, to, cause."""
    for line in text.splitlines():
        found = re.match(r" *(\d+\.\d) +(\d+\.\d)  (.*?)  ", line)
        if found:
            yield float(found[1]), float(found[2]), found[3].strip()


def ended(command):
    """A command with all that it begins, which a time limit ends, too."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as began:
        try:
            out, err = began.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            os.killpg(began.pid, signal.SIGTERM)
            out, err = began.communicate()
        return subprocess.CompletedProcess(command, began.returncode, out, err)


def tried(program, name):
    """The timeline of a call with that cause, and when that cause was, in seconds of the timeline."""
    link = CAUSES[name].link
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as where:
        folder = pathlib.Path(where)
        (folder / "line.toml").write_text(f'name = "line"\nlink = {{ rtt = "40ms", {link} }}\n')
        this = f"exec python3 {pathlib.Path(__file__).resolve()} end"
        ends = [f"{this} {role} '{name}' {folder}" for role in ("far", "near")]
        began = time.time()
        command = [program, "link", folder / "line.toml", "--far", ends[0], "--", "sh", "-c", ends[1]]
        ran = ended(command)
        dump = folder / "dump.json"
        if not dump.exists():
            sys.exit(f"test-dumps: error: {name}: {ran.stdout}{ran.stderr}")
        if keep := os.environ.get("ANALECTS_DUMPS"):
            pathlib.Path(keep, f"{name}.json").write_bytes(dump.read_bytes())
        command = [program, "import", "webrtc-internals", dump, "--out", folder / "call.toml"]
        read = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if read.returncode:
            sys.exit(f"test-dumps: error: {name}: {read.stderr}")
        zero = first(dump.read_text())
        # A link has its steps from when it began.
        begins = began + BEGIN if "steps" in link else float((folder / "began").read_text())
        return list(told(read.stdout)), [begins - zero + at for at in (FROM, UNTIL)]


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--short"]
    names = list(CAUSES)[: 3 if len(args) < len(sys.argv) - 1 else None]
    if args:
        program = args[0]
    else:
        built = pathlib.Path(__file__).with_name("built.sh")
        program = subprocess.run(["sh", built, "analects"], capture_output=True, text=True, check=True).stdout.strip()
    chromium = os.environ.get("ANALECTS_CHROMIUM") or shutil.which("chromium")
    namespaces = subprocess.run(["unshare", "-Urnm", "true"], stderr=subprocess.DEVNULL, check=False)
    if not chromium or not os.access("/dev/net/tun", os.W_OK) or namespaces.returncode:
        print("test-dumps: SKIPPED, nothing was tested: no Chromium, /dev/net/tun or namespaces", file=sys.stderr)
        return
    wrong = 0
    for name in args[1:] or names:
        found, span = tried(pathlib.Path(program).resolve(), name)
        good = CAUSES[name].is_named(found, span)
        wrong += not good
        shown = "; ".join(f"{what} {since:.1f} to {until:.1f}" for since, until, what in found) or "nothing"
        print(f"{'ok' if good else 'WRONG'}: {name}, {span[0]:.1f} to {span[1]:.1f} s: {shown}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["end"]:
        end(sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]))
    else:
        main()

"""Records a call of a headless Chromium with itself, over loopback, as chrome://webrtc-internals dumps it.

usage: record-dump.py FILE [SECONDS]

The seconds, 20 without a number, begin with the first picture that is decoded: on a slow host the call needs a
while to come about. For `analects import webrtc-internals`. Chromium is driven by its debugging pipe.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PAGE = """<!doctype html><title>call</title><script>
/* When the first picture was decoded, by performance.now(). */
let first = null;
async function watch(connection) {
    for (const report of (await connection.getStats()).values())
        if (report.type === "inbound-rtp" && report.framesDecoded > 0) first ??= performance.now();
}
async function call() {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [640, 360];
    const context = canvas.getContext("2d");
    let drawn = 0;
    setInterval(() => {
        drawn += 1;
        for (let n = 0; n < 20; n += 1) {
            context.fillStyle = `hsl(${(drawn * 7 + n * 31) % 360} 80% 50%)`;
            context.fillRect((n * 97 + drawn * 11) % 640, (n * 53 + drawn * 7) % 360, 90, 60);
        }
    }, 40);
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const sound = audio.createMediaStreamDestination();
    tone.connect(sound);
    tone.start();
    const stream = canvas.captureStream(25);
    stream.addTrack(sound.stream.getAudioTracks()[0]);
    const [near, far] = [new RTCPeerConnection(), new RTCPeerConnection()];
    for (const [from, to] of [[near, far], [far, near]]) {
        from.onicecandidate = event => event.candidate && to.addIceCandidate(event.candidate);
        from.ontrack = event => {
            const video = document.createElement("video");
            video.muted = true;
            video.srcObject = new MediaStream([event.track]);
            video.play();
        };
        stream.getTracks().forEach(track => from.addTrack(track, stream));
    }
    await near.setLocalDescription();
    await far.setRemoteDescription(near.localDescription);
    await far.setLocalDescription();
    await near.setRemoteDescription(far.localDescription);
    setInterval(watch, 200, near);
}
call();
const lasted = () => first === null ? 0 : (performance.now() - first) / 1000;
</script>"""

OPTIONS = [
    "--remote-debugging-pipe",
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--autoplay-policy=no-user-gesture-required",
]
# Seconds in which a picture has to come.
PATIENCE = 60
DUMP = """document.getElementById("dump-checkbox").checked = false;
document.getElementById("dump-click-target").click();"""


class Browser:
    """A browser, and its debugging pipe: descriptors 3 and 4 of it."""

    def __init__(self, folder):
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()
        line = f'exec "$@" 3<&{from_us} 4>&{to_us} </dev/null >/dev/null 2>&1'
        program = os.environ.get("ANALECTS_CHROMIUM", "chromium")
        words = [program, *OPTIONS, f"--user-data-dir={folder}/profile", "about:blank"]
        self.child = subprocess.Popen(["sh", "-c", line, "sh", *words], pass_fds=(from_us, to_us))
        os.close(from_us)
        os.close(to_us)
        self.to = os.fdopen(to_browser, "wb", 0)
        self.answers = os.fdopen(from_browser, "rb", 0)
        self.rest = b""
        self.asked = 0

    def message(self):
        while b"\0" not in self.rest:
            read = self.answers.read(65536)
            if not read:
                sys.exit("record-dump: error: the browser ended")
            self.rest += read
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def ask(self, method, session=None, **params):
        self.asked += 1
        question = {"id": self.asked, "method": method, "params": params}
        if session:
            question["sessionId"] = session
        self.to.write(json.dumps(question).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.asked:
                if "error" in answer:
                    sys.exit(f"record-dump: error: {method}: {answer['error']}")
                return answer["result"]

    def tab(self, url):
        target = self.ask("Target.createTarget", url=url)["targetId"]
        return self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]


def wait(browser, call, seconds):
    """Until the call has had so many seconds of pictures."""
    began = time.monotonic()
    while True:
        time.sleep(0.5)
        asked = browser.ask("Runtime.evaluate", session=call, expression="lasted()")
        lasted = asked["result"].get("value", 0)
        if lasted >= seconds:
            return
        if lasted == 0 and time.monotonic() > began + PATIENCE:
            sys.exit(f"record-dump: error: no picture of the call came within {PATIENCE} s")


def record(file, seconds):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = pathlib.Path(folder) / "call.html"
        page.write_text(PAGE)
        browser = Browser(folder)
        try:
            internals = browser.tab("chrome://webrtc-internals")
            # The page knows the connections that begin while it is there.
            time.sleep(3)
            browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
            call = browser.tab(page.as_uri())
            wait(browser, call, seconds)
            browser.ask("Runtime.evaluate", session=internals, expression=DUMP)
            dump = pathlib.Path(folder) / "webrtc_internals_dump.txt"
            for _ in range(100):
                if dump.exists():
                    break
                time.sleep(0.2)
            else:
                sys.exit("record-dump: error: the page wrote no dump within 20 s")
            pathlib.Path(file).write_bytes(dump.read_bytes())
        finally:
            browser.child.kill()
            browser.child.wait()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    record(sys.argv[1], float(sys.argv[2]) if len(sys.argv) == 3 else 20.0)

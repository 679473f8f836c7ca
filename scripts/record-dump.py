"""Records a call of a headless Chromium with itself, over loopback, as chrome://webrtc-internals dumps it.

usage: record-dump.py FILE [SECONDS]

The seconds, 20 without a number, begin with the first picture that is decoded: on a slow host the call needs a
while to come about. For `analects import webrtc-internals`. Chromium is driven by its debugging pipe.
"""

import pathlib
import sys
import tempfile
import time

from chromium import Browser

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

# Seconds in which a picture has to come.
PATIENCE = 60


def wait(browser, call, seconds):
    """Until the call has had so many seconds of pictures."""
    began = time.monotonic()
    while True:
        time.sleep(0.5)
        lasted = browser.run(call, "lasted()") or 0
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
            internals = browser.internals()
            call = browser.tab(page.as_uri())
            wait(browser, call, seconds)
            pathlib.Path(file).write_bytes(browser.dump(internals))
        finally:
            browser.end()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    record(sys.argv[1], float(sys.argv[2]) if len(sys.argv) == 3 else 20.0)

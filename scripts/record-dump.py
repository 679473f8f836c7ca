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
from made_call import SCRIPT

PAGE = f"""<!doctype html><title>call</title><script>{SCRIPT}""" + """
async function call() {
    const stream = made();
    const [near, far] = [end(stream), end(stream)];
    for (const [from, to] of [[near, far], [far, near]])
        from.onicecandidate = event => event.candidate && to.addIceCandidate(event.candidate);
    await near.setLocalDescription();
    await far.setRemoteDescription(near.localDescription);
    await far.setLocalDescription();
    await near.setRemoteDescription(far.localDescription);
    watch(near);
}
call();
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

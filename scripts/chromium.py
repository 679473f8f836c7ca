"""A headless Chromium, driven by its debugging pipe, and what chrome://webrtc-internals dumps of its calls."""

import json
import os
import pathlib
import subprocess
import sys
import time

OPTIONS = [
    "--remote-debugging-pipe",
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--autoplay-policy=no-user-gesture-required",
    # Addresses as they are, instead of names that only a multicast resolver knows.
    "--disable-features=WebRtcHideLocalIpsWithMdns",
]
DUMP = """document.getElementById("dump-checkbox").checked = false;
document.getElementById("dump-click-target").click();"""
# For the page that makes dumps, to know the connections that begin while it is there.
OPENS = 3
# Seconds in which a dump is written.
PATIENCE = 20


class Browser:
    """A browser with a profile in a folder, and its debugging pipe: descriptors 3 and 4 of it."""

    def __init__(self, folder):
        self.folder = folder
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
                sys.exit("chromium: error: the browser ended")
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
                    sys.exit(f"chromium: error: {method}: {answer['error']}")
                return answer["result"]

    def tab(self, url):
        target = self.ask("Target.createTarget", url=url)["targetId"]
        return self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def run(self, session, script):
        """The value of a script in a tab, and of what it promises."""
        told = self.ask("Runtime.evaluate", session=session, expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            sys.exit(f"chromium: error: {script[:80]}: {told['exceptionDetails']}")
        return told["result"].get("value")

    def internals(self):
        """The tab that knows the calls which begin from now on."""
        tab = self.tab("chrome://webrtc-internals")
        time.sleep(OPENS)
        self.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.folder))
        return tab

    def dump(self, internals):
        """What that tab dumps."""
        self.run(internals, DUMP)
        file = pathlib.Path(self.folder) / "webrtc_internals_dump.txt"
        until = time.monotonic() + PATIENCE
        while not file.exists():
            if time.monotonic() > until:
                sys.exit(f"chromium: error: the page wrote no dump within {PATIENCE} s")
            time.sleep(0.2)
        return file.read_bytes()

    def end(self):
        self.child.kill()
        self.child.wait()

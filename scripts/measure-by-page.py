"""Measures by the page of `analects probe serve --page` in a headless Chromium, and prints what it found as JSON.

usage: measure-by-page.py URL [PICTURE.png]

Its certificate is trusted as by a person who looks past the warning; that of the call is known by its hash.
"""

import base64
import importlib.util
import json
import pathlib
import sys
import tempfile
import time

# The page takes half a minute.
PATIENCE = 90
# A phone's.
WIDTH, HEIGHT = 390, 1800
STATE = """JSON.stringify({
    found, failed, ready: typeof start === "function",
    text: document.querySelector("main")?.innerText,
    wide: document.documentElement.scrollWidth,
    link: document.getElementById("playground").hidden ? null : document.getElementById("playground").href,
})"""


def chromium():
    """The driver of a browser that another script has."""
    path = pathlib.Path(__file__).with_name("record-dump.py")
    spec = importlib.util.spec_from_file_location("record_dump", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.OPTIONS.append("--ignore-certificate-errors")
    return module.Browser


def measure(url, picture):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = chromium()(folder)
        try:
            tab = browser.tab(url)
            size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": True}
            browser.ask("Emulation.setDeviceMetricsOverride", session=tab, **size)

            def state():
                asked = browser.ask("Runtime.evaluate", session=tab, expression=STATE)["result"]
                return json.loads(asked["value"]) if asked["type"] == "string" else {"ready": False}

            until = time.monotonic() + PATIENCE
            while not state()["ready"]:
                if time.monotonic() > until:
                    sys.exit(f"measure-by-page: error: {url}: no page")
                time.sleep(0.2)
            click = "document.getElementById('start').click()"
            browser.ask("Runtime.evaluate", session=tab, expression=click)
            while True:
                time.sleep(0.5)
                seen = state()
                if seen["failed"]:
                    sys.exit(f"measure-by-page: error: {seen['failed']}")
                if seen["found"] and seen["text"]:
                    break
                if time.monotonic() > until:
                    sys.exit("measure-by-page: error: no result")
            time.sleep(1)
            seen = state()
            if picture:
                shot = browser.ask("Page.captureScreenshot", session=tab)["data"]
                pathlib.Path(picture).write_bytes(base64.b64decode(shot))
            print(json.dumps(seen))
        finally:
            browser.child.kill()
            browser.child.wait()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    measure(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None)

#!/usr/bin/env python3
"""Makes scenarios/inputs: two capacity traces and two pages that anybody may use, in the formats that people have.

    python3 scripts/example-inputs.py [--check]

They are nobody's recordings. --check writes nothing, and fails if the files there are others.
"""

import datetime
import json
import math
import pathlib
import random
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "scenarios/inputs"
BEGAN = datetime.datetime(2026, 1, 1, 20, tzinfo=datetime.timezone.utc)

# Kinds of what a page loads: type, median kB, spread (deviation of the logarithm), share of requests.
KINDS = [
    ("text/css", 12, 0.9, 2),
    ("application/javascript", 22, 1.1, 9),
    ("image/webp", 18, 1.2, 12),
    ("font/woff2", 28, 0.4, 2),
    ("application/json", 3, 1.0, 3),
]


def wifi():
    """Two minutes of an office's Wi-Fi, ten samples a second: some 25 Mbit/s, and a dip every quarter of a minute."""
    chance = random.Random("wifi")
    lines = ["# seconds megabits_per_second; made by scripts/example-inputs.py"]
    level, dip = 0.0, 0
    for tick in range(1200):
        level = 0.9 * level + chance.gauss(0, 0.15)
        if dip == 0 and chance.random() < 1 / 150:
            dip = chance.randint(5, 20)
        dip = max(dip - 1, 0)
        rate = (2.0 if dip else 25.0) * math.exp(level)
        lines.append(f"{tick / 10:.1f} {rate:.2f}")
    return "\n".join(lines) + "\n"


def mobile():
    """Twenty seconds of a mobile link as Mahimahi writes it: the milliseconds at which 1500 bytes can leave."""
    chance = random.Random("mobile")
    times, owed, level = [], 0.0, 0.0
    for millisecond in range(20_000):
        if millisecond % 50 == 0:
            level = 0.95 * level + chance.gauss(0, 0.2)
        # 6 Mbit/s are half a packet a millisecond.
        owed += 0.5 * math.exp(level)
        while owed >= 1:
            owed -= 1
            times.append(millisecond)
    return "".join(f"{time}\n" for time in times)


class Page:
    """A page as a browser's developer tools export it (HAR 1.2), loaded over 20 Mbit/s."""

    def __init__(self, name, others, requests):
        self.chance = random.Random(name)
        self.name = name
        self.hosts = [f"www.{name}.example"] + [f"{part}.example" for part in others]
        self.requests = requests

    def har(self):
        document = self.entry(self.hosts[0], "", "text/html", 40, 0.0, 120.0)
        entries = [document]
        weights = [kind[3] for kind in KINDS]
        for number in range(1, self.requests):
            (kind, median, spread, _) = self.chance.choices(KINDS, weights)[0]
            host = self.chance.choices(self.hosts, [4, *([1] * (len(self.hosts) - 1))])[0]
            # Half of what a page loads is found in the document, the rest by what that loads.
            found = 0.13 if number <= self.requests // 2 else self.chance.uniform(0.3, 1.2)
            size = self.chance.lognormvariate(math.log(median), spread)
            entries.append(self.entry(host, f"{number}", kind, size, found, self.chance.uniform(15, 60)))
        log = {
            "version": "1.2",
            "creator": {"name": "scripts/example-inputs.py", "version": "1"},
            "pages": [{
                "startedDateTime": self.moment(0.0),
                "id": "page_1",
                "title": self.name,
                "pageTimings": {"onContentLoad": 400, "onLoad": 1900},
            }],
            "entries": sorted(entries, key=lambda entry: entry["startedDateTime"]),
        }
        lines = json.dumps(log["entries"], separators=(",", ":")).replace('},{"pageref"', '},\n{"pageref"')
        log["entries"] = "ENTRIES"
        return json.dumps({"log": log}, indent=1).replace('"ENTRIES"', lines) + "\n"

    def moment(self, seconds):
        return (BEGAN + datetime.timedelta(seconds=seconds)).isoformat(timespec="milliseconds")

    def entry(self, host, path, kind, kilobytes, found, wait):
        size = int(kilobytes * 1000)
        place = self.hosts.index(host) + 1
        receive = round(size * 8 / 20_000, 1)
        return {
            "pageref": "page_1",
            "startedDateTime": self.moment(found),
            "time": round(wait + receive, 1),
            "request": {
                "method": "GET", "url": f"https://{host}/{path}", "httpVersion": "HTTP/2",
                "headers": [], "queryString": [], "cookies": [], "headersSize": 420, "bodySize": 0,
            },
            "response": {
                "status": 200, "statusText": "OK", "httpVersion": "HTTP/2", "headers": [], "cookies": [],
                "content": {"size": size, "mimeType": kind}, "redirectURL": "", "headersSize": 310,
                "bodySize": size,
            },
            "cache": {},
            # Documentation addresses (RFC 5737).
            "serverIPAddress": f"192.0.2.{place}",
            "timings": {"send": 0, "wait": round(wait, 1), "receive": receive},
        }


FILES = {
    "wifi.txt": wifi,
    "mobile.mahimahi": mobile,
    "pages/news.har": Page("news", ["images", "ads", "fonts", "video", "metrics"], 70).har,
    "pages/shop.har": Page("shop", ["images", "pay", "fonts"], 40).har,
}


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    for name, make in FILES.items():
        path, text = FOLDER / name, make()
        if sys.argv[1:]:
            if not path.exists() or path.read_text() != text:
                sys.exit(f"example-inputs: error: {path} is not what this makes: run it without --check")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


main()

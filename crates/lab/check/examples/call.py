#!/usr/bin/env python3
"""A call that `analects check` can test: video from the far end to the near one over UDP, with a trivial rate control.

    call.py far [--fps N] [--pause]     sends frames to whoever asks, at port 5004; stops for half a second in every two
    call.py near HOST                   asks, and prints a line of JSON twice a second, with the names of WebRTC's getStats
    call.py serve                       a server at port 5005 for what may run beside the call:
    call.py download HOST               four connections that receive from it
    call.py upload HOST                 four that send to it

Lost packets are not repaired: a frame that lacks one is not shown. The near end reports losses and delay ten times a
second; the far end slows down by a sixth when it hears of more than a few, and speeds up by a twentieth otherwise.
"""

import argparse
import json
import socket
import struct
import threading
import time

PORT, BESIDE = 5004, 5005
LEAST, MOST = 150e3, 1.5e6  # bit/s
SIZE = 1100  # bytes of a packet
# Frame, packet of it, packets of it, packet of all, when it was sent, the report that came last, and how long ago.
HEAD = struct.Struct("!IHHIddd")
# When it was sent, share of packets lost, delay beyond the least one in s.
REPORT = struct.Struct("!ddd")
REPORTS = 0.1
STATISTICS = 0.5


def far(options):
    ends = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ends.bind(("0.0.0.0", PORT))
    rate, frame, number = 500e3, 0, 0
    report, peer = ends.recvfrom(64)
    ends.setblocking(False)
    heard = time.monotonic()
    due = begun = heard
    while True:
        due += 1 / options.fps
        time.sleep(max(due - time.monotonic(), 0))
        while True:
            try:
                report, peer = ends.recvfrom(64)
            except OSError:
                break
            heard = time.monotonic()
            _, lost, late = REPORT.unpack(report)
            rate *= 5 / 6 if lost > 0.1 or late > 0.1 else 1.05
            rate = min(max(rate, LEAST), MOST)
        if options.pause and (due - begun) % 2 > 1.5:
            continue
        count = max(int(rate / options.fps / 8 / SIZE + 0.5), 1)
        size = min(int(rate / options.fps / 8 / count), SIZE)
        for packet in range(count):
            now = time.monotonic()
            asked = REPORT.unpack(report)[0]
            head = HEAD.pack(frame, packet, count, number, now, asked, now - heard)
            number += 1
            try:
                ends.sendto(head + bytes(max(size - HEAD.size, 0)), peer)
            except OSError:
                pass
        frame += 1


class Call:
    """What the near end knows."""

    def __init__(self):
        self.frames = {}
        self.shown = []
        self.freezes, self.frozen = 0, 0.0
        self.received, self.bytes, self.highest = 0, 0, -1
        self.reported = (0, 0)
        self.least, self.late, self.rtt = None, 0.0, None

    def take(self, data, now):
        frame, _, count, number, sent, asked, held = HEAD.unpack(data[: HEAD.size])
        self.received += 1
        self.bytes += len(data)
        self.highest = max(self.highest, number)
        delay = now - sent
        self.least = delay if self.least is None else min(self.least, delay)
        self.late = max(self.late, delay - self.least)
        if asked > 0:
            self.rtt = now - asked - held
        self.frames[frame] = self.frames.get(frame, 0) + 1
        if self.frames[frame] == count:
            self.show(now)
            self.frames = {other: got for other, got in self.frames.items() if other > frame}

    def show(self, now):
        """A freeze is libwebrtc's: three times the usual gap, and 150 ms more than it."""
        if self.shown:
            gap = now - self.shown[-1]
            gaps = [b - a for a, b in zip(self.shown[-31:], self.shown[-30:])]
            usual = sum(gaps) / len(gaps) if gaps else 1 / 30
            if gap >= max(3 * usual, usual + 0.15):
                self.freezes += 1
                self.frozen += gap
        self.shown.append(now)

    def report(self, now):
        sent, got = self.highest + 1 - self.reported[0], self.received - self.reported[1]
        self.reported = (self.highest + 1, self.received)
        late, self.late = self.late, 0.0
        return REPORT.pack(now, max(sent - got, 0) / max(sent, 1), late)

    def statistics(self, now):
        recent = sum(1 for shown in self.shown[-200:] if shown > now - 1)
        told = {
            "t": now,
            "framesPerSecond": recent,
            "freezeCount": self.freezes,
            "totalFreezesDuration": self.frozen,
            "packetsLost": self.highest + 1 - self.received,
            "packetsReceived": self.received,
            "bytesReceived": self.bytes,
        }
        if self.rtt is not None:
            told["currentRoundTripTime"] = self.rtt
        return json.dumps(told)


def near(options):
    ends = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ends.connect((options.host, PORT))
    call = Call()
    reports = statistics = time.monotonic()
    while True:
        now = time.monotonic()
        if now >= reports:
            ends.send(call.report(now))
            reports += REPORTS
        if now >= statistics:
            print(call.statistics(now), flush=True)
            statistics += STATISTICS
        ends.settimeout(max(min(reports, statistics) - time.monotonic(), 0.001))
        try:
            call.take(ends.recv(2048), time.monotonic())
        except OSError:
            pass


def serve(_):
    server = socket.create_server(("0.0.0.0", BESIDE), backlog=16)
    while True:
        end, _ = server.accept()
        threading.Thread(target=bulk, args=(end, end.recv(1) == b"d"), daemon=True).start()


def bulk(end, sends):
    """Sends, or receives, as fast as it goes."""
    try:
        while True:
            end.sendall(bytes(1 << 16)) if sends else end.recv(1 << 16)
    except OSError:
        pass


def beside(options):
    is_download = options.part == "download"
    for _ in range(4):
        end = socket.create_connection((options.host, BESIDE), 10)
        end.settimeout(None)
        end.sendall(b"d" if is_download else b"u")
        threading.Thread(target=bulk, args=(end, not is_download), daemon=True).start()
    threading.Event().wait()


def main():
    parser = argparse.ArgumentParser()
    parts = parser.add_subparsers(dest="part", required=True)
    one = parts.add_parser("far")
    one.add_argument("--fps", type=float, default=30)
    one.add_argument("--pause", action="store_true")
    one.set_defaults(run=far)
    parts.add_parser("serve").set_defaults(run=serve)
    for name, run in [("near", near), ("download", beside), ("upload", beside)]:
        one = parts.add_parser(name)
        one.add_argument("host")
        one.set_defaults(run=run)
    options = parser.parse_args()
    options.run(options)


main()

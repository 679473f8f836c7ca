"""Both ends of a link that probe-links.py made: the probe, a call of Python's own beside it, and cross traffic.

probe-links-ends.py far PROGRAM KEY RATE
probe-links-ends.py near PROGRAM down|up SECONDS CROSS MBIT      (CROSS: none, udp or tcp; MBIT: of the UDP traffic)
"""

import json
import multiprocessing
import os
import select
import socket
import subprocess
import sys
import threading
import time

CALL, CROSS = 7500, 7501
# What has to be in time has a process of its own: threads of Python's take turns.
FORKS = multiprocessing.get_context("fork")
# Thirty frames a second, of a picture and a sound.
EVERY, SIZES = 1 / 30, (1000, 120)


def served(way, request):
    """The answer to a packet of the call: as long as asked, so that a direction carries a call and the other does not."""
    return request + bytes(SIZES[request[8]] - len(request)) if way == "down" else request[:9]


def far(program, key, rate):
    command = [program, "probe", "serve", "--listen", "0.0.0.0:7411", "--key", key, "--rate", rate, "--rate-in-all", rate]
    FORKS.Process(target=echo, args=(os.getpid(),), daemon=True).start()
    threading.Thread(target=crossed, daemon=True).start()
    subprocess.run([*command, "--bytes", "100GB", "--bytes-in-all", "100GB"], check=False)


def echo(parent):
    ears = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ears.bind(("0.0.0.0", CALL))
    ears.settimeout(1)
    while os.getppid() == parent:
        try:
            data, there = ears.recvfrom(2048)
        except TimeoutError:
            continue
        ears.sendto(served("down" if data[9:10] == b"d" else "up", data), there)


def flood(sock, there, mbit, until):
    """Packets of 1200 bytes at an even pace."""
    sent, start = 0, time.monotonic()
    while (now := time.monotonic()) < until:
        while sent * 9824e-6 < (now - start) * mbit:
            sock.sendto(bytes(1200), there)
            sent += 1
        time.sleep(0.001)


def crossed():
    """Serves cross traffic: a line says what, which way, how fast and for how long."""
    door = socket.create_server(("0.0.0.0", CROSS))
    while True:
        line, there = door.accept()
        kind, way, mbit, seconds, port = line.makefile().readline().split()
        until = time.monotonic() + float(seconds)
        if kind == "udp" and way == "down":
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            threading.Thread(target=flood, args=(sock, (there[0], int(port)), float(mbit), until), daemon=True).start()
        elif kind == "tcp":
            threading.Thread(target=pour if way == "down" else drain, args=(line, until), daemon=True).start()


def pour(line, until):
    try:
        while time.monotonic() < until:
            line.sendall(bytes(65536))
    except OSError:
        pass
    line.close()


def drain(line, until):
    line.settimeout(1)
    try:
        while time.monotonic() < until and line.recv(65536):
            pass
    except OSError:
        pass


def cross(far_side, kind, way, mbit, seconds):
    """Begins cross traffic."""
    if kind == "none":
        return
    ears = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ears.bind(("0.0.0.0", 0))
    line = socket.create_connection((far_side, CROSS), timeout=10)
    line.sendall(f"{kind} {way} {mbit} {seconds} {ears.getsockname()[1]}\n".encode())
    until = time.monotonic() + seconds
    if kind == "tcp":
        FORKS.Process(target=drain if way == "down" else pour, args=(line, until), daemon=True).start()
    elif way == "up":
        FORKS.Process(target=flood, args=(ears, (far_side, CROSS), mbit, until), daemon=True).start()


def call(far_side, way, over):
    """Calls until `over`: when each frame left, and how long its last packet took there and back (none: lost)."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((far_side, CALL))
    frames, start = [], time.monotonic()
    while True:
        at = start + len(frames) * EVERY
        while (now := time.monotonic()) < at or over.is_set():
            ready, _, _ = select.select([sock], [], [], max(0.0, at - now))
            if not ready:
                if over.is_set():
                    return frames
                continue
            arrive(frames, sock)
        for part, size in enumerate(SIZES):
            head = len(frames).to_bytes(8) + bytes([part]) + way[0].encode()
            sock.send(head + bytes(size - len(head)) if way == "up" else head)
        frames.append([time.monotonic(), None])


def arrive(frames, sock):
    try:
        data = sock.recv(2048)
    except OSError:
        return
    number, part = int.from_bytes(data[:8]), data[8]
    if part == len(SIZES) - 1 and number < len(frames):
        frames[number][1] = time.monotonic() - frames[number][0]


def near(program, way, seconds, kind, mbit):
    far_side, over, frames = os.environ["ANALECTS_FAR"], threading.Event(), []
    cross(far_side, kind, way, float(mbit), float(seconds) + 20)
    caller = threading.Thread(target=lambda: frames.extend(call(far_side, way, over)))
    caller.start()
    time.sleep(1)
    command = [program, "probe", far_side, "--trust-anyone", "--seconds", seconds, f"--{way}", "--json"]
    probed = subprocess.run(command, capture_output=True, text=True, check=False)
    end = time.monotonic()
    over.set()
    caller.join()
    # The probe's own call counts from a second and a half after its data begin.
    loaded = [frame for frame in frames if end - float(seconds) + 1.5 < frame[0] < end - 0.2]
    took = sorted(rtt for _, rtt in loaded if rtt is not None)
    found = [line for line in probed.stdout.splitlines() if line.startswith("{")]
    beside = {"frames": len(loaded), "lost": 1 - len(took) / max(len(loaded), 1)}
    if took:
        beside |= {"p50": 1e3 * took[len(took) // 2], "p95": 1e3 * took[int(0.95 * len(took))]}
    print(json.dumps({"probe": json.loads(found[-1]) if found else None, "said": probed.stderr[-300:], "call": beside}))


if __name__ == "__main__":
    # What others do on this machine is to delay neither call.
    if os.geteuid() == 0:
        os.nice(-15)
    {"far": far, "near": near}[sys.argv[1]](*sys.argv[2:])

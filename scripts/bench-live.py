#!/usr/bin/env python3
"""The speed of `analects link`: two Cubic flows through queues of 1000 packets, as much as goes.

Beside mahimahi's mm-link and rattan, in the same run: where the environment's MAHIMAHI names the folder of a
build, in which mm-link is setuid root, and where its RATTAN names the program. Each discipline at 1 Gbit/s on one
processor. Traces in Mahimahi's form beside the same rates. Beside `analects gateway`, as much as goes and at rates.
Writes target/bench-live.json: rates in Gbit/s, and the processor's time per byte of the whole process that carries
them. Some ten minutes, as root.
"""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SECONDS = 5
ROUNDS = 3
PORT = 5209
FLOWS = 2
PIECE = 1 << 20
# Rates at which the gateway stands beside the link; none for as much as goes.
RATES = [None, "1gbit", "200mbit", "50mbit"]
# Mbit/s of traces, and how long these are: milliseconds.
TRACED = [1000, 300, 100]
PERIOD = 100
# Disciplines that hold traffic to a rate of their own, and one that does not hold it back here.
LIMITING = {"policer": "policer,rate=10gbit,burst=10mb", "pacer": "pacer,rate=10gbit"}
# More than any of the links carries here.
CAPACITY = "40gbit"


def fetch(address):
    """Receives for a while, and prints how much, in what time, and with how much of the processor."""
    counts = [0] * FLOWS
    end = time.monotonic() + SECONDS

    def receive(place):
        buffer = bytearray(PIECE)
        with socket.create_connection((address, PORT), 10) as connection:
            while time.monotonic() < end:
                got = connection.recv_into(buffer)
                if got == 0:
                    return
                counts[place] += got

    start = time.monotonic()
    threads = [threading.Thread(target=receive, args=(place,)) for place in range(FLOWS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"bytes": sum(counts), "seconds": time.monotonic() - start,
                      "processor": used.ru_utime + used.ru_stime}))


def serve():
    """Sends to whoever connects, under Cubic, as long as they take it."""
    listener = socket.create_server(("0.0.0.0", PORT), backlog=16)

    def send(connection):
        piece = bytes(PIECE)
        try:
            while True:
                connection.sendall(piece)
        except OSError:
            connection.close()

    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        threading.Thread(target=send, args=(connection,), daemon=True).start()


def say(text):
    print(f"bench-live: {text}", file=sys.stderr, flush=True)


def received(command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         timeout=SECONDS + 30, check=False)
    try:
        return json.loads(run.stdout)
    except ValueError:
        sys.exit(f"bench-live: {command[0]}: {run.stdout.decode()}{run.stderr.decode()}")


def analects(program, pin, down=(), discipline="pfifo,limit=1000"):
    with tempfile.NamedTemporaryFile() as file:
        link = [program, "link", "--host", *down, "-d", discipline, "--json", file.name, "--"]
        got = received(pin + link + [sys.executable, __file__, "--fetch", "100.64.0.1"])
        processor = json.load(open(file.name))["processor_seconds"]
    return rate(got), processor / got["bytes"] * 1e9


def disciplines(program):
    """Each discipline at 1 Gbit/s, of which TCP has 0.965, on one processor: of a few runs the fastest."""
    listed = subprocess.run([program, "list", "disciplines"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    down = ["--down", "1gbit", "--up", "1gbit"]
    one = ["taskset", "-c", "0"]
    rates = {}
    for name in names:
        say(f"{name} at 1 Gbit/s")
        rates[name] = max(analects(program, one, down, LIMITING.get(name, name))[0] for _ in range(ROUNDS))
    return rates


class Router:
    """A namespace between this one, in which the server is, and that of a client."""

    def __init__(self):
        self.spaces = [subprocess.Popen(["unshare", "-n", "sleep", "3600"]) for _ in range(2)]
        here = os.readlink("/proc/self/ns/net")
        while any(os.readlink(f"/proc/{space.pid}/ns/net") == here for space in self.spaces):
            time.sleep(0.01)
        router, client = (str(space.pid) for space in self.spaces)
        self.router, self.client = (["nsenter", "-t", pid, "-n"] for pid in (router, client))
        for line in [f"link add far type veth peer name wan netns {router}",
                     "address add 10.2.0.2/24 dev far", "link set far up", "route add 10.1.0.0/24 via 10.2.0.1"]:
            self.ip([], line)
        for line in [f"link add lan type veth peer name eth0 netns {client}",
                     "address add 10.1.0.1/24 dev lan", "address add 10.2.0.1/24 dev wan",
                     "link set lan up", "link set wan up"]:
            self.ip(self.router, line)
        for line in ["address add 10.1.0.2/24 dev eth0", "link set eth0 up", "route add default via 10.1.0.1"]:
            self.ip(self.client, line)
        subprocess.run([*self.router, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"], check=True)

    @staticmethod
    def ip(space, line):
        subprocess.run([*space, "ip", *line.split()], check=True)

    def end(self):
        for space in self.spaces:
            space.kill()
            space.wait()

    def gateway(self, program, down):
        """What the client received through the gateway, and the processor's time for each byte of it."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "json")
            command = [program, "gateway", "--in", "lan", "--out", "wan", *down, "-d", "pfifo,limit=1000",
                       "--json", file, "--state", folder]
            gateway = subprocess.Popen([*self.router, *command], stderr=subprocess.PIPE)
            # Eight commands, and the rules are there.
            time.sleep(2)
            got = received([*self.client, sys.executable, __file__, "--fetch", "10.2.0.2"])
            gateway.send_signal(signal.SIGTERM)
            _, said = gateway.communicate(timeout=30)
            if gateway.returncode != 0:
                sys.exit(f"bench-live: gateway: {said.decode()}")
            counted = json.load(open(file))
        if counted["down"]["tally"]["passed_bytes"] < got["bytes"]:
            sys.exit("bench-live: packets went past the gateway")
        return rate(got), counted["processor_seconds"] / got["bytes"] * 1e9


def beside(program):
    """The gateway and the link, taking turns: of each the run with the least time per byte."""
    router = Router()
    figures = {}
    try:
        for limit in RATES:
            down = ["--down", limit] if limit else []
            say(f"the gateway, {limit or 'as much as goes'}")
            runs = [(analects(program, [], down), router.gateway(program, down)) for _ in range(ROUNDS)]
            link, gateway = (min((run[place] for run in runs), key=lambda run: run[1]) for place in range(2))
            figures[limit or "unlimited"] = {
                "link_gbps": link[0], "link_ns_per_byte": link[1],
                "gateway_gbps": gateway[0], "gateway_ns_per_byte": gateway[1],
                "ratio": gateway[1] / link[1],
            }
    finally:
        router.end()
    return figures


def other(command):
    """What came through a link of another make, and the processor's time for each byte without the receiver's."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    got = received(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - got["processor"]
    return rate(got), processor / got["bytes"] * 1e9


def inside(base):
    return ["--", "sh", "-c", f"exec python3 {os.path.abspath(__file__)} --fetch ${base}"]


def recorded(mbit):
    """A file with a trace of this rate, in Mahimahi's form: the milliseconds of 1500 bytes each."""
    trace = tempfile.NamedTemporaryFile("w", suffix=".trace")
    packets = round(mbit * 1e3 * PERIOD / 8 / 1500)
    trace.write("".join(f"{1 + packet * PERIOD // packets}\n" for packet in range(packets)))
    trace.flush()
    os.chmod(trace.name, 0o644)
    return trace


# 12 Gbit/s, so that the program and not the trace is the limit.
def mm_link(folder, pin, mbit=12000):
    with recorded(mbit) as trace:
        queues = [f"--{way}link-queue{rest}" for way in ["up", "down"]
                  for rest in ["=droptail", "-args=packets=1000"]]
        # It wants to be started by somebody who is not root.
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        link = [os.path.join(folder, "mm-link"), trace.name, trace.name, *queues]
        return other(pin + user + link + inside("MAHIMAHI_BASE"))


def traces(program):
    """Traces beside the same rates, and beside mm-link where that is built: of a few runs the cheapest."""
    build = os.environ.get("MAHIMAHI")
    found = {}
    for mbit in TRACED:
        say(f"a trace of {mbit} Mbit/s")
        with recorded(mbit) as trace:
            runs = {"trace": lambda: analects(program, [], ["--down", trace.name, "--up", trace.name]),
                    "constant": lambda: analects(program, [], ["--down", f"{mbit}mbit", "--up", f"{mbit}mbit"])}
            if build:
                runs["mm_link"] = lambda: mm_link(build, [], mbit)
            turns = [{name: run() for name, run in runs.items()} for _ in range(ROUNDS)]
        for name in runs:
            gbps, cpu = min((turn[name] for turn in turns), key=lambda run: run[1])
            found.setdefault(f"{mbit} Mbit/s", {})[name] = {"tcp_gbps": gbps, "cpu_ns_per_byte": cpu}
    return found


def rattan(program, pin):
    link = [program, "link"]
    for way in ["uplink", "downlink"]:
        link += [f"--{way}-bandwidth", CAPACITY.replace("gbit", "gbps"), f"--{way}-queue", "droptail",
                 f"--{way}-queue-args", json.dumps({"packet_limit": 1000})]
    # Its log costs whoever reads it time.
    return other([*pin, "env", "RUST_LOG=off", *link, *inside("RATTAN_BASE")])


def rate(got):
    return got["bytes"] * 8 / got["seconds"] / 1e9


def figures(run):
    """The fastest of a few: what else the machine does only slows down."""
    both, cpu = max(run([]) for _ in range(ROUNDS))
    one, _ = max(run(["taskset", "-c", "0"]) for _ in range(ROUNDS))
    return {"tcp_gbps": both, "tcp_gbps_one_core": one, "cpu_ns_per_byte": cpu}


def main():
    if os.environ.get("BENCH_LIVE") != "inside":
        if len(sys.argv) == 1:
            built = subprocess.run(["sh", "scripts/built.sh", "analects"], check=True, capture_output=True, text=True)
            sys.argv.append(os.path.abspath(built.stdout.strip()))
        # mm-link wants forwarding, which this host may not have: a network namespace has its own.
        os.environ["BENCH_LIVE"] = "inside"
        os.execvp("unshare", ["unshare", "-n", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with open("/proc/sys/net/ipv4/ip_forward", "w") as forward:
        forward.write("1")
    threading.Thread(target=serve, daemon=True).start()
    program = sys.argv[1]
    # The others first: a build that cannot be used is known at once.
    others = {}
    for name, run, variable in [("mm_link", mm_link, "MAHIMAHI"), ("rattan", rattan, "RATTAN")]:
        build = os.environ.get(variable)
        say(name if build else f"SKIPPED {name}: {variable} names no build of it")
        others[name] = figures(lambda pin: run(build, pin)) if build else None
    say("analects link")
    capacity = ["--down", CAPACITY, "--up", CAPACITY]
    result = figures(lambda pin: analects(program, pin, capacity))
    result |= {"traces": traces(program)}
    result |= {"one_gigabit_one_core": disciplines(program), "gateway": beside(program)} | others
    os.makedirs("target", exist_ok=True)
    text = json.dumps(result, indent=2)
    with open("target/bench-live.json", "w") as file:
        file.write(text + "\n")
    print(text)


if sys.argv[1:2] == ["--fetch"]:
    fetch(sys.argv[2])
else:
    main()

"""A gateway whose rates find themselves, before a line that steps down and up again under two downloads.

line.py ANALECTS FOLDER: the command of `analects link`, on the router; the line's clock begins with it. Prints what it
found, and first whether that is wrong.
"""

import os
import re
import subprocess
import sys
import threading
import time

# The line.toml of test-gateway.sh: Mbit/s, and when they begin, s.
HIGH, LOW, DOWN, UP, END = 40, 10, 10, 20, 34
CHANGE = re.compile(r"s: analects0 down: \S+ -> ([0-9.]+)([km])bit, (.*)")


def home():
    """The home's computer, and the router's addresses for it."""
    computer = subprocess.Popen(["unshare", "-n", "sleep", "600"])
    own = os.readlink("/proc/self/ns/net")
    while os.readlink(f"/proc/{computer.pid}/ns/net") == own:
        time.sleep(0.05)
    inside = f"nsenter -t {computer.pid} -n"
    for line in (
        f"ip link add lan type veth peer name eth0 netns {computer.pid}",
        "ip address add 10.1.0.1/24 dev lan",
        "ip link set lan gso_max_segs 1 up",
        "ip link set analects0 gso_max_segs 1",
        f"{inside} ip address add 10.1.0.2/24 dev eth0",
        f"{inside} ip link set eth0 gso_max_segs 1 up",
        f"{inside} ip route add default via 10.1.0.1",
        "sysctl -qw net.ipv4.ip_forward=1",
        "nft add table ip home",
        "nft add chain ip home out { type nat hook postrouting priority srcnat; }",
        'nft add rule ip home out oifname "analects0" masquerade',
    ):
        subprocess.run(line.split(" ") if "{" not in line else ["nft", line[4:]], check=True)
    return computer, inside.split()


def followed(gateway, began, changes):
    """Notes each change of the rate down when it is told: seconds of the line, Mbit/s, why."""
    for line in gateway.stderr:
        found = CHANGE.search(line)
        if found:
            rate = float(found[1]) * {"k": 1e-3, "m": 1}[found[2]]
            changes.append((time.monotonic() - began, rate, found[3]))


def main(analects, folder):
    began = time.monotonic()
    computer, inside = home()
    command = [analects, "gateway", "--in", "lan", "--out", "analects0", "--state", folder + "/line"]
    command += ["--down", "5mbit..100mbit", "--up", "1mbit..20mbit", "-d", "fq_codel"]
    gateway = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    changes = []
    reader = threading.Thread(target=followed, args=(gateway, began, changes))
    reader.start()
    time.sleep(1)
    fetch = ["curl", "-s", "-o", "/dev/null", "--max-time", str(END - 1)]
    fetch.append(f"http://{os.environ['ANALECTS_FAR']}:8080/1000000000")
    downloads = [subprocess.Popen(inside + fetch) for _ in range(2)]
    time.sleep(max(0, began + END - time.monotonic()))
    for process in (*downloads, gateway):
        process.terminate()
    status = gateway.wait(10)
    reader.join()
    computer.kill()

    def rates(least, most):
        return [rate for at, rate, _ in changes if least <= at < most]

    # The line began a little before this did.
    fell = [max(0, at - DOWN) for at, rate, _ in changes if at >= DOWN - 0.5 and rate <= LOW]
    low = sorted(rates(DOWN + 3, UP))
    for what, value, least, most in (
        ("the gateway's status", status, 0, 0),
        (f"the rate before the step down, Mbit/s of {HIGH}", max(rates(0, DOWN), default=0), 20, 60),
        ("until it is below the line, s", fell[0] if fell else END, 0, 1.5),
        (f"the rate while the line is low, Mbit/s of {LOW}", low[len(low) // 2] if low else 0, 5, 12),
        (f"the rate after the step up, Mbit/s of {HIGH}", max(rates(UP, END), default=0), 20, 60),
    ):
        print("found" if least <= value <= most else "wrong", f"{what}: {value:.2f}, expected {least} to {most}")
    for change in changes:
        print("%.2f s: %.2f Mbit/s, %s" % change)


main(*sys.argv[1:])

"""A call's receiver: asks HOST for SECONDS of it, and prints what came after the first two.

call.py HOST SECONDS
"""

import socket
import statistics
import struct
import sys
import time

host, seconds = sys.argv[1], float(sys.argv[2])
# It is known after a second.
AFTER, EVERY = 1.5, 0.004
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.settimeout(1)
udp.sendto(str(seconds + AFTER).encode(), (host, 443))
first, delays = int(AFTER / EVERY), {}
try:
    while True:
        packet = udp.recv(2000)
        number, sent = struct.unpack("!Id", packet[:12])
        if number >= first:
            delays[number] = (time.monotonic() - sent) * 1e3
except TimeoutError:
    pass
all_of_them = int((seconds + AFTER) / EVERY) - first
print("median", round(statistics.median(delays.values()), 2))
print("lost", all_of_them - len(delays))

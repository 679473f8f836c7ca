"""Numbered datagrams through a router that is changed meanwhile, and their answers.

numbers.py answer PORT
numbers.py send HOST PORT SECONDS: as many as have an answer, with 60 under way, which no socket is too small
for; prints how many were sent, how many had no answer or a late one, and the longest time to one in ms.
"""

import socket
import struct
import sys
import time

SIZE, MOST = 1200, 60


def answer(port):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("", int(port)))
    while True:
        packet, sender = udp.recvfrom(2000)
        udp.sendto(packet[:12], sender)


def send(host, port, seconds):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.connect((host, int(port)))
    udp.settimeout(5)
    end = time.monotonic() + float(seconds)
    sent, answers, longest = 0, [], 0
    try:
        while len(answers) < sent or time.monotonic() < end:
            while sent - len(answers) < MOST and time.monotonic() < end:
                udp.send(struct.pack("!Id", sent, time.monotonic()) + bytes(SIZE - 12))
                sent += 1
            number, then = struct.unpack("!Id", udp.recv(100))
            longest = max(longest, time.monotonic() - then)
            answers.append(number)
    except TimeoutError:
        pass
    print("sent", sent)
    print("lost", sent - len(set(answers)))
    print("late", sum(after != before + 1 for before, after in zip(answers, answers[1:])))
    print("longest", round(longest * 1e3, 1))


{"send": send, "answer": answer}[sys.argv[1]](*sys.argv[2:])

"""The far side of test-pace.sh: so many bytes over HTTP from ports 80, 443 and 8080, and a call from port 443."""

import http.server
import socket
import socketserver
import struct
import threading
import time

# A packet of 1200 bytes every 4 ms: 2.4 Mbit/s.
SIZE, EVERY = 1200, 0.004


class Bytes(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        left = int(self.path[1:])
        self.send_response(200)
        self.send_header("Content-Length", str(left))
        self.end_headers()
        while left > 0:
            part = min(left, 65536)
            self.wfile.write(b"x" * part)
            left -= part

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True


def call():
    """Sends to whoever asks, for so many seconds: packets with their numbers and times."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("", 443))
    while True:
        asked, to = udp.recvfrom(100)
        due = time.monotonic()
        for number in range(int(float(asked) / EVERY)):
            udp.sendto(struct.pack("!Id", number, time.monotonic()) + bytes(SIZE - 12), to)
            due += EVERY
            time.sleep(max(0, due - time.monotonic()))


for port in (80, 8080):
    threading.Thread(target=Server(("::", port), Bytes).serve_forever, daemon=True).start()
threading.Thread(target=call, daemon=True).start()
Server(("::", 443), Bytes).serve_forever()

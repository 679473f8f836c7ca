#!/usr/bin/env python3
"""A page whose two visitors call each other, for `analects check` with `url`: serves it at port 8080.

The second visitor calls the first. They leave each other messages at /0 and /1, which the server holds back until there
are some. A drawn picture of 640 by 360, thirty times a second, goes both ways.
"""

import collections
import http.server
import threading

PAGE = b"""<!doctype html><title>call</title><video autoplay muted></video><script>
const send = (to, what) => fetch("/" + to, { method: "POST", body: JSON.stringify(what) });
async function run() {
    const mine = Number(await (await fetch("/join", { method: "POST" })).text());
    const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 360 });
    const context = canvas.getContext("2d");
    let drawn = 0;
    setInterval(() => {
        drawn += 1;
        context.fillStyle = `hsl(${drawn % 360} 80% 50%)`;
        context.fillRect((drawn * 11) % 640, (drawn * 7) % 360, 90, 60);
    }, 33);
    const call = new RTCPeerConnection();
    call.addTrack(canvas.captureStream(30).getVideoTracks()[0]);
    call.ontrack = event => { document.querySelector("video").srcObject = new MediaStream([event.track]); };
    call.onicecandidate = event => event.candidate && send(1 - mine, { candidate: event.candidate });
    const describe = async () => {
        await call.setLocalDescription();
        send(1 - mine, { description: call.localDescription });
    };
    if (mine === 1) describe();
    while (true) {
        const { description, candidate } = await (await fetch("/" + mine)).json();
        if (description) await call.setRemoteDescription(description);
        if (description?.type === "offer") await describe();
        if (candidate) await call.addIceCandidate(candidate);
    }
}
run();
</script>"""

boxes = [collections.deque(), collections.deque()]
visitors = 0
changed = threading.Condition()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path not in ("/0", "/1"):
            return self.answer(PAGE, "text/html; charset=utf-8")
        box = boxes[int(self.path[1])]
        with changed:
            changed.wait_for(lambda: box)
            body = box.popleft()
        self.answer(body)

    def do_POST(self):
        global visitors
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        with changed:
            if self.path == "/join":
                body, visitors = str(visitors).encode(), visitors + 1
            else:
                boxes[int(self.path[1])].append(body)
                body = b"{}"
            changed.notify_all()
        self.answer(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("0.0.0.0", 8080), Handler).serve_forever()

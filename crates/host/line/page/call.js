// The call: datagrams of WebTransport, and the frames that come late.

/**
 * Datagrams of WebTransport, one for each frame, both ways. The browser keeps when it sent each and when the
 * server's came; the server tells when it sent its own, and when the browser's came. All times in ms, each of its
 * own clock: only what changes is used, and round trips.
 */
class Call {
  constructor(transport, settings) {
    this.transport = transport;
    this.settings = settings;
    this.sent = [];
    // By number: when it was sent and when it came.
    this.up = [];
    this.down = [];
    this.trips = [];
    this.lateTimers = [];
    this.open = true;
  }

  /** A call; throws a sentence if there is none. */
  static async begun(settings) {
    if (typeof WebTransport === "undefined") throw new Error("this browser has no WebTransport");
    const hash = Uint8Array.from(settings.sha256.match(/../g), (digits) => parseInt(digits, 16));
    const url = `https://${location.hostname}:${settings.port}${settings.path}`;
    const options = {
      serverCertificateHashes: [{ algorithm: "sha-256", value: hash.buffer }],
      congestionControl: "low-latency",
    };
    const transport = new WebTransport(url, options);
    transport.closed.catch(() => {});
    const patience = sleep(5000).then(() => { throw new Error("no answer within 5 s"); });
    try {
      await Promise.race([transport.ready, patience]);
    } catch (problem) {
      transport.close();
      throw new Error(`UDP port ${settings.port} does not answer (${problem.message})`);
    }
    const call = new Call(transport, settings);
    for (const part of [call.hear(), call.speak()]) {
      part.catch(() => {}).finally(() => { call.open = false; });
    }
    return call;
  }

  async hear() {
    const reader = this.transport.datagrams.readable.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.heard(new DataView(value.buffer, value.byteOffset, value.byteLength), performance.now());
    }
  }

  heard(view, now) {
    if (view.byteLength < 12) return;
    const [number, sent, count] = [view.getUint32(0), view.getUint32(4) / 1000, view.getUint32(8)];
    this.down[number] ??= { sent, came: now };
    for (let n = 0; n < count && 20 + 8 * n <= view.byteLength; n += 1) {
      const [theirs, came] = [view.getUint32(12 + 8 * n), view.getUint32(16 + 8 * n) / 1000];
      if (this.sent[theirs] === undefined) continue;
      if (n === 0) this.trip(now, theirs, now - this.sent[theirs] - (sent - came));
      if (this.up[theirs] !== undefined) break;
      this.up[theirs] = { sent: this.sent[theirs], came };
    }
  }

  /** A round trip without the time that the server had; of each of the browser's datagrams the first one. */
  trip(at, number, ms) {
    if (this.last === number) return;
    this.last = number;
    this.trips.push({ at, ms });
  }

  async speak() {
    const { datagrams } = this.transport;
    datagrams.outgoingMaxAge = HELD_MS;
    const writer = (datagrams.writable ?? datagrams.createWritable()).getWriter();
    const [began, frame] = [performance.now(), 1000 / this.settings.frames];
    for (let number = 0; this.open; number += 1) {
      const due = began + number * frame;
      await sleep(Math.max(0, due - performance.now()));
      const bytes = new Uint8Array(this.settings.size);
      new DataView(bytes.buffer).setUint32(0, number);
      this.sent[number] = performance.now();
      this.lateTimers.push(this.sent[number] - due);
      // One that does not leave is lost, as on the line.
      writer.write(bytes).catch(() => {});
    }
  }

  hangUp() {
    this.open = false;
    try { this.transport.close(); } catch { /* It is closed. */ }
  }
}

/** The least of what packets took, by two clocks that differ. */
const least = (packets) => packets.reduce((least, { sent, came }) => Math.min(least, came - sent), Infinity);

/**
 * The frames of one way: when each was sent, on the browser's clock, how late it came, in ms beyond the idle line's,
 * and whether it was lost. One that was lost is sent again, and comes a round trip after it would have come; one of an
 * outage does not come.
 */
function frames(packets, count, frame, [offset, roundTrip]) {
  const base = least(packets.filter((packet) => packet !== undefined));
  const found = [];
  // The last one that came, and those since.
  let [before, gap] = [{ at: -Infinity, wait: Infinity }, []];
  for (let number = 0; number < count; number += 1) {
    const packet = packets[number];
    if (packet === undefined) {
      gap.push({ at: before.at + (gap.length + 1) * frame, wait: Infinity, lost: true });
      continue;
    }
    const one = { at: packet.sent + offset, wait: packet.came - packet.sent - base, lost: false };
    const wait = Math.max(before.wait, one.wait);
    if (gap.length * frame < LATE_MS) for (const lost of gap) lost.wait = wait + roundTrip + wait;
    found.push(...gap, one);
    [before, gap] = [one, []];
  }
  return [...found, ...gap];
}

/** How long a call stood still, in ms: each late frame covers the time until the next one's turn. */
function stall(of, roundTrip, frame) {
  return of.filter(({ wait }) => wait + roundTrip / 2 > LATE_MS).length * frame;
}

"use strict";

// How long each part takes, in ms. The server grants its time once: `NEEDED` is all of it.
const IDLE_MS = 3000;
const LOAD_MS = 10000;
const DRAIN_MS = 3000;
const NEEDED_MS = IDLE_MS + 2 * LOAD_MS + 2 * DRAIN_MS + 3000;
// When a load fills the line: before, its own beginning is what is seen.
const FILLED_MS = 3000;
const STEP_MS = 100;
// Fetches at once, each on a connection of its own: browsers have six, and one is for requests beside the load, one
// for the course of an upload.
const FETCHES = 4;
const UPLOAD_BYTES = 32 << 20;
const SMALL_EVERY_MS = 250;
// A packet of 1500 bytes has 1448 of TCP's payload with time stamps, and of a record of 16,384 TLS has 22 more.
const PACKETS_TO_BYTES = (1500 / 1448) * (1 + 22 / 16384);
// What a datagram takes on the line beside its bytes.
const DATAGRAM_OVERHEAD = 60;
// A frame that is later than this stalls the call (docs/metrics.md, "stall").
const LATE_MS = 190;
// What a call's sender holds back for longer, it does not send any more.
const HELD_MS = 100;
// What still is no wait but the hosts' noise, and what a call notices.
const NOISE_MS = 6;
const FELT_MS = 30;
// Timers that come later than this, one in ten, are a busy computer's.
const BUSY_MS = 15;
const AT_LIMIT = 0.9;

const element = (id) => document.getElementById(id);
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const say = (text) => { element("progress").textContent = text; };

function sorted(values) {
  return [...values].sort((a, b) => a - b);
}

/** The value that `part` of all are below; null without values. */
function quantile(values, part) {
  if (values.length === 0) return null;
  const all = sorted(values);
  return all[Math.min(all.length - 1, Math.floor(all.length * part))];
}

/** The mean without the longest twentieth (draft-ietf-ippm-responsiveness); null without values. */
function trimmedMean(values) {
  const kept = sorted(values).slice(0, Math.ceil(values.length * 0.95));
  return kept.length === 0 ? null : kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

// ---- The call

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
    call.ended = Promise.allSettled([call.hear(), call.speak()]).then(() => { call.open = false; });
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

  async hangUp() {
    this.open = false;
    try { this.transport.close(); } catch { /* It is closed. */ }
    await this.ended;
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

// ---- Load

/** Reads without an end. `got` is told of all bytes. */
async function download(signal, got) {
  const response = await fetch("large", { signal, cache: "no-store" });
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    got(value.length);
  }
}

async function upload(signal, body) {
  for (;;) {
    const response = await fetch("upload", { method: "POST", body, signal });
    if (!response.ok) throw new Error(`the server answers ${response.status}`);
  }
}

/** The server's own course of an upload: `{ at, bytes }`, in ms of its clock. */
async function uploaded(signal, course) {
  const response = await fetch("uploaded", { signal, cache: "no-store" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const [at, bytes] = line.split(" ").map(Number);
      course.push({ at, bytes });
    }
  }
}

/** Times of small requests, each on a connection of its own, until it is aborted. */
async function requests(signal, times) {
  for (let number = 0; !signal.aborted; number += 1) {
    const began = performance.now();
    const url = new URL(`small?${began}-${number}`, location.href).href;
    await fetch(url, { signal, cache: "no-store" });
    await sleep(SMALL_EVERY_MS);
    const [seen] = performance.getEntriesByName(url);
    performance.clearResourceTimings();
    const { connectStart, secureConnectionStart, connectEnd, requestStart, responseStart } = seen ?? {};
    // A connection that the browser made ahead tells nothing.
    if (!(secureConnectionStart > connectStart)) continue;
    times.push({
      at: began,
      tcp: secureConnectionStart - connectStart,
      tls: connectEnd - secureConnectionStart,
      http: responseStart - requestStart,
    });
  }
}

/** Runs `jobs` for `ms`; an error of one that was not asked to end ends all. */
async function during(ms, told, jobs) {
  const stop = new AbortController();
  const began = performance.now();
  let problem = null;
  const all = jobs.map((job) => job(stop.signal).catch((error) => {
    if (!stop.signal.aborted) problem ??= error;
  }));
  while (problem === null && performance.now() - began < ms) {
    told(performance.now() - began);
    await sleep(STEP_MS);
  }
  const ended = performance.now();
  stop.abort();
  await Promise.allSettled(all);
  if (problem !== null) throw problem;
  return { began, ended };
}

/** The rate from `FILLED_MS` on and of each step, in Mbit/s of IP packets, of a course of `{ at, bytes }`. */
function rates(course) {
  const first = course[0]?.at ?? 0;
  const filled = course.filter(({ at }) => at - first >= FILLED_MS);
  const [from, to] = [filled[0], filled.at(-1)];
  const mbit = (a, b) => ((b.bytes - a.bytes) * 8 * PACKETS_TO_BYTES) / (b.at - a.at) / 1000;
  if (from === undefined || to.at <= from.at) throw new Error("nothing was carried");
  const seconds = [];
  for (let n = 0; n + 10 < filled.length; n += 10) seconds.push(mbit(filled[n], filled[n + 10]));
  return { mbit: mbit(from, to), seconds };
}

async function drained(call) {
  const until = performance.now() + DRAIN_MS;
  const idle = quantile(call?.trips.map(({ ms }) => ms) ?? [], 0.05);
  do await sleep(STEP_MS);
  while (performance.now() < until && (call === null || call.trips.at(-1).ms > idle + FELT_MS));
}

// ---- What follows

const within = (samples, { began, ended }, after = 0) =>
  samples.filter(({ at }) => at >= began + after && at < ended);

/** What a line seems to have for a queue, by how long packets of others wait beside the load. */
function queue(waits, mbit) {
  if (waits === null) return "unknown";
  // Two packets that are before any other.
  if (waits.p95 <= NOISE_MS + 24 / mbit) return "fair";
  return waits.p95 >= FELT_MS ? "long" : "short";
}

const waitsOf = (values) =>
  (values.length === 0 ? null : { median: quantile(values, 0.5), p95: quantile(values, 0.95) });

/** The longest but one, which may be the host's; null without so many. */
const longestOf = (values) => sorted(values).at(-2) ?? null;

/** Waits of TCP's handshakes. One whose first packet was lost takes a second longer, and tells of no queue. */
function handshakes(small, rtt_ms) {
  const times = small.map(({ tcp }) => tcp);
  const passed = times.filter((tcp) => tcp < quantile(times, 0.5) + 700);
  return passed.map((tcp) => Math.max(0, tcp - rtt_ms));
}

/** Round trips a minute beside the load (draft-ietf-ippm-responsiveness, "foreign"): TLS 1.3 takes one. */
function responsiveness(small) {
  const parts = ["tcp", "tls", "http"].map((part) => trimmedMean(small.map((one) => one[part])));
  return parts.includes(null) ? null : 180000 / parts.reduce((sum, part) => sum + part, 0);
}

/** What is known of one way. */
function way(name, { load, small, course }, idle, call) {
  const { mbit, seconds } = rates(course);
  const beside = within(small, load, FILLED_MS);
  const all = handshakes(within(small, load), idle.tcp_ms);
  const found = { name, mbit, stall_s: null, lost: null, load_s: (load.ended - load.began) / 1000 };
  // The buffer is what its first overshoot filled.
  found.longest = longestOf(all);
  found.waits = waitsOf(handshakes(beside, idle.tcp_ms));
  found.rpm = responsiveness(beside);
  if (call !== null) Object.assign(found, called(name, load, idle, call));
  found.mbit += found.call_mbit ?? 0;
  found.queue = queue(found.waits, found.mbit);
  found.slowest = Math.min(...seconds);
  found.varies = seconds.length > 3 && found.slowest < 0.6 * mbit;
  return found;
}

/** What became of the call one way. */
function called(name, load, idle, call) {
  const [packets, count, offset] = name === "down"
    ? [call.down, call.down.length, call.offset]
    : [call.up, call.sent.length, 0];
  const { size, frames: perSecond } = call.settings;
  const frame = 1000 / perSecond;
  const of = within(frames(packets, count, frame, [offset, idle.rtt_ms]), load);
  const whole = of.filter(({ lost }) => !lost);
  const passed = within(whole, load, FILLED_MS);
  const lost = 1 - whole.length / of.length;
  return {
    frames: of,
    waits: waitsOf(passed.map(({ wait }) => wait)),
    longest: longestOf(whole.map(({ wait }) => wait)),
    stall_s: stall(of, idle.rtt_ms, frame) / 1000,
    lost,
    call_mbit: ((size + DATAGRAM_OVERHEAD) * 8 * perSecond * (1 - lost)) / 1e6,
  };
}

const digits = (value) => (value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2));
const ms = (value) => (value === null ? "–" : `${value.toFixed(0)} ms`);

/** What the line did to the call, in words. */
function grade({ down, up, call }) {
  if (call === null) return "";
  const part = ({ name, stall_s, load_s }) => {
    const load = name === "down" ? "a download" : "an upload";
    const whose = name === "down" ? "the others' picture" : "your picture";
    if (stall_s < 0.1) return `during ${load}, ${whose} did not freeze`;
    return `during ${load}, ${whose} stood still for ${stall_s.toFixed(1)} s of ${load_s.toFixed(0)}`;
  };
  const text = `A call of a quarter Mbit/s on this line: ${part(down)}; ${part(up)}.`;
  const bad = [down, up].some(({ stall_s }) => stall_s >= 0.1);
  const long = [down, up].some((one) => one.queue === "long");
  if (bad && long) return `${text} Packets wait in one long queue: a queue discipline would help.`;
  return text;
}

// ---- The scenario

const kbit = (mbit) => `${Math.max(8, Math.round(mbit * 1000))}kbit`;
const HAS = { long: "pfifo", short: "codel", fair: "fq_codel" };

function lane({ mbit, queue: kind, longest }) {
  const lines = [`rate = "${kbit(mbit)}"`];
  if (kind === "long") lines.push(`buffer = "${Math.max(1500, Math.round(longest * mbit * 125))}B"`);
  if (kind in HAS) lines.push(`discipline = "${HAS[kind]}"`);
  return lines.join("\n");
}

/** The line as a scenario, as `analects measure -o` writes it. */
function scenario({ idle, down, up }) {
  const seems = { long: "all flows wait in one queue", short: "the queue is short", fair: "flows wait little for each other", unknown: "the queue is not known" };
  const kinds = [down, up].map((one) => HAS[one.queue] ?? "pfifo");
  const compared = [...new Set([kinds[0], "fq_codel", "cake", "mencius"])];
  return `# The line to ${location.hostname}, as its page found it.
# down: ${seems[down.queue]}; up: ${seems[up.queue]}.
name = "my-line"
duration = "120s"
warmup = "10s"
disciplines = [${compared.map((name) => `"${name}"`).join(", ")}]

[link]
rtt = "${Math.max(0.1, idle.rtt_ms).toFixed(1)}ms"
${lane(down)}

[link.up]
${lane(up)}

${element("household").textContent}`;
}

/** The fragment of the playground's address: the text, compressed (playground/page/fragment.js). */
async function fragment(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#scenario=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

// ---- What is shown

function row(name, values) {
  const tr = document.createElement("tr");
  const th = document.createElement("th");
  th.scope = "row";
  th.textContent = name;
  tr.append(th, ...values.map((value) => {
    const td = document.createElement("td");
    td.textContent = value;
    return td;
  }));
  return tr;
}

function drawn(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

/** The delay of each frame over time. */
function picture({ down, up, idle }) {
  const [left, right, top, bottom] = [30, 355, 8, 180];
  const of = [down, up].flatMap(({ name, frames: all }) => (all ?? []).map((frame) => ({ name, ...frame })));
  const delays = of.map(({ wait }) => wait).filter((wait) => wait < Infinity);
  if (delays.length === 0) {
    element("picture").closest("figure").hidden = true;
    return;
  }
  const highest = Math.max(1.3 * LATE_MS, quantile(delays, 1)) + idle.rtt_ms / 2;
  const [from, to] = [of[0].at, of.at(-1).at];
  const x = (at) => left + ((at - from) / (to - from)) * (right - left);
  const y = (delay) => bottom - (Math.min(delay, highest) / highest) * (bottom - top);
  const parts = [];
  for (let n = 0; n <= 4; n += 1) {
    const delay = (highest * n) / 4;
    parts.push(drawn("line", { x1: left, x2: right, y1: y(delay), y2: y(delay) }));
    parts.push(drawn("text", { x: 0, y: y(delay) + 3 }, delay.toFixed(0)));
  }
  parts.push(drawn("line", { class: "limit", x1: left, x2: right, y1: y(LATE_MS), y2: y(LATE_MS) }));
  parts.push(drawn("text", { x: left, y: bottom + 14 }, "ms; 10 s of download, then 10 s of upload"));
  for (const { name, at, wait } of of) {
    const delay = wait + idle.rtt_ms / 2;
    parts.push(drawn("circle", { class: name, cx: x(at).toFixed(1), cy: y(delay).toFixed(1), r: 1 }));
  }
  element("picture").replaceChildren(...parts);
}

async function shown(found) {
  const { idle, down, up } = found;
  const both = (value) => [down, up].map(value);
  element("grade").textContent = grade(found);
  element("figures").replaceChildren(
    row("rate", both(({ mbit }) => `${digits(mbit)} Mbit/s`)),
    row("round trip of the idle line", [ms(idle.rtt_ms), ""]),
    row("a packet of others waits, while it is full", both(({ waits }) => ms(waits?.median ?? null))),
    row("one in twenty, or longer", both(({ waits }) => ms(waits?.p95 ?? null))),
    row("the longest wait", both(({ longest }) => ms(longest))),
    row("the call's packets lost", both(({ lost }) => (lost === null ? "–" : `${(100 * lost).toFixed(1)} %`))),
    row("the call stood still", both(({ stall_s }) => (stall_s === null ? "–" : `${stall_s.toFixed(1)} s`))),
    row("round trips a minute beside the load", both(({ rpm }) => (rpm === null ? "–" : rpm.toFixed(0)))),
  );
  element("notes").replaceChildren(...found.notes.map((note) => {
    const item = document.createElement("li");
    item.textContent = note;
    return item;
  }));
  element("result").hidden = false;
  picture(found);
  element("scenario").value = found.scenario;
  const save = element("save");
  URL.revokeObjectURL(save.href);
  save.href = URL.createObjectURL(new Blob([found.scenario], { type: "text/plain" }));
  if (found.playground !== null) {
    element("playground").href = found.playground + await fragment(found.scenario);
    element("playground").hidden = false;
    element("elsewhere").hidden = true;
  }
}

function notes({ down, up, call }, settings, why, hidden) {
  const said = [];
  if (call === null) {
    said.push(`The call was not measured: ${why}. Nothing is said of calls; waits are of TCP's handshakes, whose way back counts as well.`);
  } else {
    const late = quantile(call.late, 0.9);
    if (late > BUSY_MS) said.push(`This computer was busy: one timer in ten came ${late.toFixed(0)} ms late or more. Waits may be its own.`);
  }
  if (hidden) said.push("The page was in the background for a while, where a browser slows it down: measure again.");
  for (const one of [down, up]) {
    if (one.mbit >= AT_LIMIT * settings.rate_mbit) said.push(`${one.name}: the server's limit was reached, not the line's.`);
    if (one.varies) said.push(`${one.name}: the rate varies; its slowest second had ${digits(one.slowest)} Mbit/s. The scenario has its mean.`);
    if (call !== null && one.mbit < 1.2) said.push(`${one.name}: the call alone takes a quarter Mbit/s of it.`);
  }
  return said;
}

// ---- All of it

/** The server's settings, on a connection whose time has just begun. */
async function settingsOf() {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch("settings", { cache: "no-store" });
    if (!response.ok) throw new Error("the server's bytes for this hour are used up");
    const settings = await response.json();
    if (settings.left_ms >= NEEDED_MS) return settings;
    if (tries === 3) throw new Error(`the server grants ${(settings.left_ms / 1000).toFixed(0)} s to your address, of which another page or program has a part; this takes half a minute: try again in a minute`);
    await sleep(500);
  }
}

/** One way under load. */
async function loaded(name, jobs) {
  const small = [];
  const course = [];
  const told = (since) => say(`${name}: ${(since / 1000).toFixed(0)} of ${LOAD_MS / 1000} s`);
  const load = await during(LOAD_MS, told, [...jobs(course), (signal) => requests(signal, small)]);
  return { load, small, course };
}

function downloads(course) {
  let bytes = 0;
  const count = async (signal) => {
    while (!signal.aborted) {
      course.push({ at: performance.now(), bytes });
      await sleep(STEP_MS);
    }
  };
  const fetches = Array.from({ length: FETCHES }, () => (signal) => download(signal, (more) => { bytes += more; }));
  return [count, ...fetches];
}

function uploads(course) {
  const body = new Blob([new Uint8Array(UPLOAD_BYTES)]);
  return [(signal) => uploaded(signal, course), ...Array.from({ length: FETCHES }, () => (signal) => upload(signal, body))];
}

async function measured() {
  let hidden = document.hidden;
  document.addEventListener("visibilitychange", () => { hidden = true; }, { once: true });
  say("a moment");
  const settings = await settingsOf();
  let [call, why] = [null, ""];
  try {
    call = await Call.begun(settings);
  } catch (problem) {
    why = problem.message;
  }
  try {
    const small = [];
    await during(IDLE_MS, () => say("the idle line"), [(signal) => requests(signal, small)]);
    const down = await loaded("download", downloads);
    await drained(call);
    const up = await loaded("upload", uploads);
    await drained(call);
    if (call !== null && !call.open) throw new Error("the call ended early");
    return reckoned({ settings, call, why, small, down, up, hidden });
  } finally {
    await call?.hangUp();
  }
}

/** What follows from all that was seen. */
function reckoned({ settings, call, why, small, down, up, hidden }) {
  const tcp_ms = Math.min(...small.map(({ tcp }) => tcp));
  const idle = { tcp_ms, rtt_ms: call === null ? tcp_ms : Math.min(...call.trips.map((one) => one.ms)) };
  // The server's clock on the browser's: the least time down is half of a round trip.
  if (call !== null) call.offset = least(call.down.filter((packet) => packet !== undefined)) - idle.rtt_ms / 2;
  const found = { idle, down: way("down", down, idle, call), up: way("up", up, idle, call) };
  found.call = call === null ? null : { late: call.lateTimers };
  found.notes = notes(found, settings, why, hidden);
  found.playground = settings.playground;
  found.scenario = scenario(found);
  return found;
}

/** What the last measurement found, for whoever looks from a console; a sentence if it failed. */
let found = null;
let failed = null;

async function start() {
  element("start").disabled = true;
  [found, failed] = [null, null];
  try {
    found = await measured();
    await shown(found);
    say("");
  } catch (problem) {
    failed = `It could not be measured: ${problem.message}.`;
    say(failed);
  }
  element("start").disabled = false;
  element("start").textContent = "Measure again";
}

element("start").addEventListener("click", start);

// What follows from what was seen: figures, words, a scenario.

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

/** The longest but a fiftieth, which may be the host's. */
const longestOf = (values) => quantile(values, 0.98);

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

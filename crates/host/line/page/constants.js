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

// What fills the line, and what is asked for beside it.

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

// What is shown.

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
  element("notes").replaceChildren(...found.notes.map((note) => made("li", note)));
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

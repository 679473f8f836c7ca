// The router's document, asked for once a second, and what is shown of it.

const EVERY_MS = 1000;
const PATIENCE_MS = 5000;
// A look for nobody is every five seconds.
const OLD_S = 12;
const COMPUTERS = 15;
const WAYS = [["down", "What comes in"], ["up", "What goes out"]];

const mbit = (bps) => `${Number((bps / 1e6).toPrecision(3))} Mbit/s`;

/** How long ago that was, in words. */
function ago(now, then) {
  const seconds = Math.max(0, Math.round(now - then));
  if (seconds < 120) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}

/** How long a look looks back. */
const span = (seconds) => (seconds < 1.5 ? "second" : `${seconds.toFixed(0)} s`);

/** Whether a set-up stands. */
function state(setup) {
  if (!setup.complete) return "It was interrupted: `analects tc clear` undoes its changes.";
  if (setup.differences.length > 0) return `Another program changed it: ${setup.differences.join("; ")}.`;
  return setup.settings === null ? "Its journal is lost." : "As it was applied.";
}

/** The last change of a rate, and why. */
function change(line, way, now) {
  const last = line[way].change;
  if (last === null) return line[way].followed ? `${way}: not changed yet.` : null;
  return `${way}, ${ago(now, last.time_s)}: ${mbit(last.from_bps)} → ${mbit(last.rate_bps)}, since ${last.why} (by ${last.told_by}).`;
}

function computers(all, seconds) {
  const table = made("table");
  const head = made("tr");
  head.append(...["computer", "Mbit/s", "waits ms", "lost", "ahead %"].map((name) => made("th", name, { scope: "col" })));
  const thead = made("thead");
  thead.append(head);
  const body = made("tbody");
  body.append(...all.slice(0, COMPUTERS).map((of) => row(of.address ?? `:${of.class.toString(16)}`, [
    (of.bytes * 8 / seconds / 1e6).toFixed(2),
    (of.wait_us / 1000).toFixed(1),
    of.drops,
    (100 * of.ahead_bytes / Math.max(1, of.bytes)).toFixed(0),
  ])));
  table.append(thead, body);
  const box = made("div", "", { class: "table" });
  box.append(table);
  return box;
}

/** What one direction's queues had in the last second. */
function direction(lately, setup, way) {
  const queues = lately.filter((queue) => queue.setup === setup.device && queue.way === way);
  return queues.flatMap((queue) => {
    const parts = [made("p", `${queue.kind}: ${queue.said}${/[.:]$/.test(queue.said) ? "" : "."}`)];
    if (queue.computers?.length > 0) parts.push(computers(queue.computers, queue.seconds));
    if (queue.computers?.length > COMPUTERS) parts.push(made("p", `And ${queue.computers.length - COMPUTERS} computers that sent less.`));
    return parts;
  });
}

/** What was put back, the last first. */
function repairs(setup, line, now) {
  if (setup.restored === 0) return [made("p", "Nothing had to be put back.")];
  const list = made("ul");
  list.append(...[...line.put_back].reverse().map(({ time_s: then, what }) => made("li", `${ago(now, then)}: ${what}`)));
  const times = setup.restored === 1 ? "once" : `${setup.restored} times`;
  return [made("p", `Other programs took parts of it away, and they were put back ${times}.`), list];
}

function section(found, setup) {
  const now = found.time_s;
  const none = { followed: false, at_s: [], rate_bps: [], wait_us: [], change: null };
  const line = found.lines[setup.device] ?? { down: none, up: none, put_back: [] };
  const [down, up] = ["down", "up"].map((way) => (line[way].followed ? "in the line behind the router" : "in the router"));
  const waits = `ms that packets wait ${down === up ? down : `down ${down}, up ${up}`}`;
  const why = ["down", "up"].map((way) => change(line, way, now)).filter((text) => text !== null);
  const part = made("section");
  part.append(
    made("h2", setup.device),
    made("p", state(setup)),
    ...[
      curves(line, now, "The shaper's rate, Mbit/s", 1, (of) => of.rate_bps.map((bps) => (bps === null ? null : bps / 1e6))),
      curves(line, now, waits, 10, (of) => of.wait_us.map((us) => (us === null ? null : us / 1000))),
    ].filter((figure) => figure !== null),
    made("h3", "Why the rate changed last"),
    ...(why.length > 0 ? why : ["The rates stay as they were set."]).map((text) => made("p", text)),
  );
  for (const [way, title] of WAYS) {
    const shown = direction(found.lately ?? [], setup, way);
    if (shown.length > 0) part.append(made("h3", `${title}, in the last ${span(found.lately[0].seconds)}`), ...shown);
  }
  part.append(made("h3", "What was put back"), ...repairs(setup, line, now));
  return part;
}

/** What is wrong with a document. */
function wrong({ error, time_s: now, looked_s: looked }) {
  if (error !== null) return `The router cannot look at its queues: ${error}`;
  return looked !== null && now - looked > OLD_S ? `What stands here is old: the router last looked at its queues ${ago(now, looked)}.` : "";
}

function shown(found) {
  trouble(wrong(found));
  // What is read or copied stays where it is.
  if (found.setups === null || getSelection().toString() !== "") return;
  const sections = found.setups.map((setup) => section(found, setup));
  const scrolled = [...document.querySelectorAll(".table")].map((box) => box.scrollLeft);
  element("lines").replaceChildren(...(sections.length > 0 ? sections : [made("p", "No line is shaped: `analects tc apply` sets a shaper up.")]));
  document.querySelectorAll(".table").forEach((box, n) => { box.scrollLeft = scrolled[n] ?? 0; });
}

function trouble(text) {
  element("trouble").textContent = text;
  element("trouble").hidden = text === "";
}

async function asked() {
  // Not relative: the page's own address may have a name and a password in it, which no request may.
  const response = await fetch(`${location.origin}/status.json`, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

async function go() {
  for (;;) {
    if (!document.hidden) {
      try {
        shown(await asked());
      } catch (problem) {
        trouble(`The router does not answer, and what stands here is old: ${problem.message}`);
      }
    }
    await sleep(EVERY_MS);
  }
}

go();

// The line of a scenario's tree: what its controls show, and what they change.
import { mbit, milliseconds, rateText, short } from "./units.js";

/** How many pieces a drawn rate has. */
export const PIECES = 16;

/** The only link of the tree; none if there are several. */
export function link(tree) {
  const of = tree.link;
  if (!Array.isArray(of)) return of;
  return of.length === 1 ? of[0] : undefined;
}

/** What the controls show: rates in Mbit/s, times in ms, the buffer in packets. */
export function shownLine(tree) {
  const of = link(tree);
  if (!of) return undefined;
  const packets = /^([0-9]+)\s*(p|packets)$/.exec(String(of.buffer ?? ""));
  return {
    down: mbit(of.rate),
    up: of.up ? mbit(of.up.rate) : undefined,
    limited: of.up !== undefined,
    rtt: milliseconds(of.rtt ?? "0ms"),
    buffer: packets ? Number(packets[1]) : undefined,
    sized: of.buffer !== undefined,
    duration: (milliseconds(tree.duration ?? "60s") ?? 60000) / 1e3,
    capacity: ["steps", "trace"].find((key) => of[key] !== undefined) ?? "rate",
    trace: of.trace,
    drawn: of.steps === undefined ? undefined : drawnRates(of.steps, tree),
  };
}

const without = (of, ...keys) => keys.forEach((key) => delete of[key]);

/** Changes of the tree by the controls. */
export const changes = {
  down(tree, value) {
    const of = link(tree);
    without(of, "steps", "trace", "trace_by", "trace_scale");
    of.rate = rateText(value);
  },
  limited(tree, yes) {
    const of = link(tree);
    if (yes) of.up ??= { rate: rateText((mbit(of.rate) ?? 20) / 4), ...(of.buffer && { buffer: of.buffer }) };
    else delete of.up;
  },
  up(tree, value) {
    const of = link(tree);
    of.up = { ...of.up, rate: rateText(value) };
    without(of.up, "steps", "trace", "trace_by", "trace_scale");
  },
  rtt(tree, value) {
    link(tree).rtt = `${short(value)}ms`;
  },
  sized(tree, yes) {
    if (yes) changes.buffer(tree, 500);
    else for (const of of [link(tree), link(tree).up]) if (of) delete of.buffer;
  },
  buffer(tree, packets) {
    for (const of of [link(tree), link(tree).up]) if (of) of.buffer = `${Math.round(packets)}p`;
  },
  duration(tree, seconds) {
    tree.duration = `${seconds}s`;
    const warmup = milliseconds(tree.warmup ?? "0s") ?? 0;
    if (warmup >= seconds * 1e3) tree.warmup = `${Math.floor(seconds / 2)}s`;
  },
  steps(tree, rates) {
    const of = link(tree);
    without(of, "rate", "trace", "trace_by", "trace_scale");
    of.steps = stepsText(rates, tree);
  },
  trace(tree, name) {
    const of = link(tree);
    without(of, "rate", "steps");
    of.trace = name;
  },
};

const seconds = (tree) => (milliseconds(tree.duration ?? "60s") ?? 60000) / 1e3;

/** Rates over the run as steps; equal ones in a row are one. */
export function stepsText(rates, tree) {
  const length = seconds(tree) / rates.length;
  const texts = rates.map((rate) => (rate <= 0 ? "0mbit" : rateText(rate)));
  const steps = texts.map((text, place) => `${Number((place * length).toFixed(2))}s ${text}`);
  return steps.filter((_, place) => place === 0 || texts[place] !== texts[place - 1]).join("; ");
}

/** The rate of steps in the middle of each of the pieces. */
export function drawnRates(steps, tree) {
  const list = (Array.isArray(steps) ? steps : [steps]).join(";").split(";");
  const parsed = list.map((step) => {
    const [at, ...rate] = step.trim().split(/\s+/);
    return [milliseconds(at) ?? 0, mbit(rate.join("")) ?? 0];
  });
  const length = (seconds(tree) * 1e3) / PIECES;
  return Array.from({ length: PIECES }, (_, place) => {
    const middle = (place + 0.5) * length;
    return parsed.filter(([at]) => at <= middle).at(-1)?.[1] ?? 0;
  });
}

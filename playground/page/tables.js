// Values as tables, for those who do not see the charts.
import { byId, fillTable } from "./dom.js";
import { delay } from "./run.js";

/** Rows of the table by time. */
const ROWS = 24;

/** Fills the table of figures with the rows of a verdict. */
export function showFigures(verdict, disciplines) {
  const cell = (of) => (of ? (of[1] ? `${of[0]} (${of[1]})` : of[0]) : "none");
  const rows = verdict.rows.map(({ heading, unit, cells }) => [unit ? `${heading}, ${unit}` : heading, ...cells.map(cell)]);
  fillTable(byId("figures"), ["", ...disciplines.map((name, side) => `${"AB"[side]}: ${name}`)], rows);
}

/** Rows of `[time, ...]` for both runs: the largest delay of a frame, what waits, what is carried. */
export function valuesByTime(runs, { call, queue, range }) {
  const step = (range.to - range.from) / ROWS;
  return Array.from({ length: ROWS }, (_, place) => {
    const [from, to] = [range.from + place * step, range.from + (place + 1) * step];
    return [`${from.toFixed(1)} to ${to.toFixed(1)} s`, ...runs.flatMap((run) => values(run, call, queue, from, to))];
  });
}

function values(run, call, queue, from, to) {
  const bin = run.checked.bin_s;
  const [first, last] = [Math.floor(from / bin), Math.ceil(to / bin)];
  const sums = (columns) => columns.slice(first, last).map((column) => column.reduce((sum, bytes, i) => (i % 2 ? sum + bytes : sum), 0));
  const frames = (run.frames[call] ?? []).filter(([sent]) => sent >= from * 1e3 && sent < to * 1e3);
  const late = frames.map(delay);
  const lost = late.filter((of) => of === undefined).length;
  const most = frames.length ? Math.max(0, ...late.filter((of) => of !== undefined)).toFixed(0) : "none";
  const carried = sums(run.left[queue]).reduce((sum, bytes) => sum + bytes, 0);
  return [lost ? `${most}, ${lost} lost` : most, (Math.max(0, ...sums(run.waiting[queue])) / 1e3).toFixed(0), ((carried * 8e-6) / (to - from)).toFixed(2)];
}

/** Fills the table by time. */
export function showValues(runs, view) {
  const headings = runs.flatMap((_, side) => ["delay, ms", "waiting, kB", "carried, Mbit/s"].map((of) => `${"AB"[side]}: ${of}`));
  fillTable(byId("values"), ["Time", ...headings], valuesByTime(runs, view));
}

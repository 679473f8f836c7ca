// A page as it fills: a tile for each of its parts, or for each transfer that has an end.
import { prepared } from "./chart.js";
import { entryColour, themed } from "./colours.js";
import { lastBefore } from "./run.js";

/**
 * What of an entry's pages or transfers is there at `at` ms: `{ tiles, filled, words }`; none before the first.
 */
export function fill(loads, transfers, at) {
  const place = lastBefore(loads, at, (load) => load.began);
  if (place >= 0) return ofPage(loads[place], at);
  const begun = transfers.filter((of) => of && of.began <= at);
  const ended = begun.filter((of) => of.complete <= at);
  if (begun.length === 0 || !transfers.some((of) => of?.complete)) return undefined;
  const last = Math.max(...ended.map((of) => of.complete));
  const whole = ended.length === transfers.length;
  return words(transfers.length, ended.length, transfers[0].began, whole ? last : undefined, at);
}

function ofPage(load, at) {
  const filled = lastBefore(load.times, at, (when) => when) + 1;
  const complete = load.complete <= at ? load.complete : undefined;
  return words(load.parts, filled, load.began, complete, at);
}

function words(tiles, filled, began, complete, at) {
  const seconds = (((complete ?? at) - began) / 1e3).toFixed(1);
  return { tiles, filled, complete: complete !== undefined, words: complete === undefined ? `loading for ${seconds} s` : `there after ${seconds} s` };
}

/** Draws the page as it is at `at` ms. */
export function drawFill(canvas, run, entry, at) {
  const { context, width, height } = prepared(canvas);
  context.fillStyle = themed("--card");
  context.fillRect(0, 0, width, height);
  const state = fill(run.loads[entry], run.transfers[entry], at);
  context.fillStyle = themed("--ink");
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.fillText(state ? state.words : "not opened yet", 8, 12);
  if (!state) return state;
  const columns = Math.max(1, Math.ceil(Math.sqrt((state.tiles * width) / (height - 24))));
  const rows = Math.ceil(state.tiles / columns);
  const [wide, high] = [(width - 12) / columns, (height - 30) / rows];
  for (let tile = 0; tile < state.tiles; tile++) {
    context.fillStyle = tile < state.filled ? entryColour(entry, tile % 8) : themed("--grid");
    const [column, row] = [tile % columns, Math.floor(tile / columns)];
    context.fillRect(6 + column * wide, 24 + row * high, Math.max(1, wide - 2), Math.max(1, high - 2));
  }
  return state;
}

// Stacked charts by flow: what waits in a queue, and what leaves it.
import { Axes } from "./chart.js";
import { entryColour, themed } from "./colours.js";

/**
 * Columns of `[lane, bytes, ...]` between two moments as sums over groups of columns: for each group, an
 * array by lane. `mean` takes the mean of a group, else its largest total counts.
 */
export function grouped(columns, lanes, first, last, size, mean) {
  const groups = [];
  for (let start = first; start < last; start += size) {
    const group = columns.slice(start, Math.min(start + size, last));
    if (group.length === 0) break;
    const sums = group.map((column) => spread(column, lanes));
    groups.push(mean ? average(sums) : sums.reduce((a, b) => (total(b) > total(a) ? b : a)));
  }
  return groups;
}

function spread(column, lanes) {
  const bytes = new Float64Array(lanes);
  for (let i = 0; i < column.length; i += 2) bytes[column[i]] = column[i + 1];
  return bytes;
}

const total = (bytes) => bytes.reduce((sum, of) => sum + of, 0);

function average(sums) {
  const mean = new Float64Array(sums[0].length);
  for (const sum of sums) sum.forEach((bytes, lane) => { mean[lane] += bytes / sums.length; });
  return mean;
}

/** The lanes of a run in the order in which they are stacked: by entry, then by flow. */
function order(run) {
  const places = run.lanes.map((_, place) => place);
  return places.sort((a, b) => run.lanes[a][0] - run.lanes[b][0] || run.lanes[a][1] - run.lanes[b][1]);
}

/** The groups that a chart of `columns` shows, and how long each is in seconds. */
export function shown(run, columns, { from, to }, width, mean) {
  const bin = run.checked.bin_s;
  const [first, last] = [Math.floor(from / bin), Math.min(Math.ceil(to / bin), columns.length)];
  const size = Math.max(1, Math.ceil((last - first) / Math.max(width / 3, 40)), mean ? Math.round(0.25 / bin) : 1);
  return { groups: grouped(columns, run.lanes.length, first, last, size, mean), start: first * bin, step: size * bin };
}

/** Draws a stack whose values are bytes times `factor`; `over` draws more into the axes. */
export function drawStack(canvas, run, columns, range, { factor, mean, most, over }) {
  const { groups, start, step } = shown(run, columns, range, canvas.clientWidth, mean);
  const axes = new Axes(canvas, { from: range.from, to: range.to, most });
  axes.before(run.checked.warmup_s);
  axes.clipped((context) => {
    const base = new Float64Array(groups.length);
    for (const lane of order(run)) {
      if (!groups.some((group) => group[lane] > 0)) continue;
      const [entry, shade] = run.lanes[lane];
      context.fillStyle = entryColour(entry, shade);
      context.beginPath();
      for (const [place, group] of groups.entries()) {
        const height = group[lane] * factor;
        if (height > 0) {
          const x = axes.x(start + place * step);
          const y = axes.y(base[place] + height);
          context.rect(x, y, axes.x(start + (place + 1) * step) - x + 0.4, axes.y(base[place]) - y);
        }
        base[place] += height;
      }
      context.fill();
    }
    over?.(context, axes);
  });
}

/** The largest total of a run's columns in a range, times `factor`. */
export function largest(run, columns, range, width, factor, mean) {
  const { groups } = shown(run, columns, range, width, mean);
  return groups.reduce((most, group) => Math.max(most, total(group) * factor), 0);
}

/** Draws the capacity of a queue as a line. */
export function capacityLine(run, queue) {
  const { mbps } = run.checked.queues[queue];
  const bin = run.checked.bin_s;
  return (context, axes) => {
    context.strokeStyle = themed("--ink");
    context.lineWidth = 1.2;
    context.setLineDash([3, 3]);
    context.beginPath();
    if (mbps.length === 1) {
      context.moveTo(axes.x(axes.from), axes.y(mbps[0]));
      context.lineTo(axes.x(axes.to), axes.y(mbps[0]));
    } else {
      mbps.forEach((rate, place) => {
        context.lineTo(axes.x(place * bin), axes.y(rate));
        context.lineTo(axes.x((place + 1) * bin), axes.y(rate));
      });
    }
    context.stroke();
    context.setLineDash([]);
  };
}

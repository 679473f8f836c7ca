// The chart of frame delays: a point for each frame of a call, both sides in one chart.
import { Axes } from "./chart.js";
import { SIDES, themed } from "./colours.js";
import { delay } from "./run.js";

/** The top of the chart, in ms: the largest delay with room above it, and the limit in any case. */
function top(runs, entry, limit, from, to) {
  let most = limit * 1.25;
  for (const run of runs) {
    for (const frame of run.frames[entry] ?? []) {
      if (frame[0] >= from * 1e3 && frame[0] <= to * 1e3) most = Math.max(most, (delay(frame) ?? 0) * 1.08);
    }
  }
  return Math.min(most, 5000);
}

/** Draws the delays of the call `entry` in `runs`; lost frames are crosses at the top. */
export function drawDelays(canvas, runs, entry, { from, to }) {
  const limit = runs[0]?.checked.entries[entry]?.stall_ms ?? 190;
  const axes = new Axes(canvas, { from, to, most: top(runs, entry, limit, from, to) });
  axes.before(runs[0]?.checked.warmup_s ?? 0);
  axes.clipped((context) => {
    context.setLineDash([6, 4]);
    context.strokeStyle = themed("--alarm");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(axes.x(from), axes.y(limit));
    context.lineTo(axes.x(to), axes.y(limit));
    context.stroke();
    context.setLineDash([]);
    runs.forEach((run, side) => points(context, axes, run.frames[entry] ?? [], side));
  });
}

function points(context, axes, frames, side) {
  context.fillStyle = themed(SIDES[side]);
  context.strokeStyle = context.fillStyle;
  context.lineWidth = 1.5;
  for (const frame of frames) {
    const x = axes.x(frame[0] / 1e3);
    const late = delay(frame);
    if (late === undefined) {
      context.beginPath();
      context.moveTo(x - 3, axes.y(axes.most) + 3);
      context.lineTo(x + 3, axes.y(axes.most) + 9);
      context.moveTo(x + 3, axes.y(axes.most) + 3);
      context.lineTo(x - 3, axes.y(axes.most) + 9);
      context.stroke();
    } else if (side === 0) {
      context.fillRect(x - 1.5, axes.y(late) - 1.5, 3, 3);
    } else {
      context.beginPath();
      context.arc(x, axes.y(late), 1.7, 0, 7);
      context.fill();
    }
  }
}

// The call as one sees it: a person who waves and talks. What is drawn is the frame that the simulated call
// shows at that moment, so the picture freezes when the call does.
import { prepared } from "./chart.js";
import { SIDES, themed } from "./colours.js";
import { onScreen } from "./run.js";

/** A picture that is older than this is called frozen, beyond the delay of the call. */
const FROZEN_MS = 250;

/** How long the picture has stood still at `at` ms, if that is a freeze; else 0. */
export function frozen(screen, at) {
  const seen = onScreen(screen, at);
  if (!seen) return 0;
  const still = at - seen.shown;
  return still > FROZEN_MS ? still : 0;
}

/** Draws what the screen of a call shows at `at` ms. */
export function drawFilm(canvas, screen, at, side) {
  const { context, width, height } = prepared(canvas);
  const seen = onScreen(screen, at);
  context.fillStyle = themed("--screen");
  context.fillRect(0, 0, width, height);
  if (!seen) {
    label(context, "no picture yet", width / 2, height / 2, "center");
    return;
  }
  person(context, width, height, seen.sent / 1e3, themed(SIDES[side]));
  label(context, `${(seen.sent / 1e3).toFixed(2)} s`, 8, 16, "left");
  const still = frozen(screen, at);
  if (still > 0) {
    context.fillStyle = "rgb(0 0 0 / 45%)";
    context.fillRect(0, 0, width, height);
    context.font = "bold 16px system-ui, sans-serif";
    label(context, `frozen for ${(still / 1e3).toFixed(1)} s`, width / 2, height / 2, "center");
  }
}

function label(context, text, x, y, align) {
  context.fillStyle = "#fff";
  context.textAlign = align;
  context.textBaseline = "middle";
  if (align === "left") context.font = "12px system-ui, sans-serif";
  context.fillText(text, x, y);
}

function person(context, width, height, time, colour) {
  const unit = Math.min(width / 1.5, height) / 10;
  const middle = width / 2 + Math.sin(time * 1.3) * unit * 0.5;
  const head = height / 2 - unit * 1.2 + Math.sin(time * 5.1) * unit * 0.12;
  context.fillStyle = colour;
  context.beginPath();
  context.ellipse(middle, height + unit * 0.5, unit * 3.4, unit * 4.6, 0, 0, 7);
  context.fill();
  // The hand that waves.
  const swing = -0.9 + Math.sin(time * 6.3) * 0.55;
  const [elbow, hand] = [[middle + unit * 3, height - unit * 2.2], [unit * 2.6 * Math.sin(-swing), unit * 2.9 * Math.cos(swing)]];
  context.strokeStyle = colour;
  context.lineWidth = unit * 1.1;
  context.lineCap = "round";
  context.beginPath();
  context.moveTo(elbow[0] - unit, height);
  context.lineTo(...elbow);
  context.lineTo(elbow[0] + hand[0] * 0.8, elbow[1] - hand[1]);
  context.stroke();
  context.fillStyle = "#f2c9a0";
  circle(context, elbow[0] + hand[0] * 0.8, elbow[1] - hand[1] - unit * 0.4, unit * 0.75);
  circle(context, middle, head, unit * 2.1);
  context.fillStyle = "#3b2f2a";
  context.beginPath();
  context.arc(middle, head - unit * 0.25, unit * 2.15, Math.PI * 1.02, Math.PI * 1.98);
  context.fill();
  const blink = time % 3.1 < 0.13 ? 0.06 : 0.28;
  for (const eye of [-0.75, 0.75]) {
    context.beginPath();
    context.ellipse(middle + eye * unit, head + unit * 0.1, unit * 0.2, unit * blink, 0, 0, 7);
    context.fill();
  }
  const mouth = 0.12 + 0.45 * Math.abs(Math.sin(time * 7.7) * Math.sin(time * 2.9));
  context.fillStyle = "#8c2f39";
  context.beginPath();
  context.ellipse(middle, head + unit * 1.1, unit * 0.65, unit * mouth, 0, 0, 7);
  context.fill();
}

function circle(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
}

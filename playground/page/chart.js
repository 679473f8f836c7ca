// Axes of a chart on a canvas: places for numbers, grid lines, labels.
import { themed } from "./colours.js";

const LEFT = 46;
const BOTTOM = 22;
const TOP = 8;
const RIGHT = 8;

/** Round numbers from 0 to at least `most`, at most `count` of them. */
export function ticks(from, to, count) {
  const span = Math.max(to - from, 1e-9);
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((of) => of * power).find((of) => of >= raw);
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-6; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}

/** A canvas that is as sharp as the screen. */
export function prepared(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** Axes on `canvas`: time in seconds from `from` to `to`, values from 0 to `most`. */
export class Axes {
  constructor(canvas, { from, to, most }) {
    Object.assign(this, prepared(canvas), { from, to, most });
    this.bottom = this.height - BOTTOM;
    this.right = this.width - RIGHT;
    this.grid();
  }

  x(seconds) {
    return LEFT + ((seconds - this.from) / (this.to - this.from)) * (this.right - LEFT);
  }

  y(value) {
    return this.bottom - (value / this.most) * (this.bottom - TOP);
  }

  grid() {
    const { context } = this;
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = themed("--quiet");
    context.strokeStyle = themed("--grid");
    context.lineWidth = 1;
    context.beginPath();
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of ticks(0, this.most, 4)) {
      const y = Math.round(this.y(value)) + 0.5;
      context.moveTo(LEFT, y);
      context.lineTo(this.right, y);
      context.fillText(String(value), LEFT - 5, y);
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const seconds of ticks(this.from, this.to, Math.max(2, this.width / 90))) {
      const x = Math.round(this.x(seconds)) + 0.5;
      context.moveTo(x, this.bottom);
      context.lineTo(x, this.bottom + 4);
      context.fillText(`${seconds} s`, Math.min(x, this.right - 12), this.bottom + 6);
    }
    context.stroke();
  }

  /** Restricts what is drawn to the area of values. */
  clipped(draw) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP - 2, this.right - LEFT, this.bottom - TOP + 2);
    context.clip();
    draw(context);
    context.restore();
  }

  /** Shades the time before `seconds`. */
  before(seconds) {
    if (seconds <= this.from) return;
    this.context.fillStyle = themed("--shade");
    this.context.fillRect(LEFT, TOP, this.x(Math.min(seconds, this.to)) - LEFT, this.bottom - TOP);
  }
}

/** A chart's canvas, with a line over it at a moment. */
export function plot(canvas) {
  const cursor = document.createElement("div");
  cursor.className = "cursor";
  canvas.after(cursor);
  const box = canvas.parentElement;
  box.classList.add("plot");
  return (seconds, { from, to }) => {
    cursor.hidden = seconds < from || seconds > to;
    const share = (seconds - from) / (to - from);
    cursor.style.transform = `translateX(${LEFT + share * (canvas.clientWidth - LEFT - RIGHT)}px)`;
  };
}

/** The moment in seconds at a place of a chart that shows `from` to `to`. */
export function momentAt(canvas, clientX, from, to) {
  const box = canvas.getBoundingClientRect();
  const share = (clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
  return from + Math.min(1, Math.max(0, share)) * (to - from);
}

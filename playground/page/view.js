// What of the runs is shown: the window of time, the queue, the call, the page.
import { byId, element, options, paced } from "./dom.js";
import { momentAt, plot } from "./chart.js";
import { entryColour } from "./colours.js";
import { drawDelays } from "./delay.js";
import { isSilent } from "./run.js";
import { Player } from "./player.js";
import { showValues } from "./tables.js";

/** Seconds before the measured time that are shown at first. */
const LEAD_S = 5;

/** While a run goes on its picture grows this often. */
const PACE_MS = 200;

/** The picture of both runs. */
export class View {
  constructor(sides) {
    Object.assign(this, { sides, runs: [], range: { from: 0, to: 1 }, queue: 0 });
    this.draw = paced(() => this.charts(), PACE_MS);
    const draw = () => this.draw();
    this.delays = byId("delays");
    const frame = element("div");
    this.delays.before(frame);
    frame.append(this.delays);
    this.cursor = plot(this.delays);
    this.player = new Player(() => this.scene(), (side, ms) => isSilent(this.runs[side]?.silent[this.call] ?? [], ms));
    for (const id of ["from", "to"]) byId(id).addEventListener("input", () => this.window());
    byId("queue").addEventListener("change", ({ target }) => { this.queue = Number(target.value); this.draw(); });
    byId("call").addEventListener("change", ({ target }) => { this.call = Number(target.value); this.draw(); this.scene(); });
    for (const canvas of document.querySelectorAll("canvas.chart")) this.seek(canvas);
    addEventListener("resize", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.draw(); this.scene(); });
    byId("values").parentElement.addEventListener("toggle", draw);
  }

  /** A press on a chart, or arrow keys, move the playhead. */
  seek(canvas) {
    canvas.addEventListener("pointerdown", ({ clientX }) => {
      this.player.set(momentAt(canvas, clientX, this.range.from, this.range.to));
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.1, ArrowRight: 0.1, PageDown: -5, PageUp: 5 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.player.set(Math.min(this.player.to, Math.max(this.player.from, this.player.now + step)));
    });
  }

  /** Shows these runs as far as they are. The picture of the last runs stays until both have reached the window. */
  show(runs) {
    if (runs.some((run) => !run.checked)) return;
    const { checked } = runs[0];
    const shape = JSON.stringify([checked.duration_s, checked.warmup_s, checked.entries.map((of) => of.name), checked.queues.map((of) => of.name)]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.runs = [];
      this.begin(checked);
    }
    if (runs.some((run) => run.until <= this.range.from)) return;
    const first = this.runs !== runs;
    this.runs = runs;
    this.draw(first || runs.every((run) => run.result));
  }

  begin(checked) {
    const { duration_s: end, warmup_s: warmup, entries, queues } = checked;
    for (const id of ["from", "to"]) byId(id).max = end;
    byId("from").value = Math.max(0, warmup - LEAD_S);
    byId("to").value = end;
    const calls = entries.map(({ name, call }, place) => [place, name, call]).filter(([, , call]) => call);
    options(byId("call"), calls.map(([place, name]) => [place, name]), calls[0]?.[0]);
    this.call = calls[0]?.[0];
    // The queue that the call goes through.
    this.queue = Math.max(0, queues.findIndex(({ up }) => up === entries[this.call]?.up));
    options(byId("queue"), queues.map(({ name, up }, place) => [place, up ? `up (${name})` : `down (${name})`]), this.queue);
    byId("legend").replaceChildren(...entries.map(({ name, kind }, place) => {
      const swatch = element("span", { className: "swatch" });
      swatch.style.background = entryColour(place);
      return element("span", {}, swatch, `${name}, ${kind}`);
    }));
    this.placed = false;
    this.window();
  }

  /** The entry whose page fills: the first page, else the first transfers that end. */
  page() {
    const { entries } = this.runs[0].checked;
    const of = entries.findIndex(({ kind }) => kind === "page");
    if (of >= 0) return of;
    const ends = entries.findIndex((_, place) => this.runs.some((run) => run.transfers[place].some((one) => one?.complete)));
    return ends < 0 ? undefined : ends;
  }

  window() {
    const [from, to] = ["from", "to"].map((id) => Number(byId(id).value));
    this.range = to - from < 0.5 ? { from: Math.max(0, to - 0.5), to } : { from, to };
    byId("window").textContent = `${this.range.from} to ${this.range.to} s`;
    this.player.setRange(this.range.from, this.range.to);
    this.draw();
  }

  /** Moves the playhead to where the call under A is worst, once for each scenario. */
  place() {
    if (this.placed || this.player.playing) return;
    this.placed = true;
    const warmup = this.runs[0].checked.warmup_s * 1e3;
    const measured = (this.runs[0].frames[this.call] ?? []).filter(([sent, arrived]) => sent >= warmup && arrived !== null);
    const worst = measured.reduce((most, frame) => (frame[1] - frame[0] > most[1] - most[0] ? frame : most), [0, 0]);
    if (worst[1] > 0) this.player.set(worst[0] / 1e3);
  }

  scene() {
    const now = this.player?.now ?? 0;
    if (this.runs.length < 2) return;
    const view = { call: this.call, page: this.page(), now, range: this.range };
    this.sides.forEach((side, place) => side.drawScene(this.runs[place], view));
    this.cursor(now, this.range);
  }

  /** The steps in which the charts are drawn. */
  charts() {
    const { runs, sides, range, queue } = this;
    if (runs.length < 2) return [];
    const view = { queue, range };
    const scales = sides.map((side, place) => side.scales(runs[place], view));
    const both = { bytes: Math.max(10, ...scales.map((of) => of.bytes)) * 1.05, rate: Math.max(...scales.map((of) => of.rate)) * 1.05 };
    const mark = () => {
      this.scene();
      // For measurements of how long a picture takes.
      performance.mark("picture");
    };
    const table = () => showValues(runs, { call: this.call, ...view });
    return [() => drawDelays(this.delays, runs, this.call, range),
      ...sides.map((side, place) => () => side.drawCharts(runs[place], { ...view, scales: both })),
      mark, ...(byId("values").parentElement.open ? [table] : [])];
  }
}

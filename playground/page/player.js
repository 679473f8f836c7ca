// The playhead: a moment of the run that moves as fast as the clock, or slower, or faster.
import { byId } from "./dom.js";
import { Voice } from "./sound.js";

/** Without motion the playhead moves in steps of this many ms. */
const STEP_MS = 1000;

/** Calls `moved(seconds)` when the moment changes, and `heard(side, ms)` says whether that side is silent. */
export class Player {
  constructor(moved, silent) {
    Object.assign(this, { moved, silent, now: 0, from: 0, to: 1, voice: new Voice() });
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    byId("play").addEventListener("click", () => (this.playing ? this.stop() : this.start()));
    byId("moment").addEventListener("input", (event) => this.set(Number(event.target.value)));
    byId("sound").addEventListener("change", () => this.tune());
  }

  /** The run's span of time. */
  setRange(from, to) {
    Object.assign(this, { from, to });
    const slider = byId("moment");
    slider.min = from;
    slider.max = to;
    this.set(Math.min(Math.max(this.now, from), to));
  }

  set(seconds) {
    this.now = seconds;
    byId("moment").value = seconds;
    byId("clock").textContent = `${seconds.toFixed(1)} s`;
    this.moved(seconds);
  }

  start() {
    if (this.now >= this.to - 0.05) this.set(this.from);
    this.playing = true;
    byId("play").textContent = "Pause";
    byId("play").setAttribute("aria-pressed", "true");
    this.tune();
    if (this.still.matches) {
      this.timer = setInterval(() => this.advance(STEP_MS), STEP_MS);
      return;
    }
    let last = performance.now();
    const frame = (time) => {
      if (!this.playing) return;
      this.advance(Math.max(0, time - last));
      last = time;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  stop() {
    this.playing = false;
    clearInterval(this.timer);
    this.voice.stop();
    byId("play").textContent = "Play";
    byId("play").setAttribute("aria-pressed", "false");
  }

  advance(ms) {
    const next = this.now + (ms / 1e3) * Number(byId("speed").value);
    this.set(Math.min(next, this.to));
    this.hum();
    if (next >= this.to) this.stop();
  }

  /** Switches the voice on or off, as the control says. */
  tune() {
    if (byId("sound").value === "" || !this.playing) this.voice.stop();
    else this.voice.start();
  }

  hum() {
    const side = byId("sound").value;
    if (side !== "") this.voice.play(this.now * 1e3, this.silent(Number(side), this.now * 1e3));
  }
}

// The two sides of the page: for each a discipline, what the call and the page look like, and its queue.
import { plot } from "./chart.js";
import { byId, element } from "./dom.js";
import { drawFilm, frozen } from "./film.js";
import { drawFill } from "./pagefill.js";
import { capacityLine, drawStack, largest } from "./stack.js";

const LETTERS = ["A", "B"];

/** Makes both sides; `chosen(side, discipline)` is called when a discipline is chosen. */
export function makeSides(chosen) {
  const sides = LETTERS.map((letter, place) => new Side(letter, place, chosen));
  byId("sides").replaceChildren(...sides.map((side) => side.box));
  for (const side of sides) side.begin();
  return sides;
}

function canvas(className, label) {
  return element("canvas", { className, role: "img", "aria-label": label });
}

class Side {
  constructor(letter, place, chosen) {
    this.place = place;
    this.letter = letter;
    this.choice = element("input", { type: "text", autocomplete: "off", spellcheck: false });
    this.choice.setAttribute("list", "disciplines");
    this.choice.addEventListener("change", () => chosen(place, this.choice.value.trim()));
    this.film = canvas("film", `The call under ${letter}`);
    this.page = canvas("fill", `The page under ${letter}`);
    this.queue = canvas("chart", `What waits in the queue under ${letter}, by flow`);
    this.share = canvas("chart", `What each gets under ${letter}`);
    this.words = element("p", { className: "quiet" });
    const chart = (of, words) => element("figure", {}, element("figcaption", { className: "quiet", textContent: words }), element("div", {}, of));
    this.box = element("section", { className: "side", "aria-label": `Side ${letter}` },
      element("div", { className: "row" }, element("h2", { textContent: letter }),
        element("label", { className: "wide" }, "Discipline ", this.choice)),
      element("div", { className: "scene" }, this.film, this.page),
      this.words,
      chart(this.queue, "What waits in the queue, kB, by flow"),
      chart(this.share, "What each gets, Mbit/s; the dashed line is the capacity"));
    this.box.style.setProperty("--side", `var(--side-${letter.toLowerCase()})`);
  }

  begin() {
    this.cursors = [this.queue, this.share].map(plot);
  }

  /** What is seen at `now` seconds. */
  drawScene(run, { call, page, now, range }) {
    const at = now * 1e3;
    const screen = run.screen[call] ?? [];
    drawFilm(this.film, screen, at, this.place);
    const state = page === undefined ? undefined : drawFill(this.page, run, page, at);
    this.page.hidden = page === undefined;
    const still = frozen(screen, at);
    const seen = [still ? `The call is frozen for ${(still / 1e3).toFixed(1)} s.` : "The call runs."];
    if (state) seen.push(`The page: ${state.words}, ${state.filled} of ${state.tiles} parts.`);
    const words = seen.join(" ");
    if (this.words.textContent !== words) this.words.textContent = words;
    for (const cursor of this.cursors) cursor(now, range);
  }

  /** The charts of the queue; `scales` are their tops. */
  drawCharts(run, { queue, range, scales }) {
    const rate = { factor: 8e-6 / run.checked.bin_s, mean: true, most: scales.rate };
    drawStack(this.queue, run, run.waiting[queue], range, { factor: 1e-3, mean: false, most: scales.bytes });
    drawStack(this.share, run, run.left[queue], range, { ...rate, over: capacityLine(run, queue) });
  }

  /** The tops that this side's charts need. */
  scales(run, { queue, range }) {
    const width = this.queue.clientWidth;
    const capacity = Math.max(...run.checked.queues[queue].mbps);
    return {
      bytes: largest(run, run.waiting[queue], range, width, 1e-3, false),
      rate: Math.max(capacity, largest(run, run.left[queue], range, width, 8e-6 / run.checked.bin_s, true)),
    };
  }
}

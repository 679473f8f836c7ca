// The controls of the line: they show the scenario's tree, and change it.
import { byId, element } from "./dom.js";
import { changes, drawnRates, PIECES, shownLine } from "./line.js";
import { fromPlace, mbit, place, rateText, short } from "./units.js";

/** Wires the controls; `change(edit)` changes the tree and runs it. */
export function wireLine(change, tree) {
  const slide = (id, what, value) => byId(id).addEventListener("input", (event) => {
    const number = value(Number(event.target.value));
    change((of) => changes[what](of, number));
  });
  slide("down", "down", fromPlace);
  slide("up", "up", fromPlace);
  slide("rtt", "rtt", fromPlace);
  slide("buffer", "buffer", fromPlace);
  slide("duration", "duration", (value) => value);
  for (const id of ["limited", "sized"]) {
    byId(id).addEventListener("change", (event) => change((of) => changes[id](of, event.target.checked)));
  }
  byId("capacity").addEventListener("change", (event) => {
    const line = shownLine(tree());
    const down = line.down ?? Math.max(...(line.drawn ?? [20]));
    if (event.target.value === "rate") change((of) => changes.down(of, down));
    else if (event.target.value === "steps") change((of) => changes.steps(of, Array(PIECES).fill(down)));
    else change((of) => changes.trace(of, line.trace ?? "generated:w1:1"));
  });
  wireDrawn(change);
}

/** The bars on which a rate is drawn: sliders for the keyboard, one area for a pointer. */
function wireDrawn(change) {
  const box = byId("drawn");
  const bars = Array.from({ length: PIECES }, (_, number) =>
    element("input", { type: "range", min: 0, max: 100, step: 1, "aria-label": `Rate in part ${number + 1} of ${PIECES}` }));
  box.replaceChildren(...bars);
  const take = () => change((tree) => changes.steps(tree, bars.map((bar) => (Number(bar.value) / 100) * Number(box.dataset.top))));
  box.addEventListener("input", take);
  const draw = (event) => {
    const area = box.getBoundingClientRect();
    const bar = bars[Math.floor(((event.clientX - area.left) / area.width) * PIECES)];
    if (!bar) return;
    bar.value = 100 * (1 - (event.clientY - area.top) / area.height);
    take();
  };
  box.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    box.setPointerCapture(event.pointerId);
    box.onpointermove = draw;
    draw(event);
  });
  const end = () => { box.onpointermove = null; };
  box.addEventListener("pointerup", end);
  box.addEventListener("pointercancel", end);
}

function output(id, text) {
  byId(id).parentElement.querySelector("output").textContent = text;
}

function slider(id, value, text, enabled = true) {
  const of = byId(id);
  of.disabled = !enabled || value === undefined;
  if (value !== undefined && document.activeElement !== of) of.value = value;
  if (value !== undefined) of.setAttribute("aria-valuetext", text);
  output(id, value === undefined ? "" : text);
}

/** Shows the tree in the controls. */
export function showLine(tree) {
  const line = shownLine(tree);
  byId("beyond").hidden = line !== undefined;
  for (const control of byId("line").querySelectorAll("input, select")) control.disabled = line === undefined;
  if (!line) return;
  slider("down", line.down && place(line.down), line.down === undefined ? "" : rateText(line.down));
  slider("up", line.up && place(line.up), line.up === undefined ? "" : rateText(line.up), line.limited);
  slider("rtt", line.rtt && place(Math.max(1, line.rtt)), `${short(line.rtt ?? 0)} ms`);
  slider("buffer", line.buffer && place(line.buffer), `${line.buffer} packets`, line.sized);
  slider("duration", line.duration, `${line.duration} s`);
  byId("limited").checked = line.limited;
  byId("sized").checked = line.sized;
  byId("capacity").value = line.capacity;
  byId("recorded").textContent = line.capacity === "trace" ? `Recorded: ${line.trace}. Load a file of "seconds Mbit/s" lines for another one.` : "";
  showDrawn(line, tree);
}

function showDrawn(line, tree) {
  const box = byId("drawn");
  box.classList.toggle("shown", line.capacity === "steps");
  if (line.capacity !== "steps") return;
  const rates = line.drawn ?? drawnRates(`0s ${rateText(mbit("20mbit"))}`, tree);
  // The top stays where it is while one draws, unless a rate does not fit.
  const most = Math.max(...rates, 1);
  const top = Number(box.dataset.top ?? 0);
  if (most > top || most < top / 8) box.dataset.top = most * 1.25;
  [...box.children].forEach((bar, number) => {
    if (document.activeElement !== bar) bar.value = (100 * rates[number]) / Number(box.dataset.top);
    bar.setAttribute("aria-valuetext", rateText(Math.max(rates[number], 0)));
  });
}

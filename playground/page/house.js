// The controls of the household: things that are dragged onto computers, or added with a key.
import { byId, element, options } from "./dom.js";
import { entryColour } from "./colours.js";
import { add, computers, hostOf, remove, startOf, THINGS } from "./household.js";

/** A drag begins once the pointer has moved so far. */
const DRAG_PX = 6;

/** Wires what people do; `change(edit)` changes the tree and runs it. */
export function wireHousehold(change, tree) {
  const buttons = Object.entries(THINGS).map(([name, { words }]) => {
    const button = element("button", { type: "button", className: "thing", textContent: `+ ${words}` });
    button.addEventListener("click", () => {
      if (button.dataset.dragged) return;
      change((of) => add(of, name, computers(of)[0]));
    });
    draggable(button, (host) => change((of) => add(of, name, host)));
    return button;
  });
  byId("palette").replaceChildren(...buttons);
  byId("computers").addEventListener("change", ({ target }) => {
    const { place, key } = target.dataset;
    if (place !== undefined) change((of) => set(of.traffic[place], key, target.value));
  });
  byId("computers").addEventListener("click", ({ target }) => {
    if (target.dataset.remove === undefined) return;
    change((of) => remove(of, Number(target.dataset.remove)));
    byId("palette").firstElementChild.focus();
  });
  return () => showHousehold(change, tree());
}

function set(entry, key, value) {
  if (key === "start") entry.start = `${Math.max(0, Number(value) || 0)}s`;
  else if (key === "count") entry.count = Math.min(100, Math.max(1, Math.round(Number(value)) || 1));
  else entry[key] = value;
}

/** Lets an element be dragged onto a computer. */
function draggable(of, dropped) {
  of.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    let ghost;
    delete of.dataset.dragged;
    of.setPointerCapture(down.pointerId);
    const under = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest(".computer");
    const mark = (computer) => document.querySelectorAll(".computer").forEach((box) => box.classList.toggle("over", box === computer));
    const move = (event) => {
      if (!ghost && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < DRAG_PX) return;
      if (!ghost) {
        ghost = of.cloneNode(true);
        ghost.classList.add("dragged");
        document.body.append(ghost);
        of.dataset.dragged = "yes";
      }
      ghost.style.left = `${event.clientX + 6}px`;
      ghost.style.top = `${event.clientY + 6}px`;
      mark(under(event));
    };
    const end = (event) => {
      of.removeEventListener("pointermove", move);
      ghost?.remove();
      mark(undefined);
      const computer = ghost && event.type === "pointerup" && under(event);
      if (computer) dropped(computer.dataset.host);
      // A click follows a drag.
      setTimeout(() => delete of.dataset.dragged, 0);
    };
    of.addEventListener("pointermove", move);
    of.addEventListener("pointerup", end, { once: true });
    of.addEventListener("pointercancel", end, { once: true });
  });
}

function showHousehold(change, tree) {
  const hosts = computers(tree);
  const boxes = hosts.map((host) => {
    const entries = tree.traffic.map((entry, place) => [entry, place]).filter(([entry]) => hostOf(entry) === host);
    const box = element("div", { className: "computer" }, element("h3", { textContent: host }),
      ...entries.map(([entry, place]) => row(change, entry, place, hosts)));
    box.dataset.host = host;
    return box;
  });
  const { place, key } = document.activeElement?.dataset ?? {};
  byId("computers").replaceChildren(...boxes);
  // What had the focus keeps it.
  if (key) byId("computers").querySelector(`[data-place="${place}"][data-key="${key}"]`)?.focus();
}

function row(change, entry, place, hosts) {
  const name = element("b", { className: "thing" }, element("span", { className: "swatch" }), ` ${entry.name}`);
  name.firstChild.style.cssText = `display:inline-block;background:${entryColour(place)}`;
  draggable(name, (host) => change((of) => { of.traffic[place].host = host; }));
  const field = (key, value, label, of) => {
    Object.assign(of, { value, title: label });
    of.setAttribute("aria-label", `${entry.name}: ${label}`);
    Object.assign(of.dataset, { place, key });
    return of;
  };
  const number = (key, value, label, most) => field(key, value, label, element("input", { type: "number", min: key === "count" ? 1 : 0, max: most, step: 1 }));
  const select = (key, value, label, choices) => {
    const of = element("select");
    options(of, choices, value);
    return field(key, value, label, of);
  };
  const bin = element("button", { type: "button", textContent: "×", title: "remove", "aria-label": `Remove ${entry.name}` });
  bin.dataset.remove = place;
  return element("div", { className: "entry" }, name,
    element("label", {}, "from ", number("start", startOf(entry), "starts at second", 3600), " s"),
    element("label", {}, number("count", entry.count ?? 1, "how many", 100), "×"),
    select("direction", entry.direction ?? "down", "direction", [["down", "down"], ["up", "up"]]),
    select("host", hostOf(entry), "computer", hosts.map((host) => [host, host])), bin);
}

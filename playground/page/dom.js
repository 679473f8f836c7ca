// Elements of the page. Text is only ever set as text: what a file or an address says is never markup.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** A new element with properties, and children that are elements or texts. */
export function element(name, properties = {}, ...children) {
  const of = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("aria-") || key === "role") of.setAttribute(key, value);
    else of[key] = value;
  }
  of.append(...children);
  return of;
}

/** Fills a select with `[value, words]`, and chooses one. */
export function options(select, choices, chosen) {
  select.replaceChildren(...choices.map(([value, words]) => element("option", { value, textContent: words })));
  select.value = chosen;
}

/** Fills a table. */
export function fillTable(table, headings, rows) {
  const line = (cells, name) => element("tr", {}, ...cells.map((text) => element(name, { textContent: text })));
  table.tHead.replaceChildren(line(headings, "th"));
  const body = rows.map(([first, ...rest]) => {
    const row = line(rest, "td");
    row.prepend(element("th", { scope: "row", textContent: first }));
    return row;
  });
  table.tBodies[0].replaceChildren(...body);
}

/** The time that drawing takes of one picture of the screen, in ms, but for its last step. */
const BUDGET_MS = 10;

/**
 * Draws in steps; those that do not fit into one picture of the screen are left to the next, so that none takes
 * long. However often it is asked, it begins at most every `ms`, unless it is asked to begin at once. `steps`
 * returns the functions that draw.
 */
export function paced(steps, ms) {
  let last = -Infinity;
  let timer;
  let frame;
  const follow = (left) => {
    if (left.length === 0) return;
    frame = requestAnimationFrame(() => {
      const until = performance.now() + BUDGET_MS;
      do left.shift()(); while (left.length > 0 && performance.now() < until);
      follow(left);
    });
  };
  const begin = () => {
    timer = undefined;
    last = performance.now();
    cancelAnimationFrame(frame);
    follow(steps());
  };
  return (atOnce = false) => {
    if (timer !== undefined && !atOnce) return;
    clearTimeout(timer);
    timer = setTimeout(begin, atOnce ? 0 : Math.max(0, last + ms - performance.now()));
  };
}

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

/**
 * Draws in steps, each in a picture of the screen of its own, so that none takes long; however often it is
 * asked, at most every `ms`. `steps` returns the functions that draw.
 */
export function paced(steps, ms) {
  let last = -Infinity;
  let asked = false;
  const follow = (left) => requestAnimationFrame(() => {
    left[0]?.();
    if (left.length > 1) return follow(left.slice(1));
    last = performance.now();
    asked = false;
    return undefined;
  });
  return () => {
    if (asked) return;
    asked = true;
    setTimeout(() => follow(steps()), Math.max(0, last + ms - performance.now()));
  };
}

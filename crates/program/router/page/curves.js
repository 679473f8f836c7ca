// Values over the last ten minutes, a curve for each direction.

const SPAN_S = 600;
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 352, 8, 110];
// Two points that are further apart have nothing between them.
const GAP_S = 12;

/** The least round number that is no less: 1, 2 or 5, and zeros. */
function round(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((step) => step * power >= value);
}

/** Pieces of a course without gaps, as lists of places. */
function pieces({ at_s: times }, values, now, highest) {
  const all = [];
  let last = -Infinity;
  times.forEach((at, n) => {
    if (values[n] === null || at < now - SPAN_S) return;
    if (at - last > GAP_S) all.push([]);
    last = at;
    const x = RIGHT - ((now - at) / SPAN_S) * (RIGHT - LEFT);
    const y = BOTTOM - (values[n] / highest) * (BOTTOM - TOP);
    all.at(-1).push(`${x.toFixed(1)},${y.toFixed(1)}`);
  });
  return all;
}

/** A picture of the values that `of` takes from the course of each direction; none if there are none. */
function curves(line, now, label, least, of) {
  const ways = ["down", "up"].map((name) => ({ name, course: line[name], values: of(line[name]) }));
  const seen = ways.flatMap(({ values }) => values.filter((value) => value !== null));
  if (seen.length === 0) return null;
  const highest = round(Math.max(least, ...seen));
  const svg = drawn("svg", { viewBox: "0 0 360 132", role: "img", "aria-label": label });
  for (const part of [0, 0.5, 1]) {
    const y = BOTTOM - part * (BOTTOM - TOP);
    svg.append(drawn("line", { x1: LEFT, x2: RIGHT, y1: y, y2: y }));
    svg.append(drawn("text", { x: LEFT - 4, y: y + 3, "text-anchor": "end" }, String(Number((part * highest).toPrecision(3)))));
  }
  for (const [minutes, anchor] of [[10, "start"], [5, "middle"], [0, "end"]]) {
    const x = RIGHT - (minutes * 60 / SPAN_S) * (RIGHT - LEFT);
    svg.append(drawn("text", { x, y: BOTTOM + 14, "text-anchor": anchor }, minutes === 0 ? "now" : `${minutes} min ago`));
  }
  for (const { name, course, values } of ways) {
    for (const points of pieces(course, values, now, highest)) {
      // One point alone is a short line.
      const at = points.length === 1 ? [points[0], points[0].replace(/^[\d.]+/, (x) => String(Number(x) + 1))] : points;
      svg.append(drawn("polyline", { class: name, points: at.join(" ") }));
    }
  }
  const figure = made("figure");
  const caption = made("figcaption", `${label}: `);
  caption.append(made("span", "down ——", { class: "down" }), ", ", made("span", "up – –", { class: "up" }));
  figure.append(svg, caption);
  return figure;
}

// Colours of traffic entries and of the two sides. Hues that people with any colour vision tell apart
// (M. Okabe and K. Ito, 2008); flows of one entry are shades of its hue.

const HUES = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [86, 180, 233],
  [213, 94, 0],
  [148, 130, 30],
  [120, 120, 130],
];

/** The colour of the entry at `place`; `shade` tells its flows apart. */
export function entryColour(place, shade = 0) {
  const hue = HUES[place % HUES.length];
  const light = ((shade * 3) % 8) / 8 - 0.35;
  const mixed = hue.map((part) => Math.round(light > 0 ? part + (255 - part) * light : part * (1 + light * 0.6)));
  return `rgb(${shade === 0 ? hue : mixed})`;
}

/** Names of the custom properties in style.css for the two sides. */
export const SIDES = ["--side-a", "--side-b"];

/** The value of a custom property of the page. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Rates and times, from and to the texts of a scenario.

const RATES = { bit: 1e-6, kbit: 1e-3, mbit: 1, gbit: 1e3 };
const TIMES = { ns: 1e-6, us: 1e-3, "µs": 1e-3, ms: 1, s: 1e3, sec: 1e3, min: 6e4, m: 6e4, h: 36e5 };

function parsed(text, units) {
  const [, number, unit] = /^\s*([0-9.]+)\s*([a-zµ]+)\s*$/.exec(String(text).toLowerCase()) ?? [];
  const value = Number(number) * units[unit];
  return Number.isFinite(value) ? value : undefined;
}

/** A rate in Mbit/s; none if the text is no rate. */
export const mbit = (text) => parsed(text, RATES);

/** A time in ms; none if the text is no time. */
export const milliseconds = (text) => parsed(text, TIMES);

/** A number with two digits that count. */
export function short(value) {
  return String(Number(value.toPrecision(2)));
}

/** A rate as a scenario has it. */
export function rateText(value) {
  return value < 1 ? `${short(value * 1e3)}kbit` : `${short(value)}mbit`;
}

/** A slider's place for a value, and back: ten steps for each factor of ten. */
export const place = (value) => 10 * Math.log10(value);
export const fromPlace = (at) => 10 ** (at / 10);

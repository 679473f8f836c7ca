// The household of a scenario's tree: who does what, on which computer.
import { milliseconds } from "./units.js";

/** What people do, by name: the words on the page, and the entry of a scenario. */
export const THINGS = {
  call: { words: "Call", entry: { kind: "call" } },
  game: { words: "Cloud game", entry: { kind: "call", preset: "game" } },
  pages: { words: "Web pages", entry: { kind: "page", source: "generated-web:40", start: "15s", interval: "20s" } },
  download: { words: "Download", entry: { kind: "bulk", start: "20s" } },
  upload: { words: "Upload", entry: { kind: "bulk", direction: "up", start: "20s" } },
  television: { words: "Television", entry: { kind: "video", start: "5s" } },
  torrents: { words: "Torrents", entry: { kind: "bulk", count: 20, start: "20s" } },
};

/** Computers that are there in any case. */
const COMPUTERS = ["laptop", "tv", "phone", "pc"];

/** The computer of an entry: its own unless it says another one. */
export const hostOf = (entry) => String(entry.host ?? entry.name);

/** All computers, those with traffic first. */
export function computers(tree) {
  return [...new Set([...tree.traffic.map(hostOf), ...COMPUTERS])];
}

/** Adds a thing on a computer; returns the new entry. */
export function add(tree, thing, host) {
  const taken = new Set(tree.traffic.map((entry) => entry.name));
  let name = thing;
  for (let number = 2; taken.has(name) || [...taken].some((other) => other.startsWith(`${name}-`)); number++) {
    name = `${thing} ${number}`;
  }
  const entry = { name, ...THINGS[thing].entry, host };
  tree.traffic.push(entry);
  return entry;
}

/** Removes an entry. The last one stays: a scenario has traffic. */
export function remove(tree, place) {
  if (tree.traffic.length > 1) tree.traffic.splice(place, 1);
}

/** When an entry begins, in seconds. */
export const startOf = (entry) => (milliseconds(entry.start ?? "0s") ?? 0) / 1e3;

// Files that a person loads: what each is, and what it changes. They stay in the page.
import { MOST_TEXT } from "./fragment.js";

/** Larger files are no recording of a household. */
export const MOST_FILE = 64 << 20;

/** A name that a scenario can hold: letters, digits, dots, `-` and `_`. */
export function plainName(name) {
  const plain = name.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^[.]+/, "_").slice(-60);
  return /^(generated|document)/.test(plain) ? `file-${plain}` : plain || "file";
}

/** What the text of a file is: `toml`, `har`, `webrtc`, `report` or `trace`. */
export function kindOf(name, text) {
  const head = text.slice(0, 4096).trimStart();
  if (head.startsWith("{")) return text.includes('"PeerConnections"') ? "webrtc" : "har";
  if (head.startsWith("<")) return "report";
  if (/\.toml$/i.test(name) || /^(#|\[|[a-z_]+\s*=)/.test(head) && /=/.test(head)) return "toml";
  return "trace";
}

/** Reads a file; throws an error with a sentence if it is too large or no text. */
export async function read(file) {
  if (file.size > MOST_FILE) throw new Error(`${file.name}: it has more than ${MOST_FILE >> 20} MB`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  const kind = kindOf(file.name, text);
  if (kind === "toml" && text.length > MOST_TEXT) throw new Error(`${file.name}: a scenario has at most ${MOST_TEXT} characters`);
  return { name: plainName(file.name), kind, bytes, text };
}

/** The scenario's tree in a report of `analects run --report`. No script of the report runs. */
export function fromReport(name, text) {
  const report = new DOMParser().parseFromString(text, "text/html");
  const scenario = report.getElementById("scenario")?.textContent;
  try {
    return JSON.parse(scenario);
  } catch {
    throw new Error(`${name}: there is no scenario in it; load a report that analects run --report wrote`);
  }
}

/** Puts a recorded page into the household: into its first entry of pages, or a new one. */
export function usePage(tree, name) {
  const entry = tree.traffic.find((of) => of.kind === "page");
  if (entry) entry.source = name;
  else tree.traffic.push({ name: "recorded page", kind: "page", source: name, start: "15s", interval: "20s" });
}

/** Replaces the calls of the household by recorded ones. */
export function useCalls(tree, { calls, rtt_ms }, link) {
  const others = tree.traffic.filter((of) => of.kind !== "call");
  const own = calls.map(({ up, kbit, fps }, place) => ({
    name: `recorded call ${place + 1}`, kind: "call", host: "laptop", max_rate: `${kbit}kbit`, min_rate: `${Math.min(150, kbit)}kbit`,
    start_rate: `${Math.min(300, kbit)}kbit`, fps, ...(up && { direction: "up" }),
  }));
  tree.traffic = [...own, ...others];
  if (rtt_ms && link) link.rtt = `${rtt_ms}ms`;
}

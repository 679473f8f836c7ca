// The figures of the page are those of the command line, to the byte: all scenarios of the tree, all stories.
//   node equal.mjs ANALECTS
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { lines } from "./program.mjs";

const [analects] = process.argv.slice(2);
const root = new URL("../../", import.meta.url);

/** JSON without white space between its parts; its numbers stay as they are written. */
const compact = (text) => text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part.startsWith('"') ? part : ""));

/** The text of each item of the list that follows `"results":`. */
function results(text) {
  const list = text.slice(text.indexOf('"results":[') + '"results":['.length);
  const found = [];
  let [depth, start] = [0, 0];
  for (const { 0: part, index } of list.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (part === "{" || part === "[") depth++;
    if (part === "}" || part === "]") depth--;
    if (depth < 0) break;
    if (depth === 0 && part === "}") {
      found.push(list.slice(start, index + 1));
      start = index + 2;
    }
  }
  return found;
}

/** A result without the name of its trace, which the command line adds to tell runs apart. */
const figures = (text) => text.replace(/"variant":\{[^}]*\}/, '"variant":{}');

let compared = 0;
for (const folder of ["scenarios", "playground/stories"]) {
  for (const name of readdirSync(new URL(`${folder}/`, root)).filter((of) => of.endsWith(".toml"))) {
    const file = new URL(`${folder}/${name}`, root).pathname;
    const native = results(compact(execFileSync(analects, ["run", file, "--repeat", "1", "--format", "json"], { encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] })));
    const text = readFileSync(file, "utf8");
    if (native.length === 0) throw new Error(`${name}: the command line has no results`);
    for (const result of native) {
      const { discipline, seed } = JSON.parse(result);
      const { printed, errors } = await lines(["run", discipline, String(seed)], text);
      const [theirs, ours] = [`{"result":${figures(result)}}`, printed.at(-1)];
      if (ours !== theirs) {
        const place = [...theirs].findIndex((letter, i) => letter !== ours?.[i]);
        const near = (text) => text?.slice(Math.max(0, place - 60), place + 60);
        throw new Error(`${name}, ${discipline}: the page has other figures from byte ${place} on: ${near(ours)} against ${near(theirs)} ${errors}`);
      }
      compared++;
    }
    console.log(`${folder}/${name}: ${native.length} equal`);
  }
}
console.log(`ok: ${compared} runs, each to the byte`);

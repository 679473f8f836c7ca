// The page: a scenario's tree, two runs of it, and what people change.
import { byId, element, options } from "./dom.js";
import { Engine } from "./engine.js";
import { fromReport, read, useCalls, usePage } from "./files.js";
import { fromFragment, toFragment } from "./fragment.js";
import { showLine, wireLine } from "./controls.js";
import { wireHousehold } from "./house.js";
import { changes, link } from "./line.js";
import { Run } from "./run.js";
import { makeSides } from "./sides.js";
import { showFigures } from "./tables.js";
import { toToml } from "./toml.js";
import { View } from "./view.js";
import { begin } from "./workers.js";

const SEEDS = 12;
/** What is run if an address says nothing. */
const FIRST_STORY = "a-page-during-a-call";
const PREFERRED = ["pfifo", "mencius"];

const stories = JSON.parse(byId("stories").textContent);
const { start, program } = begin();
const engines = [0, 1].map(() => new Engine(start, program));
const reader = new Engine(start, program);
const sides = makeSides((side, discipline) => change((of) => { of.disciplines[side] = discipline; }));
const view = new View(sides);
let tree;
let text = "";
let files = new Map();
/** Counts changes: what belongs to an older one is dropped. */
let version = 0;
let runs = [];
let showHouse = () => {};

function complain(problem) {
  const sentence = typeof problem === "string" ? problem
    : [problem.place, problem.message].filter(Boolean).join(": ") + (problem.help ? `; ${problem.help}` : "");
  byId("error").textContent = sentence;
  byId("error").hidden = sentence === "";
}

/** The disciplines to compare: the first and the last of a scenario, or usual ones. */
function pair(disciplines) {
  const [first = PREFERRED[0]] = disciplines;
  const last = disciplines.length > 1 ? disciplines.at(-1) : PREFERRED.find((name) => name !== first);
  return [String(first), String(last)];
}

/** What the program says of a scenario's text; complains and returns nothing if that is none. */
async function checked(newText) {
  let answer;
  const outcome = await reader.ask(["check"], newText, (line) => { answer = line; });
  if (answer?.checked) return answer.checked;
  if (outcome) complain(answer?.error ?? `The scenario could not be read: ${outcome.errors}`);
  return undefined;
}

/** Runs a scenario from its text; complains and returns false if it is none. */
async function load(newText) {
  const found = await checked(newText);
  if (!found) return false;
  const loaded = found.document;
  loaded.disciplines = pair(found.disciplines);
  loaded.traffic = [loaded.traffic].flat();
  tree = loaded;
  byId("told").textContent = found.left_out.join("\n");
  run();
  return true;
}

/** Changes the tree and runs it. */
function change(edit) {
  if (!tree) return;
  const before = structuredClone(tree);
  edit(tree);
  if (JSON.stringify(before) !== JSON.stringify(tree)) run();
}

function written() {
  const [a, b] = tree.disciplines;
  return toToml({ ...tree, disciplines: a === b ? [a] : [a, b] });
}

async function run() {
  const own = ++version;
  complain("");
  text = written();
  byId("text").value = text;
  byId("summary").textContent = tree.summary ?? "";
  showLine(tree);
  showHouse();
  sides.forEach((side, place) => { side.choice.value = tree.disciplines[place]; });
  document.body.dataset.state = "running";
  runs = tree.disciplines.map((discipline) => new Run(discipline));
  const began = performance.now();
  const fresh = runs;
  const outcomes = await Promise.all(fresh.map((of, side) => engines[side].ask(["run", of.discipline, "1"], text, (line) => {
    of.add(line);
    if (own === version) view.show(fresh);
  })));
  if (own !== version || outcomes.includes(undefined)) return;
  finish(fresh, outcomes, performance.now() - began);
}

async function finish(fresh, outcomes, ms) {
  const failed = outcomes.findIndex(({ code }) => code !== 0);
  if (failed >= 0) {
    complain(fresh[failed].error ?? `Side ${"AB"[failed]} was ended: ${outcomes[failed].errors}. analects run has no such limit.`);
    document.body.dataset.state = "failed";
    return;
  }
  byId("took").textContent = `${Math.round(ms)} ms for both`;
  view.place();
  await judge(fresh.map((of) => [of.result]));
  document.body.dataset.state = "done";
}

/** Shows the verdict on the results of both sides. */
async function judge(results) {
  const own = version;
  let verdict;
  const input = results.flat().map((of) => JSON.stringify(of)).join("\n");
  await reader.ask(["verdict"], input, (line) => { verdict = line.verdict; });
  if (!verdict || own !== version) return;
  byId("verdict").textContent = verdict.sentence;
  showFigures(verdict, runs.map((of) => of.discipline));
}

/** Repeats the scenario with more seeds, and judges as they come. */
async function repeat() {
  const own = version;
  if (runs.some((of) => !of.result)) return;
  const results = runs.map((of) => [of.result]);
  byId("repeat").disabled = true;
  byId("progress").value = 1 / SEEDS;
  try {
    for (let seed = 2; seed <= SEEDS; seed++) {
      const lines = await Promise.all(runs.map(async (of, side) => {
        let result;
        await engines[side].ask(["result", of.discipline, String(seed)], text, (line) => { result = line.result ?? result; });
        return result;
      }));
      if (own !== version || lines.includes(undefined)) return;
      lines.forEach((line, side) => results[side].push(line));
      byId("progress").value = seed / SEEDS;
    }
    await judge(results);
  } finally {
    byId("repeat").disabled = false;
    if (own !== version) byId("progress").value = 0;
  }
}

/** Takes files that a person loaded. */
async function take(list) {
  for (const file of list) {
    try {
      await takeOne(await read(file));
    } catch (problem) {
      complain(problem.message);
    }
  }
}

async function takeOne({ name, kind, bytes, text: content }) {
  if (kind === "toml") return load(content);
  if (kind === "report") return load(toToml(fromReport(name, content)));
  if (kind === "webrtc") {
    let answer;
    await reader.ask(["webrtc"], content, (line) => { answer = line; });
    if (answer?.webrtc) return change((of) => useCalls(of, answer.webrtc, link(of)));
    return complain({ place: name, ...answer?.error });
  }
  files = new Map(files).set(name, bytes);
  for (const engine of [reader, ...engines]) engine.setFiles(files);
  const edited = structuredClone(tree);
  if (kind === "har") usePage(edited, name);
  else if (link(edited)) changes.trace(edited, name);
  else return complain(`${name}: this scenario has several links; name the trace in its text`);
  return load(toToml(edited));
}

function download() {
  const address = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  element("a", { href: address, download: "scenario.toml" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  const needed = [...files.keys()].filter((name) => text.includes(`"${name}"`));
  byId("told").textContent = needed.length ? `Put ${needed.join(", ")} beside scenario.toml.` : "";
}

async function share() {
  const fragment = await toFragment(text);
  history.replaceState(null, "", fragment);
  const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  byId("told").textContent = copied ? "The link is copied; it holds the whole scenario." : "The link is in the address line; it holds the whole scenario.";
}

/** Runs the scenario of the address; complains and returns false if there is none in it. */
async function fromAddress() {
  try {
    const { story, text: given } = await fromFragment(location.hash);
    const name = story ?? (given === undefined ? FIRST_STORY : "");
    if (story && !stories[story]) throw new Error(`there is no story ${story}`);
    byId("story").value = name;
    return await load(given ?? stories[name]);
  } catch (problem) {
    complain(problem.message);
    return false;
  }
}

/** Follows the address; where it leads nowhere, a page that was just opened has the first story, and says why. */
async function follow() {
  if (await fromAddress() || tree) return;
  const why = byId("error").textContent;
  byId("story").value = FIRST_STORY;
  await load(stories[FIRST_STORY]);
  complain(why);
}

function wire() {
  const words = (name) => name.replaceAll("-", " ");
  options(byId("story"), [["", "your own"], ...Object.keys(stories).map((name) => [name, words(name)])], "");
  byId("story").addEventListener("change", ({ target }) => { if (target.value) location.hash = `#story=${target.value}`; });
  byId("repeat").addEventListener("click", repeat);
  byId("share").addEventListener("click", share);
  byId("download").addEventListener("click", download);
  byId("apply").addEventListener("click", () => load(byId("text").value));
  byId("file").addEventListener("change", async ({ target }) => {
    await take(target.files);
    target.value = "";
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  addEventListener("hashchange", follow);
  wireLine(change, () => tree);
  showHouse = wireHousehold(change, () => tree);
}

async function catalogue() {
  await reader.ask(["catalogue"], "", ({ disciplines, version: of }) => {
    const list = element("datalist", { id: "disciplines" },
      ...disciplines.map(({ name, summary }) => element("option", { value: name, label: summary })));
    document.body.append(list);
    byId("version").textContent = of;
  });
}

wire();
follow().then(catalogue);

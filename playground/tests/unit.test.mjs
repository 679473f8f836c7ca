// Modules of the page that need no browser. `node --test`
import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "../page/engine.js";
import { kindOf, plainName, useCalls, usePage } from "../page/files.js";
import { fromFragment, MOST_TEXT, toFragment } from "../page/fragment.js";
import { add, computers, remove } from "../page/household.js";
import { changes, drawnRates, shownLine, stepsText } from "../page/line.js";
import { isSilent, onScreen, Run } from "../page/run.js";
import { frozen } from "../page/film.js";
import { fill } from "../page/pagefill.js";
import { grouped } from "../page/stack.js";
import { ticks } from "../page/chart.js";
import { toToml } from "../page/toml.js";
import { mbit, milliseconds, rateText } from "../page/units.js";
import { answers, lines } from "./program.mjs";

const TREE = () => ({
  name: "a", duration: "40s", disciplines: ["pfifo", "cake"], link: { rate: "20mbit", rtt: "40ms" },
  traffic: [{ name: "call", kind: "call" }],
});

test("a tree as TOML is read by the program as it was", async () => {
  const tree = { ...TREE(), summary: 'quotes " and \\ and \u007f', link: [{ rate: "1mbit", rtt: "1ms", up: { rate: "2mbit" } }] };
  tree.traffic.push({ name: "pages", kind: "page", session: undefined, count: 2, source: "generated:3" });
  const [{ checked }] = await answers(["check"], toToml(tree));
  delete tree.traffic[1].session;
  // The program writes what does not print as an escape.
  assert.deepEqual({ ...checked.document, summary: undefined }, { ...tree, summary: undefined });
});

test("a link holds the whole scenario", async () => {
  const text = toToml(TREE());
  assert.deepEqual(await fromFragment(await toFragment(text)), { text });
  assert.deepEqual(await fromFragment("#story=an-upload"), { story: "an-upload" });
  assert.deepEqual(await fromFragment(""), {});
});

test("a hostile fragment is refused with a sentence", async () => {
  const bomb = await new Response(new Blob(["a".repeat(50 * MOST_TEXT)]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer();
  const bombed = `#scenario=${Buffer.from(bomb).toString("base64url")}`;
  const latin = `#scenario=${Buffer.from(await new Response(new Blob([new Uint8Array([0xff, 0xfe])]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer()).toString("base64url")}`;
  for (const [fragment, why] of [
    ["#<script>alert(1)</script>", /neither #story/], ["#story=../../etc", /neither #story/], ["#scenario=%%%", /not base64url/],
    ["#scenario=AAAA", /cannot be unpacked/], [bombed, /more than 200000 bytes/], [latin, /cannot be unpacked/], ["#scenario=", /not base64url/],
  ]) await assert.rejects(fromFragment(fragment), why, fragment);
});

test("rates and times are read as scenarios write them", () => {
  assert.deepEqual(["20mbit", "2.5Mbit", "500 kbit", "1gbit", "fast", "1e9"].map(mbit), [20, 2.5, 0.5, 1000, undefined, undefined]);
  assert.deepEqual(["40ms", "1s", "2min", "x"].map(milliseconds), [40, 1000, 120000, undefined]);
  assert.deepEqual([20, 0.5, 2.549, 0.0123].map(rateText), ["20mbit", "500kbit", "2.5mbit", "12kbit"]);
});

test("the controls of the line change what they say, and nothing else", async () => {
  const tree = TREE();
  changes.limited(tree, true);
  assert.equal(tree.link.up.rate, "5mbit");
  changes.buffer(tree, 250);
  assert.deepEqual([tree.link.buffer, tree.link.up.buffer], ["250p", "250p"]);
  changes.steps(tree, [10, 10, 5, 0]);
  assert.equal(tree.link.steps, "0s 10mbit; 20s 5mbit; 30s 0mbit");
  assert.equal(tree.link.rate, undefined);
  const shown = shownLine(tree);
  assert.deepEqual([shown.capacity, shown.limited, shown.buffer, shown.drawn[0], shown.drawn[15]], ["steps", true, 250, 10, 0]);
  changes.down(tree, 8);
  assert.equal(tree.link.steps, undefined);
  changes.duration(tree, 10);
  assert.equal(tree.duration, "10s");
  const [line] = await answers(["check"], toToml(tree));
  assert.equal(line.checked.duration_s, 10);
});

test("drawn rates become steps and come back", () => {
  const rates = Array.from({ length: 16 }, (_, i) => (i % 3) * 5 + 1);
  assert.deepEqual(drawnRates(stepsText(rates, TREE()), TREE()), rates);
});

test("every thing of the household can be run on every computer", async () => {
  const tree = TREE();
  for (const thing of ["call", "game", "pages", "download", "upload", "television", "torrents", "call", "torrents"]) add(tree, thing, "tv");
  assert.equal(new Set(tree.traffic.map((of) => of.name)).size, 10);
  assert.deepEqual(computers(tree).slice(0, 2), ["call", "tv"]);
  const [line] = await answers(["check"], toToml(tree));
  assert.equal(line.error, undefined);
  remove(tree, 0);
  assert.equal(tree.traffic.length, 9);
});

test("a run is put together from its pieces", () => {
  const run = new Run("pfifo");
  run.add({ checked: { queues: [{}], entries: [{}, {}], bin_s: 0.05 } });
  const piece = { lanes: [[0, 0]], waiting: [[[0, 9], []]], left: [[[], [0, 9]]], silent: [[0, 40]], until_s: 1,
    frames: [[0, 0, 30, 35], [0, 33, null, null], [0, 66, 500, 505], [0, 99, 130, 510]],
    loads: [{ began: [1, 0, 10, 2] }, { part: [1, 0, 20] }, { part: [1, 0, 25] }, { complete: [1, 0, 25] }] };
  run.add(piece);
  assert.deepEqual([run.until, run.waiting[0].length, run.screen[0].length], [1, 2, 3]);
  assert.deepEqual(onScreen(run.screen[0], 400), { sent: 0, shown: 35 });
  assert.equal(onScreen(run.screen[0], 20), undefined);
  assert.deepEqual([frozen(run.screen[0], 400), frozen(run.screen[0], 520)], [365, 0]);
  assert.deepEqual([39, 40, 59, 60].map((at) => isSilent(run.silent[0], at)), [false, true, true, false]);
  assert.deepEqual(fill(run.loads[1], [], 21), { tiles: 2, filled: 1, complete: false, words: "loading for 0.0 s" });
  assert.deepEqual(fill(run.loads[1], [], 9000).complete, true);
  assert.equal(fill(run.loads[1], [], 5), undefined);
});

test("transfers that end are tiles, those without an end are no page", () => {
  const some = [{ began: 0, complete: 2000 }, { began: 0 }];
  assert.deepEqual(fill([], some, 3000), { tiles: 2, filled: 1, complete: false, words: "loading for 3.0 s" });
  assert.equal(fill([], [{ began: 0 }], 3000), undefined);
});

test("columns are grouped by their largest total or their mean", () => {
  const columns = [[0, 10], [0, 4, 1, 8], [], [1, 2]];
  assert.deepEqual(grouped(columns, 2, 0, 4, 2, false).map((of) => [...of]), [[4, 8], [0, 2]]);
  assert.deepEqual(grouped(columns, 2, 0, 4, 2, true).map((of) => [...of]), [[7, 4], [0, 1]]);
});

test("ticks are round and within the axis", () => {
  assert.deepEqual(ticks(0, 100, 4), [0, 50, 100]);
  assert.deepEqual(ticks(25, 40, 5), [25, 30, 35, 40]);
});

test("files are told by what is in them", () => {
  for (const [name, text, kind] of [
    ["a.har", '{"log": {}}', "har"], ["dump.txt", '{"PeerConnections": {}}', "webrtc"], ["a.html", "<!DOCTYPE html>", "report"],
    ["a", 'name = "x"\n[link]', "toml"], ["t.txt", "0 20\n1 30\n", "trace"],
  ]) assert.equal(kindOf(name, text), kind, name);
  for (const [name, plain] of [["../../x.har", "__.._x.har"], ["generated:1", "file-generated_1"], ['"<b>".txt', "__b__.txt"], [".hidden", "_hidden"]]) {
    assert.equal(plainName(name), plain);
  }
});

test("recorded calls replace those of the household", async () => {
  const tree = TREE();
  useCalls(tree, { calls: [{ up: true, kbit: 100, fps: 25 }, { up: false, kbit: 2500, fps: 30 }], rtt_ms: 28.4 }, tree.link);
  usePage(tree, "a.har");
  assert.deepEqual(tree.traffic.map((of) => of.name), ["recorded call 1", "recorded call 2", "recorded page"]);
  tree.traffic.pop();
  const [{ checked }] = await answers(["check"], toToml(tree));
  assert.equal(checked.document.link.rtt, "28.4ms");
});

test("files that a scenario names are read, and their faults are told", async () => {
  const bytes = (text) => new TextEncoder().encode(text);
  const files = new Map([["t.txt", bytes("0 20\n1 10\n2 20\n")], ["bad.txt", bytes("0 20\nx y\n")]]);
  const traced = (name) => toToml({ ...TREE(), link: { trace: name, rtt: "40ms" } });
  const [{ checked }] = await answers(["check"], traced("t.txt"), files);
  assert.equal(checked.queues[0].mbps[0], 20);
  const [{ error }] = await answers(["check"], traced("bad.txt"), files);
  assert.match(`${error.place}: ${error.message}`, /bad.txt: line 2: found/);
  const [{ error: none }] = await answers(["check"], traced("../none.txt"), files);
  assert.match(none.message, /there is no such file/);
});

test("what is no scenario is refused with its place", async () => {
  for (const [text, why] of [
    ["", /there is no link/], ["a = [", /./], ["[".repeat(5000), /./], [toToml({ ...TREE(), disciplines: ["nonsense"] }), /nonsense/],
    [toToml({ ...TREE(), traffic: [{ name: "<img src=x onerror=alert(1)>", kind: "call" }] }), /cannot be a name/],
    [toToml({ ...TREE(), traffic: [{ name: "x", kind: "bulk", count: 4e9 }] }), /4000000000/],
  ]) {
    const { code, printed } = await lines(["check"], text);
    assert.equal(code, 1);
    assert.match(JSON.parse(printed[0]).error.message, why);
  }
  const { code, printed } = await lines(["run", "nonsense", "1"], toToml(TREE()));
  assert.deepEqual([code, /nonsense/.test(printed.at(-1))], [1, true]);
});

/** A worker that answers when it is told to. */
class Slow extends EventTarget {
  constructor(all) {
    super();
    all.push(this);
    this.asked = [];
  }

  postMessage(message) {
    if (message.id) this.asked.push(message);
  }

  say(data) {
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }

  terminate() {
    this.ended = true;
  }
}

test("of requests the newest wins", async () => {
  const all = [];
  const engine = new Engine(() => new Slow(all), Promise.resolve("program"));
  const heard = [];
  const asks = ["a", "b", "c"].map((name) => engine.ask([name], "", (line) => heard.push(line)));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(all[0].asked.map((of) => of.args[0]), ["a"]);
  const [{ id }] = all[0].asked;
  all[0].say({ id, line: '"from a"' });
  all[0].say({ id, code: 0 });
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(all[0].asked.map((of) => of.args[0]), ["a", "c"]);
  all[0].say({ id: all[0].asked[1].id, code: 0 });
  assert.deepEqual((await Promise.all(asks)).map((of) => of?.code), [undefined, undefined, 0]);
  assert.deepEqual(heard, ["from a"]);
});

test("a run that nobody wants any more is ended", async () => {
  const all = [];
  const engine = new Engine(() => new Slow(all), Promise.resolve("program"));
  const first = engine.ask(["long"], "", () => {});
  await new Promise((resolve) => setTimeout(resolve, 5));
  const second = engine.ask(["short"], "", () => {});
  assert.equal(await first, undefined);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([all[0].ended, all[1].asked[0].args], [true, ["short"]]);
  all[1].say({ id: all[1].asked[0].id, code: 0 });
  assert.equal((await second).code, 0);
});

// How large and how fast the page is: speed.mjs NATIVE
// Ratios are of processor time, native and WebAssembly in turn; the times of the page are those of this
// machine as it is.
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { Chromium } from "./chromium.mjs";
import { lines } from "./program.mjs";

const [native] = process.argv.slice(2);
const root = new URL("../../", import.meta.url);
const page = new URL("target/playground/playground.html", root);
const ROUNDS = 7;

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Processor time of a native run, in ms: that of a shell that does nothing else. */
function nativeTime(args, input) {
  const script = '"$@" > /dev/null; times';
  // That of dash counts in hundredths of a second.
  const { stdout } = spawnSync("bash", ["-c", script, "bash", native, ...args], { input, encoding: "utf8" });
  const of = stdout.trim().split("\n")[1].split(" ");
  return of.reduce((sum, text) => {
    const [, minutes, seconds] = /(\d+)m([\d.]+)s/.exec(text);
    return sum + 6e4 * minutes + 1e3 * seconds;
  }, 0);
}

async function wasmTime(args, input) {
  const before = process.cpuUsage();
  await lines(args, input);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e3;
}

console.log(`size: ${statSync(page).size.toLocaleString("en")} bytes of at most 1,500,000`);
for (const [scenario, discipline] of [["my-link", "confucius"], ["household", "fq_codel"]]) {
  const input = readFileSync(new URL(`scenarios/${scenario}.toml`, root), "utf8");
  const args = ["run", discipline, "1"];
  // The first runs are those of the compiler: it takes some five until all is translated for good.
  for (let i = 0; i < 8; i++) await wasmTime(args, input);
  const [ours, theirs] = [[], []];
  for (let i = 0; i < ROUNDS; i++) {
    theirs.push(nativeTime(args, input));
    ours.push(await wasmTime(args, input));
  }
  const ratio = median(ours) / median(theirs);
  console.log(`${scenario}, ${discipline}: ${median(ours).toFixed(0)} ms against ${median(theirs).toFixed(0)} native, ${ratio.toFixed(2)} times`);
}

const browser = await Chromium.start();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
try {
  await browser.size(1280, 900);
  // Noted within the page: when the first picture is there, when an answer comes, and long tasks.
  await browser.send("Page.addScriptToEvaluateOnNewDocument", { source: `
    window.long = [];
    new PerformanceObserver((list) => list.getEntries().forEach((of) => window.long.push(of.duration))).observe({ type: "longtask" });` });
  const first = [];
  for (let i = 0; i < 5; i++) {
    await browser.open(page.href);
    for (let j = 0; j < 200 && !(await browser.evaluate("performance.getEntriesByName('picture').length")); j++) await sleep(50);
    first.push(await browser.evaluate("performance.getEntriesByName('picture')[0].startTime"));
    await sleep(1500);
  }
  console.log(`first picture: ${first.map((of) => of.toFixed(0)).join(", ")} ms after the page was asked for`);
  const answers = await browser.evaluate(`(async () => {
    const times = [];
    for (let i = 0; i < 12; i++) {
      performance.clearMarks();
      const began = performance.now();
      const of = document.getElementById("down");
      of.value = 10 + (i % 5);
      of.dispatchEvent(new Event("input", { bubbles: true }));
      while (!performance.getEntriesByName("picture").length) await new Promise((resolve) => setTimeout(resolve, 1));
      const shown = performance.getEntriesByName("picture")[0].startTime - began;
      while (document.body.dataset.state !== "done") await new Promise((resolve) => setTimeout(resolve, 1));
      times.push([shown, performance.now() - began]);
    }
    return times;
  })()`);
  const [shown, whole] = [0, 1].map((of) => answers.slice(2).map((times) => times[of]));
  console.log(`a slider: first picture after ${median(shown).toFixed(0)} ms, all of both runs and the verdict after ${median(whole).toFixed(0)} ms (medians of ${shown.length})`);
  const long = await browser.evaluate("window.long");
  console.log(`tasks above 50 ms on the main thread: ${long.length ? long.map((of) => `${of} ms`).join(", ") : "none"}`);
} finally {
  await browser.stop();
}

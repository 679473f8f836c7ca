// The page in a real browser: browser.mjs chromium|firefox [SHOTS]
// With a folder SHOTS it also takes pictures of every story in two sizes, light and dark (Chromium only).
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFragment } from "../page/fragment.js";

const [kind, shots] = process.argv.slice(2);
const folder = new URL("../../target/playground/", import.meta.url);
const page = new URL("playground.html", folder).href;
const stories = readdirSync(new URL("../stories/", import.meta.url)).map((name) => name.replace(".toml", ""));
const { Chromium, Firefox } = kind === "chromium" ? await import("./chromium.mjs") : await import("./firefox.mjs");
const browser = await (Chromium ?? Firefox).start();
const work = mkdtempSync(join(tmpdir(), "playground-test-"));

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Waits until an expression in the page is true. */
async function until(expression, what = expression) {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (await browser.evaluate(`Boolean(${expression})`).catch(() => false)) return;
    await sleep(100);
  }
  throw new Error(`this never came: ${what}; the page says ${await browser.evaluate("document.getElementById('error').textContent")}`);
}
const settled = () => until("['done', 'failed'].includes(document.body?.dataset.state)", "a finished run");
const text = (id) => browser.evaluate(`document.getElementById(${JSON.stringify(id)}).textContent`);
const toml = () => browser.evaluate("document.getElementById('text').value");
async function open(address) {
  await browser.open(address);
  await settled();
}
/** Moves a control as a person does, and waits for the answer. */
async function move(id, value, event = "input") {
  await browser.evaluate(`(() => { const of = document.getElementById(${JSON.stringify(id)});
    if (of.type === "checkbox") of.checked = ${JSON.stringify(value)}; else of.value = ${JSON.stringify(value)};
    of.dispatchEvent(new Event("${event}", { bubbles: true })); })()`);
  await settled();
}
const figures = () => browser.evaluate("[...document.querySelectorAll('#figures td')].map((of) => of.textContent).join(' ')");
/** The middle of an element, in the window. */
const middle = (expression) => browser.evaluate(`(() => { const of = ${expression}; of.scrollIntoView({ block: "center" });
  const box = of.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; })()`);
/** How different two pictures of a canvas are: the pixels, as they are. */
const pixels = (expression) => browser.evaluate(`${expression}.toDataURL()`);

const tests = {
  async "the first story is drawn and judged"() {
    await open(page);
    assert.match(await text("verdict"), /^In this one run the call stalls for 0\.4\d s under pfifo and 0\.00 s under mencius\. One run is an anecdote/);
    const blank = await browser.evaluate("document.createElement('canvas').toDataURL()");
    for (const canvas of ["#delays", ".film", ".side .chart"]) assert.notEqual(await pixels(`document.querySelector('${canvas}')`), blank);
    assert.equal(await browser.evaluate("document.getElementById('error').hidden"), true);
  },

  async "every control of the line changes the scenario and its figures"() {
    for (const [id, value, said] of [["down", 10, 'rate = "10mbit"'], ["rtt", 20, 'rtt = "100ms"'], ["duration", 45, 'duration = "45s"']]) {
      const before = await figures();
      await move(id, value);
      assert.ok((await toml()).includes(said), `${id}: ${await toml()}`);
      assert.notEqual(await figures(), before, id);
    }
    await move("limited", true, "change");
    await move("up", 0);
    assert.match(await toml(), /\[link\.up\]\nrate = "1mbit"/);
    await move("sized", true, "change");
    await move("buffer", 20);
    assert.match(await toml(), /buffer = "100p"/);
    await move("capacity", "steps", "change");
    assert.match(await toml(), /steps = "0s 10mbit"/);
    await move("capacity", "trace", "change");
    assert.match(await toml(), /trace = "generated:w1:1"/);
    await move("capacity", "rate", "change");
    await move("limited", false, "change");
    assert.doesNotMatch(await toml(), /link\.up/);
  },

  async "a rate is drawn with a pointer"() {
    await open(page);
    await move("capacity", "steps", "change");
    await browser.evaluate("document.getElementById('drawn').scrollIntoView({ block: 'center' })");
    const [left, top, width, height] = await browser.evaluate("(() => { const b = document.getElementById('drawn').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()");
    await browser.drag([left + width * 0.7, top + height * 0.9], [left + width * 0.95, top + height * 0.9]);
    await settled();
    const [, steps] = /steps = "(.*)"/.exec(await toml());
    const rates = steps.split("; ").map((step) => Number(/ (\d+(\.\d+)?)mbit/.exec(step)?.[1]));
    assert.ok(rates.some((rate) => rate < 5) && rates[0] === 20, steps);
  },

  async "a slider is moved with the keyboard"() {
    await open(page);
    await browser.evaluate("document.getElementById('down').focus()");
    for (let i = 0; i < 4; i++) await browser.key("ArrowRight");
    await until("/rate = \"25mbit\"/.test(document.getElementById('text').value)");
    await settled();
    assert.equal(await browser.evaluate("document.getElementById('down').getAttribute('aria-valuetext')"), "25mbit");
  },

  async "things are added by press, by drag and by key, moved and removed"() {
    await open(page);
    const count = () => browser.evaluate("document.querySelectorAll('.entry').length");
    const palette = (words) => `[...document.querySelectorAll('#palette button')].find((of) => of.textContent === '+ ${words}')`;
    await browser.evaluate(`${palette("Download")}.click()`);
    await settled();
    assert.equal(await count(), 3);
    const place = await middle(palette("Torrents"));
    const onto = await browser.evaluate("(() => { const box = document.querySelector('.computer[data-host=pc]').getBoundingClientRect(); return [box.left + 30, box.top + 10]; })()");
    await browser.drag(place, onto);
    await until("document.querySelectorAll('.entry').length === 4");
    assert.match(await toml(), /name = "torrents"[^[]*host = "pc"/);
    await browser.evaluate(`${palette("Cloud game")}.focus()`);
    await browser.key("Enter");
    await until("document.querySelectorAll('.entry').length === 5");
    await settled();
    await browser.evaluate("(() => { const of = document.querySelector('select[data-key=host][data-place=\"2\"]'); of.value = 'phone'; of.dispatchEvent(new Event('change', { bubbles: true })); })()");
    await settled();
    assert.match(await toml(), /name = "download"[^[]*host = "phone"/);
    await browser.evaluate("document.querySelector('[data-remove=\"4\"]').click()");
    await settled();
    assert.equal(await count(), 4);
  },

  async "a discipline is chosen, and one that does not exist is refused"() {
    await open(page);
    const choose = (name) => browser.evaluate(`(() => { const of = document.querySelector('.side input'); of.value = ${JSON.stringify(name)}; of.dispatchEvent(new Event('change')); })()`);
    await choose("fq_codel,target=10ms");
    await settled();
    assert.match(await text("verdict"), /under fq_codel,target=10ms/);
    await choose("nonsense");
    await until("document.body.dataset.state === 'failed'");
    assert.match(await text("error"), /nonsense/);
    await choose("cake");
    await until("document.body.dataset.state === 'done'");
    assert.equal(await browser.evaluate("document.getElementById('error').hidden"), true);
  },

  async "the picture freezes when the call does"() {
    await open(`${page}#story=a-flood`);
    const film = (seconds) => move("moment", seconds).then(() => Promise.all([0, 1].map((side) => pixels(`document.querySelectorAll('.film')[${side}]`))));
    const [one, other] = [await film(40), await film(40.2)];
    assert.notEqual(one[1], other[1], "the call under mencius runs");
    assert.match(await browser.evaluate("document.querySelector('.side > .quiet').textContent"), /^The call is frozen for/);
  },

  async "the player plays, and its sound follows the side"() {
    await move("sound", "1", "change");
    await move("moment", 25);
    await browser.evaluate("document.getElementById('play').click()");
    await until("parseFloat(document.getElementById('clock').textContent) > 25.5");
    await browser.evaluate("document.getElementById('play').click()");
    const at = await text("clock");
    await sleep(300);
    assert.equal(await text("clock"), at);
  },

  async "runs are repeated, and the verdict has an interval"() {
    await open(page);
    await browser.evaluate("document.getElementById('repeat').click()");
    await until("/over 12 runs/.test(document.getElementById('verdict').textContent)");
    assert.match(await text("verdict"), /mencius does better: over 12 runs .* the difference is 0\.\d\d to 0\.\d\d s with 95 % confidence/);
    await move("rtt", 17);
    assert.match(await text("verdict"), /In this one run/);
  },

  async "a link holds the scenario"() {
    await browser.evaluate("document.getElementById('share').click()");
    await until("location.hash.startsWith('#scenario=')");
    const [address, said, shown] = [await browser.evaluate("location.href"), await toml(), await figures()];
    await open(address);
    assert.deepEqual([await toml(), await figures()], [said, shown]);
  },

  async "files are loaded: a trace, a page, a call, a scenario, a report"() {
    const file = (name, content) => {
      writeFileSync(join(work, name), content);
      return join(work, name);
    };
    const load = async (path) => {
      const before = JSON.stringify(await toml());
      await browser.upload("file", [path]);
      await until(`document.getElementById('text').value !== ${before}`, `the scenario with ${path}`);
      await sleep(300);
      await settled();
    };
    await open(page);
    await load(file("my trace.txt", Array.from({ length: 60 }, (_, s) => `${s} ${s % 2 ? 8 : 16}`).join("\n")));
    assert.match(await toml(), /trace = "my_trace.txt"/);
    await load(file("news.har", har()));
    assert.match(await toml(), /source = "news.har"/);
    assert.match(await figures(), /\d/);
    await load(file("dump.json", dump()));
    assert.match(await toml(), /max_rate = "2500kbit"/);
    await load(file("other.toml", readFileSync(new URL("../../scenarios/two-transfers.toml", import.meta.url))));
    assert.match(await text("summary"), /two transfers share/);
    if (process.env.REPORT) {
      await load(process.env.REPORT);
      assert.match(await text("summary"), /a call has settled/);
    }
  },

  async "hostile files are refused, and no script runs"() {
    await open(page);
    const before = await toml();
    const evil = '<img src=x onerror="document.title=\'ran\'"><script>document.title="ran"</script>';
    for (const [name, content, why] of [
      ["evil.html", evil, /there is no scenario in it/],
      ["evil2.html", `${evil}<pre id="scenario">{"name": "<img src=x onerror=document.title='ran'>"}</pre>`, /cannot be a name|link/],
      ["evil.har", `{"log": ${evil}`, /evil.har/],
      ["deep.har", "{\"log\":" + "[".repeat(50000), /deep.har/],
      ["evil.toml", `name = "${evil.replaceAll('"', "'")}"`, /cannot be a name/],
      ["noise.txt", Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)), /noise.txt/],
      ["dump.json", '{"PeerConnections": {"<script>": {"stats": 7}}}', /it has no video/],
    ]) {
      writeFileSync(join(work, name), content);
      await browser.upload("file", [join(work, name)]);
      await until("!document.getElementById('error').hidden", `an error about ${name}`);
      assert.match(await text("error"), why, name);
      assert.doesNotMatch(await browser.evaluate("document.title"), /ran/);
      assert.equal(await toml(), before, name);
      await browser.evaluate("(() => { const of = document.getElementById('error'); of.hidden = true; of.textContent = ''; })()");
    }
  },

  async "hostile addresses are refused, and no script runs"() {
    const evil = await toFragment('name = "<img src=x onerror=document.title=1>"\n');
    const endless = await toFragment(`duration = "7000000s"\n${readFileSync(new URL("../stories/a-flood.toml", import.meta.url), "utf8").replace(/duration.*/, "")}`);
    for (const [fragment, why] of [["#<script>alert(1)</script>", /neither #story/], ["#scenario=AAAA", /cannot be unpacked/], ["#story=none", /there is no story none/], [evil, /cannot be a name/], [endless, /too long/]]) {
      await open(page + fragment);
      await until("!document.getElementById('error').hidden", `an error about ${fragment.slice(0, 40)}`);
      assert.match(await text("error"), why);
      assert.match(await text("verdict"), /In this one run/);
      assert.equal(await browser.evaluate("document.title"), "Analects playground: a household on one line");
    }
  },

  async "the charts are a table as well"() {
    await open(page);
    await browser.evaluate("document.getElementById('values').parentElement.open = true");
    await until("document.querySelectorAll('#values tbody tr').length === 24");
    assert.match(await text("values"), /A: delay, ms/);
  },

  async "the page fits a phone"() {
    await browser.size(390, 844, { mobile: true });
    await open(page);
    const [content, window] = await browser.evaluate("[document.documentElement.scrollWidth, innerWidth]");
    assert.ok(content <= window, `${content} pixels in a window of ${window}`);
    await browser.size(1280, 900);
  },

  async "the folder works behind a server with a strict policy"() {
    const types = { html: "text/html", js: "text/javascript", css: "text/css", wasm: "application/wasm" };
    const server = createServer((request, response) => {
      const name = request.url.split("?")[0].slice(1) || "index.html";
      if (!/^[a-z]+\.[a-z]+$/.test(name)) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": types[name.split(".")[1]],
        "content-security-policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'" });
      return response.end(readFileSync(new URL(`site/${name}`, folder)));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    await open(`http://127.0.0.1:${server.address().port}/`);
    assert.match(await text("verdict"), /In this one run/);
    server.closeAllConnections();
    server.close();
  },

  async "every story runs"() {
    for (const story of stories) {
      await open(`${page}#story=${story}`);
      assert.equal(await browser.evaluate("document.body.dataset.state"), "done", story);
      assert.equal(await browser.evaluate("document.getElementById('story').value"), story);
      assert.match(await text("verdict"), /In this one run/, story);
    }
  },
};

/** A page of three requests, as a browser's developer tools export it. */
function har() {
  const entry = (url, started, size) => ({
    startedDateTime: `2025-01-01T00:00:0${started}.000Z`, time: 100, pageref: "page_1",
    request: { method: "GET", url, httpVersion: "HTTP/1.1", headers: [], queryString: [], cookies: [], headersSize: 300, bodySize: 0 },
    response: { status: 200, statusText: "OK", httpVersion: "HTTP/1.1", headers: [], cookies: [], content: { size, mimeType: "text/html" }, redirectURL: "", headersSize: 200, bodySize: size },
    cache: {}, timings: { send: 1, wait: 50, receive: 49 },
  });
  return JSON.stringify({ log: { version: "1.2", creator: { name: "test", version: "1" },
    pages: [{ startedDateTime: "2025-01-01T00:00:00.000Z", id: "page_1", title: "news", pageTimings: {} }],
    entries: [entry("https://news.example/", 0, 50000), entry("https://news.example/a.js", 1, 200000), entry("https://cdn.example/b.png", 1, 400000)] } });
}

function dump() {
  const series = (statsType, values) => ({ statsType, startTime: "", endTime: "", values: JSON.stringify(values) });
  return JSON.stringify({ PeerConnections: { "7-1": { stats: {
    "IT01V1-framesPerSecond": series("inbound-rtp", [30, 30, 29]),
    "IT01V1-[bytesReceived_in_bits/s]": series("inbound-rtp", [1e6, 2.5e6, 2.5e6]),
    "CP1-currentRoundTripTime": series("candidate-pair", [0.03, 0.028]),
  } } } });
}

/** What only the DevTools protocol shows. */
const chromiumOnly = {
  async "nothing is asked of a network, and the page works without one"() {
    await browser.offline();
    await open(`${page}#story=a-flood`);
    const requests = browser.requests().filter((address) => !/^(file|blob|data|about):/.test(address));
    assert.deepEqual(requests, []);
    assert.deepEqual(browser.complaints(), []);
    await browser.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  },

  async "without motion the playhead moves by the second"() {
    await browser.size(1280, 900, { reduced: true });
    await open(page);
    await move("moment", 26);
    await browser.evaluate("document.getElementById('play').click()");
    await sleep(500);
    assert.equal(await text("clock"), "26.0 s");
    await until("parseFloat(document.getElementById('clock').textContent) >= 27");
    await browser.size(1280, 900);
  },

  async "every control has a name for those who hear the page"() {
    const { nodes } = await browser.send("Accessibility.getFullAXTree");
    const named = nodes.filter(({ ignored, role }) => !ignored && ["button", "slider", "combobox", "textbox", "checkbox", "spinbutton", "image"].includes(role?.value));
    assert.ok(named.length > 30, `${named.length} controls`);
    assert.deepEqual(named.filter(({ name }) => !name?.value).map(({ role }) => role.value), []);
  },
};

async function pictures() {
  mkdirSync(shots, { recursive: true });
  for (const [width, dark] of [[1280, false], [1280, true], [390, false], [390, true]]) {
    await browser.size(width, 900, { dark, mobile: width < 500 });
    for (const story of stories) {
      await open(`${page}#story=${story}`);
      await sleep(300);
      writeFileSync(join(shots, `${story}-${width}-${dark ? "dark" : "light"}.png`), await browser.screenshot());
    }
  }
}

await browser.size(1280, 1400);
let failed = 0;
try {
  if (kind === "chromium") Object.assign(tests, chromiumOnly);
  if (shots) await pictures();
  const only = process.env.ONLY;
  for (const [name, test] of Object.entries(tests)) {
    if (only && !name.includes(only)) continue;
    try {
      await test();
      console.log(`ok: ${kind}: ${name}`);
    } catch (problem) {
      failed++;
      console.error(`FAILED: ${kind}: ${name}: ${problem.stack}`);
    }
  }
} finally {
  await browser.stop();
  rmSync(work, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

// A headless Chromium, driven by its DevTools protocol over a pipe.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A command that takes longer has hung. */
const MOST_MS = 60_000;

export class Chromium {
  static async start() {
    const of = new Chromium();
    of.profile = mkdtempSync(join(tmpdir(), "playground-chromium-"));
    const args = ["--remote-debugging-pipe", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--autoplay-policy=no-user-gesture-required",
      `--user-data-dir=${of.profile}`, "about:blank"];
    of.process = spawn(process.env.ANALECTS_CHROMIUM ?? "chromium", args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    of.next = 1;
    of.waiting = new Map();
    of.heard = [];
    let rest = "";
    of.process.stdio[4].setEncoding("utf8").on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      messages.forEach((message) => of.hear(JSON.parse(message)));
    });
    of.name = "chromium";
    const { targetInfos } = await of.send("Target.getTargets", {}, undefined);
    const target = targetInfos.find(({ type }) => type === "page");
    const { sessionId } = await of.send("Target.attachToTarget", { targetId: target.targetId, flatten: true }, undefined);
    of.session = sessionId;
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await of.send(`${domain}.enable`);
    return of;
  }

  hear(message) {
    const waiting = this.waiting.get(message.id);
    if (!waiting) return void this.heard.push(message);
    this.waiting.delete(message.id);
    clearTimeout(waiting.watch);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  send(method, params = {}, sessionId = this.session) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      const watch = setTimeout(() => reject(new Error(`${method} has hung`)), MOST_MS);
      this.waiting.set(id, { resolve, reject, watch });
      this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** Opens an address in a new document. */
  async open(address) {
    await this.send("Page.navigate", { url: "about:blank" });
    this.heard = [];
    await this.send("Page.navigate", { url: address });
  }

  /** The value of an expression; promises are waited for. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Gives files to an input, by its id. */
  async upload(id, files) {
    const { result } = await this.send("Runtime.evaluate", { expression: `document.getElementById(${JSON.stringify(id)})` });
    await this.send("DOM.setFileInputFiles", { files, objectId: result.objectId });
  }

  /** Presses a key in what has the focus. */
  async key(key) {
    const text = key === "Enter" ? "\r" : undefined;
    for (const type of ["keyDown", "keyUp"]) await this.send("Input.dispatchKeyEvent", { type, key, text, code: key, windowsVirtualKeyCode: CODES[key] });
  }

  /** Drags with the mouse from one place of the window to another. */
  async drag(from, to) {
    const mouse = (type, [x, y]) => this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons: 1, clickCount: 1 });
    await mouse("mousePressed", from);
    for (let step = 1; step <= 8; step++) await mouse("mouseMoved", from.map((at, i) => at + ((to[i] - at) * step) / 8));
    await mouse("mouseReleased", to);
  }

  async size(width, height, { dark = false, reduced = false, mobile = false } = {}) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
    const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" },
      { name: "prefers-reduced-motion", value: reduced ? "reduce" : "no-preference" }];
    await this.send("Emulation.setEmulatedMedia", { features });
  }

  async screenshot(whole = true) {
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: whole, ...(whole && { clip: await this.area() }) });
    return Buffer.from(data, "base64");
  }

  async area() {
    const { cssContentSize: { width, height } } = await this.send("Page.getLayoutMetrics");
    return { x: 0, y: 0, width, height, scale: 1 };
  }

  /** Addresses that were asked for since the page was opened, and what the console complained of. */
  requests() {
    return this.heard.filter(({ method }) => method === "Network.requestWillBeSent").map(({ params }) => params.request.url);
  }

  complaints() {
    const said = this.heard.filter(({ method, params }) => method === "Runtime.exceptionThrown" || (method === "Log.entryAdded" && params.entry.level === "error"));
    return said.map(({ params }) => params.entry?.text ?? params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  }

  async offline() {
    await this.send("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.stdio[3].end();
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000))]);
    this.process.kill("SIGKILL");
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const CODES = { ArrowRight: 39, ArrowLeft: 37, ArrowUp: 38, ArrowDown: 40, Enter: 13, Tab: 9, End: 35, Home: 36 };

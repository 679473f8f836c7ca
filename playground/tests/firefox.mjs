// A headless Firefox, driven by Marionette, the protocol under its WebDriver: JSON over a socket of this host.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MOST_MS = 60_000;

/** A port that nobody uses. */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function dialled(port) {
  for (let attempt = 0; attempt < 300; attempt++) {
    const socket = await new Promise((resolve) => {
      const of = connect(port, "127.0.0.1", () => resolve(of)).once("error", () => resolve(undefined));
    });
    if (socket) return socket;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("Firefox does not answer");
}

export class Firefox {
  static async start() {
    const of = new Firefox();
    of.name = "firefox";
    of.profile = mkdtempSync(join(tmpdir(), "playground-firefox-"));
    const port = await freePort();
    writeFileSync(join(of.profile, "user.js"), `user_pref("marionette.port", ${port});\nuser_pref("network.proxy.type", 0);\n`);
    const args = ["--marionette", "--headless", "--no-remote", "--profile", of.profile];
    of.process = spawn(process.env.ANALECTS_FIREFOX ?? "firefox-esr", args, { stdio: "ignore", env: { ...process.env, HOME: of.profile } });
    of.socket = await dialled(port);
    of.waiting = new Map();
    of.next = 1;
    of.rest = Buffer.alloc(0);
    const greeted = new Promise((resolve) => { of.greeted = resolve; });
    of.socket.on("data", (bytes) => of.hear(bytes));
    await greeted;
    await of.send("WebDriver:NewSession", { acceptInsecureCerts: true });
    await of.send("WebDriver:SetTimeouts", { script: MOST_MS, pageLoad: MOST_MS });
    return of;
  }

  /** Messages are `LENGTH:JSON`. */
  hear(bytes) {
    this.rest = Buffer.concat([this.rest, bytes]);
    for (;;) {
      const colon = this.rest.indexOf(":");
      if (colon < 0) return;
      const end = colon + 1 + Number(this.rest.subarray(0, colon));
      if (this.rest.length < end) return;
      const message = JSON.parse(this.rest.subarray(colon + 1, end));
      this.rest = this.rest.subarray(end);
      if (!Array.isArray(message)) this.greeted(message);
      else this.settle(message);
    }
  }

  settle([, id, error, result]) {
    const { resolve, reject, watch } = this.waiting.get(id);
    clearTimeout(watch);
    this.waiting.delete(id);
    if (error) reject(new Error(`${error.error}: ${error.message}`));
    else resolve(result?.value === undefined ? result : result.value);
  }

  send(name, params = {}) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      const watch = setTimeout(() => reject(new Error(`${name} has hung`)), MOST_MS);
      this.waiting.set(id, { resolve, reject, watch });
      const text = JSON.stringify([0, id, name, params]);
      this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  async open(address) {
    await this.send("WebDriver:Navigate", { url: "about:blank" });
    await this.send("WebDriver:Navigate", { url: address });
  }

  async evaluate(expression) {
    const script = `const done = arguments[arguments.length - 1];
      Promise.resolve().then(() => (0, eval)(${JSON.stringify(expression)})).then((value) => done({ value }), (error) => done({ error: String(error) }));`;
    const { value, error } = await this.send("WebDriver:ExecuteAsyncScript", { script, args: [] });
    if (error) throw new Error(error);
    return value;
  }

  async element(id) {
    const found = await this.send("WebDriver:FindElement", { using: "css selector", value: `#${id}` });
    return Object.values(found)[0];
  }

  async upload(id, files) {
    await this.send("WebDriver:ElementSendKeys", { id: await this.element(id), text: files.join("\n") });
  }

  async key(key) {
    const value = KEYS[key];
    const actions = [{ type: "key", id: "keys", actions: [{ type: "keyDown", value }, { type: "keyUp", value }] }];
    await this.send("WebDriver:PerformActions", { actions });
  }

  async drag([x, y], [toX, toY]) {
    const move = (atX, atY) => ({ type: "pointerMove", x: Math.round(atX), y: Math.round(atY), duration: 40, origin: "viewport" });
    const actions = [move(x, y), { type: "pointerDown", button: 0 }, move((x + toX) / 2, (y + toY) / 2), move(toX, toY), { type: "pointerUp", button: 0 }];
    await this.send("WebDriver:PerformActions", { actions: [{ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions }] });
  }

  async size(width, height) {
    await this.send("WebDriver:SetWindowRect", { width, height });
  }

  async screenshot() {
    return Buffer.from(await this.send("WebDriver:TakeScreenshot", { full: true }), "base64");
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    await this.send("Marionette:Quit", { flags: ["eForceQuit"] }).catch(() => {});
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000))]);
    this.process.kill("SIGKILL");
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const KEYS = { ArrowRight: "\uE014", ArrowLeft: "\uE012", ArrowUp: "\uE013", ArrowDown: "\uE015", Enter: "\uE007", Tab: "\uE004", End: "\uE010", Home: "\uE011" };

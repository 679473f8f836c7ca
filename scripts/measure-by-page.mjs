// Measures by the page of `analects probe serve --page` in a headless browser, and prints what it found as JSON.
//   measure-by-page.mjs chromium|firefox URL [--without-call] [--picture FILE.png]
// Its certificate is trusted as by a person who looks past the warning; that of the call is known by its hash.
import { writeFileSync } from "node:fs";
import { fromFragment } from "../playground/page/fragment.js";

const [kind, url, ...rest] = process.argv.slice(2);
const withoutCall = rest.includes("--without-call");
const picture = rest.includes("--picture") ? rest[rest.indexOf("--picture") + 1] : null;
const driver = await import(`../playground/tests/${kind}.mjs`);
const browser = await (driver.Chromium ?? driver.Firefox).start();
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** The value of an expression. Firefox's driver evaluates by `eval`, which the page's policy forbids. */
function value(expression) {
  if (kind === "chromium") return browser.evaluate(expression);
  return browser.send("WebDriver:ExecuteScript", { script: `return ${expression};`, args: [] });
}

async function until(expression, ms) {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(250)) {
    if (await value(expression).catch(() => false)) return;
  }
  throw new Error(`this never came: ${expression}; the page says ${await value("document.body.innerText")}`);
}

async function measured() {
  if (kind === "chromium") {
    await browser.send("Security.setIgnoreCertificateErrors", { ignore: true });
    await browser.size(390, 844, { mobile: true });
    const source = "delete globalThis.WebTransport";
    if (withoutCall) await browser.send("Page.addScriptToEvaluateOnNewDocument", { source });
  }
  await browser.open(url);
  await until("document.getElementById('start') !== null", 60_000);
  await value("document.getElementById('start').click()");
  const progress = "document.getElementById('progress').textContent";
  await until(`${progress} === '' || ${progress}.startsWith('It could not')`, 90_000);
  const found = await value("document.getElementById('found').textContent");
  if (!found) throw new Error(await value(progress));
  if (picture) writeFileSync(picture, await browser.screenshot());
  const link = await value("document.getElementById('playground').href");
  return {
    found: JSON.parse(found),
    text: await value("document.querySelector('main').innerText"),
    wide: await value("document.documentElement.scrollWidth - innerWidth"),
    link: link && { to: link.split("#")[0], ...await fromFragment(new URL(link).hash) },
    complaints: browser.complaints?.() ?? [],
    elsewhere: (browser.requests?.() ?? []).filter((asked) => !asked.startsWith(url) && !asked.startsWith("data:")),
  };
}

try {
  console.log(JSON.stringify(await measured()));
} finally {
  await browser.stop();
}

// Looks at the page of `tc keep --page` in a headless browser, and prints what stands there as JSON.
//   look-at-router-page.mjs chromium|firefox URL TEXT [--document FILE.json] [--picture FILE.png] [--dark]
// It waits until the page has TEXT. With a document the page is the service's own, and what it shows is that document:
// what a kernel without mencius does not tell.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const [kind, url, text, ...rest] = process.argv.slice(2);
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : null);
const dark = rest.includes("--dark");
const document = option("--document");
const picture = option("--picture");
const driver = await import(`../playground/tests/${kind}.mjs`);
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** A server with the page of `url` and its headers, and another document. */
async function standIn() {
  const server = createServer(async (request, response) => {
    const from = await fetch(new URL(request.url, url));
    const own = request.url === "/status.json" ? readFileSync(document) : Buffer.from(await from.arrayBuffer());
    const headers = Object.fromEntries(from.headers);
    response.writeHead(from.status, { ...headers, "content-length": own.length }).end(own);
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  return { server, at: `http://127.0.0.1:${server.address().port}/` };
}

/** The value of an expression. Firefox's driver evaluates by `eval`, which the page's policy forbids. */
function value(browser, expression) {
  if (kind === "chromium") return browser.evaluate(expression);
  return browser.send("WebDriver:ExecuteScript", { script: `return ${expression};`, args: [] });
}

async function looked(browser, at) {
  await browser.size(390, 844, { mobile: true, dark });
  await browser.open(at);
  const seen = () => value(browser, "document.querySelector('main')?.innerText ?? ''").catch(() => "");
  for (const end = Date.now() + 30_000; !(await seen()).includes(text); await sleep(250)) {
    if (Date.now() > end) throw new Error(`this never came: ${text}; the page says ${await seen()}`);
  }
  if (picture) writeFileSync(picture, await browser.screenshot());
  return {
    text: await seen(),
    wide: await value(browser, "document.documentElement.scrollWidth - innerWidth"),
    curves: await value(browser, "document.querySelectorAll('polyline').length"),
    rows: await value(browser, "document.querySelectorAll('tbody tr').length"),
    paper: await value(browser, "getComputedStyle(document.body).backgroundColor"),
    // Only Chromium tells what its console says.
    complaints: kind === "chromium" ? browser.complaints() : null,
    elsewhere: (await value(browser, "performance.getEntriesByType('resource').map((of) => of.name)"))
      .filter((asked) => !asked.startsWith(at) && !asked.startsWith("data:")),
  };
}

const stand = document ? await standIn() : null;
const browser = await (driver.Chromium ?? driver.Firefox).start();
try {
  console.log(JSON.stringify(await looked(browser, stand?.at ?? url)));
} finally {
  await browser.stop();
  stand?.server.closeAllConnections();
  stand?.server.close();
}

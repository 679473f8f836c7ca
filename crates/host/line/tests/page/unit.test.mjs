// What the page reckons, from frames and courses that are known: node --test crates/host/line/tests/page/unit.test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

// The page's parts are one script, not modules.
const part = (path) => readFileSync(new URL(`../../${path}.js`, import.meta.url), "utf8");
const names = "frames, stall, rates, queue, handshakes, responsiveness, grade, scenario";
const parts = ["../page/parts/base", "page/constants", "page/call", "page/load", "page/result"].map(part).join("");
const inside = new Function("location", "document", `${parts}\nreturn { ${names} };`);
const document = { getElementById: () => ({ textContent: '[[traffic]]\nname = "call-in"\n' }) };
const { frames, stall, rates, queue, handshakes, responsiveness, grade, scenario } = inside({ hostname: "h" }, document);

const FRAME = 1000 / 30;
/** Packets that waited so long each; null is a lost one. Their clocks differ by 5 s. */
const packets = (waits) => waits.map((wait, n) => (wait === null ? undefined : { sent: n * FRAME, came: 5000 + n * FRAME + 10 + wait }));

test("a frame is as late as it waits beyond the least", () => {
  const of = frames(packets([3, 0, 200, 0]), 4, FRAME, [0, 40]);
  assert.deepEqual(of.map(({ wait }) => Math.round(wait)), [3, 0, 200, 0]);
  assert.ok(Math.abs(stall(of, 40, FRAME) - FRAME) < 1e-9);
});

test("a lost frame comes a round trip after it would have come, and one of an outage does not come", () => {
  const lost = frames(packets([0, null, 100, 0]), 4, FRAME, [0, 40])[1];
  assert.deepEqual([Math.round(lost.wait), lost.lost, Math.round(lost.at)], [240, true, 33]);
  const once = frames(packets([0, null, 0, 0]), 4, FRAME, [0, 40]);
  assert.equal(stall(once, 40, FRAME), 0);
  const outage = frames(packets([0, ...Array(10).fill(null), 0]), 12, FRAME, [0, 40]);
  assert.ok(Math.abs(stall(outage, 40, FRAME) - 10 * FRAME) < 1e-9);
  const silent = frames([], 3, FRAME, [0, 40]);
  assert.ok(silent.every(({ wait }) => wait === Infinity));
});

test("a rate is of packets, since the line is full", () => {
  const course = Array.from({ length: 101 }, (_, n) => ({ at: 100 * n, bytes: n < 30 ? 0 : (n - 30) * 125_000 }));
  assert.ok(Math.abs(rates(course).mbit - 10 * (1500 / 1448) * (1 + 22 / 16384)) < 1e-6);
  assert.throws(() => rates([]), /nothing was carried/);
});

test("queues are told by how long packets of others wait", () => {
  assert.equal(queue({ median: 200, p95: 300 }, 10), "long");
  assert.equal(queue({ median: 2, p95: 6 }, 10), "fair");
  assert.equal(queue({ median: 8, p95: 20 }, 10), "short");
  // A packet takes 12 ms.
  assert.equal(queue({ median: 20, p95: 29 }, 1), "fair");
  assert.equal(queue(null, 1), "unknown");
});

test("a lost handshake is no wait", () => {
  const small = [130, 120, 1140, 110].map((tcp) => ({ tcp }));
  assert.deepEqual(handshakes(small, 100), [30, 20, 10]);
  assert.equal(responsiveness([{ tcp: 20, tls: 30, http: 10 }]), 3000);
  assert.equal(responsiveness([]), null);
});

const way = (name, stall_s) => ({ name, stall_s, load_s: 10, mbit: 10, longest: 500, queue: stall_s > 1 ? "long" : "fair" });

test("the sentence says what froze, and nothing without a call", () => {
  const text = grade({ down: way("down", 0), up: way("up", 3.21), call: {} });
  assert.match(text, /the others' picture did not freeze; during an upload, your picture stood still for 3\.2 s of 10\. Packets wait/);
  assert.equal(grade({ down: way("down", null), up: way("up", null), call: null }), "");
});

test("the scenario has what was found", () => {
  const text = scenario({ idle: { rtt_ms: 31.26 }, down: way("down", 3), up: { ...way("up", 0), mbit: 1.984 } });
  for (const line of ['rtt = "31.3ms"', 'rate = "10000kbit"', 'buffer = "625000B"', 'discipline = "pfifo"', '[link.up]\nrate = "1984kbit"\ndiscipline = "fq_codel"', 'disciplines = ["pfifo", "fq_codel", "cake", "mencius"]']) {
    assert.ok(text.includes(line), `${line}: ${text}`);
  }
});

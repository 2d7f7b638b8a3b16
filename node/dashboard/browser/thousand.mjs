// A made-up swarm of 1,000 nodes: the page must keep up. Frame times depend on the machine, so they are printed, not judged.

import assert from "node:assert/strict";
import { assertNoErrors, open, picture, program, serve, until } from "./shared.mjs";

const NODES = 1000;
const FRAMES = 120;

console.log(`a made-up swarm of ${NODES} nodes`);
const made = await serve(program("examples/thousand"), [String(NODES)]);
const { browser, page, errors } = await open(made.url);
await until(page, "all nodes appear", (nodes) => window.murmur.model.status?.here === nodes, NODES);
const before = await page.evaluate(() => window.murmur.updates);
await until(page, "updates are taken", (before) => window.murmur.updates > before + 20, before);
await until(page, "a node dies", () => window.murmur.model.nodes[7].state === "dead");
await until(page, "ε is told", () => window.murmur.model.status.epsilon.worst > 0);
assert.ok((await page.locator("#peers li").count()) <= 60, "long lists are cut");

const times = await page.evaluate(async (frames) => {
  const { flock } = window.murmur;
  Object.assign(flock.frames, { count: 0, total: 0, worst: 0 });
  const gaps = [];
  let last = performance.now();
  while (gaps.length < frames) {
    const now = await new Promise((resolve) => requestAnimationFrame(resolve));
    gaps.push(now - last);
    last = now;
  }
  gaps.sort((a, b) => a - b);
  const { count, total, worst } = flock.frames;
  return { median: gaps[frames >> 1], p95: gaps[Math.floor(frames * 0.95)], draw: total / count, worst };
}, FRAMES);
const ms = (value) => `${value.toFixed(1)} ms`;
console.log(`  frames: median ${ms(times.median)}, 95 % below ${ms(times.p95)}; drawing takes ${ms(times.draw)}, at most ${ms(times.worst)}`);
// Down to the curves, which have hardly begun.
const height = await page.evaluate(() => Math.floor(document.querySelector(".charts").getBoundingClientRect().top));
await page.screenshot({ path: picture("dashboard-thousand.png"), clip: { x: 0, y: 0, width: 1240, height } });
assertNoErrors(errors);
made.child.stdin.end();
await until(page, "the end is told", () => document.getElementById("lost").textContent.startsWith("The run is over"));
assert.equal((await made.ended).code, 0);
await browser.close();

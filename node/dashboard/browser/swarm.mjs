// A real swarm in a real browser: nodes appear, rounds advance, ε rises, a killed node turns grey, the end is told.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { assertNoErrors, open, picture, program, serve, until } from "./shared.mjs";

const NODES = 8;
const VICTIM = 3;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "murmur-browser-"));
process.once("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

console.log("a swarm of real processes");
const settings = ["rounds=6000", "privacy.epsilon=8", 'timeouts.silence="1s"', "name=murmuration"];
const swarm = await serve(program("murmur"), [
  "swarm", "--http", "127.0.0.1:0", "--nodes", String(NODES), "--out", folder, ...settings.flatMap((setting) => ["--set", setting]),
]);
const { browser, page, errors } = await open(swarm.url);

await until(page, "all nodes appear", (nodes) => window.murmur.model.status?.here === nodes, NODES);
await until(page, "each has a bar", (nodes) => document.querySelectorAll("#peers li").length === nodes, NODES);
await until(page, "rounds advance", () => window.murmur.model.status.round >= 3);
const first = await until(page, "there is an ε", () => window.murmur.model.status.epsilon.worst);
await until(page, "ε rises", (before) => window.murmur.model.status.epsilon.worst > before, first);
await until(page, "the models are judged", () => window.murmur.model.curves.accuracy.length >= 3);
await until(page, "messages fly", () => window.murmur.flock.dots.length > 0);
await says("#epsilon", "^ε = \\d");
await says("#analysis", "masked.*δ = .*local");
assert.equal(await page.locator("#danger").isHidden(), true, "a run with noise from the system is private");
await until(page, "the log is told", () => document.querySelectorAll("#log li").length > 3);

const late = Number(process.env.MURMUR_PICTURE_ROUND ?? 20);
await until(page, "curves have a shape", (late) => window.murmur.model.status.round >= late, late);
await page.screenshot({ path: picture("dashboard-light.png"), fullPage: true });

process.kill(childWith(swarm.child.pid, `${VICTIM}/${NODES}`), "SIGKILL");
await page.waitForSelector(`#peers li[data-node="${VICTIM}"][data-state="dead"]`);
await until(page, "the killed node turns grey", (victim) => {
  const { flock } = window.murmur;
  const [x, y] = [flock.xs[victim], flock.ys[victim]].map((at) => Math.round(at * flock.scale));
  const pixel = flock.context.getImageData(x, y, 1, 1).data;
  const spread = Math.max(...pixel.slice(0, 3)) - Math.min(...pixel.slice(0, 3));
  return pixel[3] === 255 && spread < 16;
}, VICTIM);
await says("#away", `away: node ${VICTIM}`);
const round = await page.evaluate(() => window.murmur.model.status.round);
await until(page, "the others go on", (before) => window.murmur.model.status.round > before + 5, round);
await page.emulateMedia({ colorScheme: "dark" });
await until(page, "messages fly in the dark", () => window.murmur.flock.dots.length > 0);
await page.screenshot({ path: picture("dashboard-dark.png"), fullPage: true });
await page.locator("#flock").focus();
await page.keyboard.press("ArrowRight");
await says("#chosen", "^Node 0: here");
assertNoErrors(errors);

swarm.child.kill("SIGINT");
await until(page, "the end is told", () => document.getElementById("lost").textContent.startsWith("The run is over"));
assert.equal((await swarm.ended).code, 130, "a swarm that was stopped by ctrl-c says so");
assertNoErrors(errors);
await browser.close();

// The page draws a moment after it has heard: wait for the words.
function says(selector, pattern) {
  const matches = ([selector, pattern]) => new RegExp(pattern).test(document.querySelector(selector)?.textContent ?? "");
  return until(page, `${selector} says ${pattern}`, matches, [selector, pattern]);
}

// The process of a node, among the children of the swarm.
function childWith(parent, shard) {
  const children = fs.readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ");
  const found = children.find((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(shard));
  assert.ok(found, `a child with --shard ${shard}`);
  return Number(found);
}

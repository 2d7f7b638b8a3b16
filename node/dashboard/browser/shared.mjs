// What both browser tests need: a program that serves a page, and a browser that tolerates no error.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import readline from "node:readline";

const root = process.env.MURMUR_ROOT;
const require = createRequire(path.join(root, "target/browser/package.json"));
const { chromium } = require("playwright-core");

// Far beyond what anything takes, even on a busy machine.
export const PATIENCE = 120_000;

export const program = (name) => path.join(root, process.env.CARGO_TARGET_DIR ?? "target", "debug", name);
export const picture = (name) => path.join(process.env.MURMUR_PICTURES, name);

// Starts a program and waits for the line that tells where its page is.
export async function serve(command, args) {
  const child = spawn(command, args, { stdio: ["pipe", "ignore", "pipe"] });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  const said = [];
  const url = await new Promise((resolve, reject) => {
    readline.createInterface({ input: child.stderr }).on("line", (line) => {
      said.push(line);
      const found = /^page\s+(http:\S+)/.exec(line);
      if (found) resolve(found[1]);
    });
    ended.then(({ code }) => reject(new Error(`it ended with ${code} before it served a page:\n${said.join("\n")}`)));
  });
  process.once("exit", () => child.kill("SIGKILL"));
  return { child, url, ended };
}

// Opens a page; `errors` collects what the console and the network say.
export async function open(url) {
  const browser = await chromium.launch({
    executablePath: process.env.MURMUR_CHROMIUM,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  const context = await browser.newContext({ viewport: { width: 1240, height: 900 }, colorScheme: "light", deviceScaleFactor: 1 });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const errors = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && errors.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => errors.push(`uncaught: ${error.message}`));
  page.on("request", (request) => request.url().startsWith(url) || errors.push(`a request to ${request.url()}`));
  await page.goto(url);
  return { browser, page, errors };
}

// Waits until the page's own model satisfies a condition; gives what the condition gives.
export async function until(page, what, condition, argument) {
  const begun = Date.now();
  const handle = await page.waitForFunction(condition, argument, { timeout: PATIENCE, polling: 100 }).catch(async (error) => {
    const status = await page.evaluate(() => JSON.stringify(window.murmur?.model.status));
    throw new Error(`waited in vain: ${what}\n${status}\n${error.message}`);
  });
  console.log(`  ${what} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  return handle.jsonValue();
}

export function assertNoErrors(errors) {
  assert.deepEqual(errors, [], "the console and the network are quiet");
}

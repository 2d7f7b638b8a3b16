// The report of the four hospitals as people get it: at three widths, light and dark, and printed. No page may be wider than its window, no label smaller than 12 px, and
// what is signed prints on four pages, with the paragraph to quote on the first.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { open, picture, program, assertNoErrors } from "./shared.mjs";

const root = process.env.MURMUR_ROOT;
const folder = mkdtempSync(path.join(os.tmpdir(), "murmur-report-"));
const environment = { ...process.env, MURMUR: program("murmur"), MURMUR_LEDGER: path.join(folder, "ledger") };
execFileSync(path.join(root, "examples/hospitals/run.sh"), [folder], { env: environment, stdio: "ignore" });
const file = path.join(folder, "va", "report.html");
const { browser, page, errors } = await open(pathToFileURL(file).href);

const quote = await page.textContent("blockquote");
assert.match(quote, /^On \d+ \w+ \d{4} 4 members \(.*Long Beach.*\) trained/);
const { worst } = JSON.parse(readFileSync(path.join(folder, "va", "report.json"), "utf8"));
assert.ok(quote.includes(`ε = ${(Math.ceil(worst.epsilon * 1000 - 1e-9) / 1000).toFixed(3)}`), quote);
const belief = Math.ceil((100 * Math.exp(worst.epsilon)) / (1 + Math.exp(worst.epsilon)));
assert.ok(quote.includes(`at most ${belief} %`), quote);

for (const width of [390, 820, 1240]) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ media: "screen", colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const found = await page.evaluate(() => {
      const scale = (svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      const labels = [...document.querySelectorAll("figure svg text")].filter((text) => text.textContent.trim());
      const sizes = labels.map((text) => parseFloat(getComputedStyle(text).fontSize) * scale(text.ownerSVGElement));
      const style = getComputedStyle(document.body);
      return { wide: document.documentElement.scrollWidth, smallest: Math.min(...sizes, 99), ink: style.color, paper: style.backgroundColor };
    });
    assert.ok(found.wide <= width, `${found.wide} px wide in a window of ${width}`);
    const bright = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
    assert.equal(bright(found.paper) > bright(found.ink), colorScheme === "light", JSON.stringify(found));
    assert.ok(found.smallest >= 11.9, `a label of ${found.smallest} px`);
    await page.screenshot({ path: picture(`report-${width}-${colorScheme}.png`) });
  }
}

// Printed, whatever the reader's scheme: ink on white.
const pages = (pdf) => (pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g) ?? []).length;
await page.emulateMedia({ media: "print", colorScheme: "dark" });
const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
assert.equal(paper, "rgb(255, 255, 255)");
await page.emulateMedia({ media: null, colorScheme: "light" });
const whole = await page.pdf({ path: picture("report.pdf"), preferCSSPageSize: true, printBackground: true });
await page.addStyleTag({ content: ".appendix{display:none}" });
const signed = pages(await page.pdf({ preferCSSPageSize: true }));
await page.addStyleTag({ content: "header ~ section:not(:has(blockquote)), .signatures, footer{display:none}" });
const first = pages(await page.pdf({ preferCSSPageSize: true }));
console.log(`  ${signed} pages to sign, ${pages(whole)} with the appendix; the paragraph to quote ends on page ${first}`);
assert.ok(signed >= 1 && signed <= 4, `${signed} pages to sign`);
assert.ok(pages(whole) > signed, "an appendix");
assert.equal(first, 1, "the paragraph to quote is on the first page");
writeFileSync(picture("report.txt"), quote);
assertNoErrors(errors);
await browser.close();

// What is signed has four pages whatever happened: nine members lie, each in its way, messages are lost and members come and go.
const kinds = ["nan", "huge", "wrong-length", "replay", "other-run", "flood", "malformed", "forged-model", "equivocation"];
const liars = kinds.map((kind, at) => `{ nodes = [${at + 1}], kind = "${kind}" }`).join(", ");
const settings = [
  "name=faults", "nodes=32", "rounds=15", "batch_size=all", "privacy.epsilon=4", "privacy.masking=none", 'timeouts.resend="20ms"', 'timeouts.silence="200ms"',
  "faults.drop_prob=0.02", `faults.hostile=[${liars}]`, 'faults.crash=[{ nodes = [20, 21], at = "60ms", back = "600ms" }]',
];
const murmur = (...words) => execFileSync(program("murmur"), words, { cwd: folder, env: environment, stdio: "ignore" });
murmur("sim", "--out", "faulty", ...settings.flatMap((setting) => ["--set", setting]));
murmur("report", "faulty/faults");
const faulty = await open(pathToFileURL(path.join(folder, "faulty", "faults", "report.html")).href);
const told = await faulty.page.locator(".appendix h2", { hasText: "All that went wrong" }).locator("xpath=..").locator("tbody tr").count();
assert.ok(told > 6, `${told} kinds of faults`);
await faulty.page.addStyleTag({ content: ".appendix{display:none}" });
const afterFaults = pages(await faulty.page.pdf({ preferCSSPageSize: true }));
console.log(`  ${afterFaults} pages to sign after ${told} kinds of faults`);
assert.ok(afterFaults >= 1 && afterFaults <= 4, `${afterFaults} pages to sign`);
assertNoErrors(faulty.errors);
await faulty.browser.close();
console.log("report: ok");

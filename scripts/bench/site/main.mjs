/**
 * `npm run bench:site`: the targets of the built playground, opened by new visitors in Chromium with empty caches; what Lighthouse
 * gives it; and what a first-time visitor checks. `--write` puts the table into the documentation. `--quick` runs fewer rounds of
 * the first visit, and nothing else.
 * @module
 */
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { findChromium } from "../../chromium.mjs";
import { buildSite, serveSite } from "../../site.mjs";
import { FIRST_VISIT } from "../../size.mjs";
import { report, reportTable, writeDown } from "../measure.mjs";
import { checks } from "./checks.mjs";
import { lighthouse } from "./lighthouse.mjs";

/** Rounds of Lighthouse, whose points are medians. */
const AUDITS = 5;

/** Seconds and gzipped bytes of a first visit, the medians of `rounds`; and points, of `audits` rounds of Lighthouse. */
async function firstVisit(rounds, audits) {
  const { chromium } = await import("playwright-core");
  await buildSite();
  const site = await serveSite(0);
  const browser = await chromium.launch({ executablePath: findChromium() });
  try {
    const visits = [];
    for (let round = 0; round < rounds; round++) visits.push(await visited(browser, site.url));
    const weights = await weighed(visits[0].fetched);
    return {
      shell: seconds(median(visits.map(({ shell }) => shell)), 2),
      result: seconds(median(visits.map(({ result }) => result)), 1.2),
      page: kilobytes(weights.page, FIRST_VISIT.page),
      all: kilobytes(weights.all, FIRST_VISIT.all),
      points: audits === 0 ? [] : await lighthouse(site.url, audits),
    };
  } finally {
    await browser.close();
    await site.close();
  }
}

async function visited(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const fetched = new Set();
  page.on("request", (request) => fetched.add(request.url()));
  const start = performance.now();
  await page.goto(url);
  await page.locator("playground-rail").waitFor();
  const shell = performance.now() - start;
  await page.locator("sluice-artifact").first().waitFor();
  const result = performance.now() - start;
  // The fonts and the service worker are fetched after the first result, and what comes then counts for nobody's first sight.
  const all = [...fetched];
  const seen = all.slice(0, all.findIndex((each) => /\.woff2$|\/sw\.js$/.test(each)) >>> 0);
  await context.close();
  return { shell, result, fetched: seen };
}

async function weighed(urls) {
  const weights = { page: 0, all: 0 };
  for (const url of urls) {
    const size = gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length;
    weights.all += size;
    if (!/worker-|\.wasm/.test(url)) weights.page += size;
  }
  return weights;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const seconds = (ms, most) => ({ seen: `${(ms / 1000).toFixed(2)} s`, bar: `${most} s`, met: ms < most * 1000, ms });

const kilobytes = (bytes, most) => ({
  seen: `${(bytes / 1000).toFixed(1)} KB`,
  bar: `${most / 1000} KB`,
  met: bytes < most,
  bytes,
});

const { values } = parseArgs({ options: { quick: { type: "boolean" }, write: { type: "boolean" } } });
const rounds = values.quick ? 3 : 9;
const visit = await firstVisit(rounds, values.quick ? 0 : AUDITS);
const first = {
  check: "check-1",
  what: "the first result",
  seen: Math.round(visit.result.ms / 10) / 100,
  most: 1.2,
  unit: "s",
};
const checked = values.quick ? [] : await checks([first]);

const rows = await report("bench-site.json", rounds, [
  { work: "the page can be seen and used", measure: () => visit.shell },
  { work: "the first result is on screen", measure: () => visit.result },
  { work: "the page, gzipped", measure: () => visit.page },
  { work: "all before the first result, gzipped", measure: () => visit.all },
  ...visit.points.map((points) => ({ work: points.work, measure: () => points })),
  ...checked.map((check) => ({ work: check.work, measure: () => check })),
]);
if (values.write) writeDown("bench:site", reportTable(rows));

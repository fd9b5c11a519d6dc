/**
 * `npm run bench:site`: the targets of the built playground, opened by new visitors in Chromium with empty caches. `--quick` runs fewer
 * rounds.
 * @module
 */
import { gzipSync } from "node:zlib";
import { findChromium } from "../../chromium.mjs";
import { buildSite, serveSite } from "../../site.mjs";
import { report } from "../measure.mjs";

/** Seconds and gzipped bytes of a first visit; the medians of `rounds`. */
async function firstVisit(rounds) {
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
      result: seconds(median(visits.map(({ result }) => result)), 2),
      page: kilobytes(weights.page, 120),
      all: kilobytes(weights.all, 400),
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
  const seen = [...fetched].filter((each) => !each.endsWith("/sw.js"));
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
  bar: `${most} KB`,
  met: bytes < most * 1000,
  bytes,
});

const rounds = process.argv.includes("--quick") ? 3 : 9;
const visit = await firstVisit(rounds);

await report("bench-site.json", rounds, [
  { work: "the page can be seen and used", measure: () => visit.shell },
  { work: "the first result is on screen", measure: () => visit.result },
  { work: "the page, gzipped", measure: () => visit.page },
  { work: "all before the first result, gzipped", measure: () => visit.all },
]);

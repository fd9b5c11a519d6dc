/**
 * Lighthouse 12 over the built playground: the desktop preset, in the Chromium that the tests drive. `npx` fetches it when it is run,
 * since its 200 packages (186 MB) are needed for nothing else.
 * @module
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium } from "../../chromium.mjs";
import { run } from "../../run.mjs";

const VERSION = "lighthouse@12";

/** Categories as Lighthouse names them; all have to reach `BAR`. */
const CATEGORIES = { performance: "performance", accessibility: "accessibility", "best-practices": "best practices" };

/** Points of 100. */
const BAR = 95;

/** One measurement for each category: the median of `rounds`, and the audits that took points in the first round. */
export async function lighthouse(url, rounds) {
  const folder = await mkdtemp(join(tmpdir(), "sluice-lighthouse-"));
  try {
    const reports = [];
    for (let round = 0; round < rounds; round++) reports.push(await audited(url, join(folder, `${round}.json`)));
    return Object.entries(CATEGORIES).map(([category, name]) => {
      const points = reports.map(({ categories }) => Math.round(categories[category].score * 100));
      const median = points.toSorted((a, b) => a - b)[points.length >> 1];
      const lost = lostIn(reports[0], category);
      return { work: `Lighthouse: ${name}`, seen: `${median} of 100`, bar: `${BAR}`, met: median >= BAR, points, lost };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function audited(url, file) {
  const options = ["--preset=desktop", "--output=json", `--output-path=${file}`, "--quiet"];
  const categories = `--only-categories=${Object.keys(CATEGORIES).join(",")}`;
  const flags = "--chrome-flags=--headless=new --no-sandbox";
  const { code, output } = await run("npx", ["--yes", VERSION, url, ...options, categories, flags], {
    env: { ...process.env, CHROME_PATH: findChromium() },
  });
  if (code !== 0) throw new Error(`Lighthouse ended with ${code}: ${output}`);
  return JSON.parse(await readFile(file, "utf8"));
}

/** Audits of a category that weigh and were not passed in full, with what they saw. */
function lostIn({ categories, audits }, category) {
  return categories[category].auditRefs
    .filter(({ id, weight }) => weight > 0 && (audits[id].score ?? 1) < 1)
    .map(({ id }) => `${id} ${audits[id].displayValue ?? ""}`.trim());
}

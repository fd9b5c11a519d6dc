/** Results that are much too large: the page goes on answering (check 6). */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { noise } from "../../web/playground/demo/files.js";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { largeServer, LONG_NAME, TOOLS } from "./large-server.js";
import { measured } from "./measured.js";
import { tooWide } from "./page-checks.js";
import { act, connect, controlled, during, go, run, visitor } from "./visit.js";

/** Milliseconds for which the page may not answer. */
const LIMIT = 200;
/** A machine that does much else at a time is slow at times. */
const TRIES = 3;
const MAX_NODES = 5000;
const MEGABYTES = 100;

const seen = visitor();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-large-"));
  const line = "It was a dark and stormy night; the rain fell in torrents, and nobody counted the drops.\n";
  const text = line.repeat(Math.ceil(10_000_000 / line.length));
  await writeFile(join(folder, "story.txt"), text);
  await writeFile(join(folder, "story.json"), JSON.stringify({ content: [{ type: "text", text }] }));
  return () => rm(folder, { recursive: true, force: true });
});

/** The longest time, in milliseconds, for which the page did not answer while something was done; the least of some tries. */
async function longest(page: Page, work: () => Promise<void>): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < TRIES && least >= LIMIT; tries += 1) least = Math.min(least, await blocked(page, work));
  return least;
}

async function blocked(page: Page, work: () => Promise<void>): Promise<number> {
  const tasks = await page.evaluateHandle(() => {
    const durations: number[] = [];
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) durations.push(duration);
    });
    observer.observe({ type: "longtask" });
    return { durations, observer };
  });
  await work();
  return tasks.evaluate(async ({ durations, observer }) => {
    // What was drawn for it counts.
    for (let frames = 0; frames < 3; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    for (const { duration } of observer.takeRecords()) durations.push(duration);
    observer.disconnect();
    return Math.max(0, ...durations);
  });
}

/** Nodes of the document, those of all shadow roots included. */
async function nodes(page: Page): Promise<number> {
  return page.evaluate(() => {
    const count = (root: Node): number => {
      let found = 1;
      if (root instanceof Element && root.shadowRoot !== null) found += count(root.shadowRoot);
      for (const child of root.childNodes) found += count(child);
      return found;
    };
    return count(document);
  });
}

async function drop(page: Page, name: string): Promise<void> {
  await go(page, "Try");
  const view = page.locator("playground-try");
  await view.locator("input[type=file]").setInputFiles(join(folder, name));
  await view.getByRole("heading", { name }).waitFor();
  await view.getByRole("button", { name: "Run again" }).waitFor();
  await view.getByLabel("What the model sees").waitFor();
}

async function answers(page: Page, work: () => Promise<void>): Promise<void> {
  measured("check-6", "longest task", await longest(page, work), { most: LIMIT, unit: "ms" });
  measured("check-6", "nodes", await nodes(page), { most: MAX_NODES, unit: "" });
}

describe("the page answers all the time, and stays small", { tags: "check-6" }, () => {
  test("60,000 rows", async () => {
    const { page } = seen;
    const work = async (): Promise<void> => {
      await run(page, "sales_table", { rows: "60000" });
      await page.locator("playground-tools").getByLabel("What the model sees").waitFor();
    };
    await answers(page, work);
  }, 180_000);

  test.each(["story.txt", "story.json"])(
    "10 MB of text: %s",
    async (name) => {
      const { page } = seen;
      await answers(page, () => drop(page, name));
    },
    180_000,
  );

  test.each(["Diff", "Raw"])(
    "the last of them as %s",
    async (mode) => {
      const { page } = seen;
      const view = page.locator("playground-try sluice-result");
      const work = async (): Promise<void> => {
        await view.getByRole("radio", { name: "Split" }).check({ force: true });
        await view.getByRole("radio", { name: mode }).check({ force: true });
      };
      await answers(page, work);
    },
    180_000,
  );
});

test("an archive of 100 MB arrives, and can be had again byte for byte", async () => {
  const { page } = seen;
  await controlled(page);
  await run(page, "archive", { megabytes: String(MEGABYTES) });
  const card = page.locator("playground-tools sluice-artifact");
  await card.getByText("100.0 MB").first().waitFor();
  expect(await nodes(page)).toBeLessThan(MAX_NODES);

  const downloading = page.waitForEvent("download");
  await act(card, "Download original");
  const hash = createHash("sha256");
  await pipeline(createReadStream(await (await downloading).path()), hash);
  const bytes = Buffer.from(await noise(MEGABYTES, new AbortController().signal), "base64");
  expect(bytes.length).toBe(MEGABYTES * 1024 * 1024);
  expect(hash.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
}, 240_000);

describe("a server with much of everything", () => {
  const server = during(() => serveMcp({ server: largeServer }));
  const tools = (): Locator => seen.page.locator("playground-tools");
  const list = (): Locator => tools().getByRole("complementary");

  beforeAll(() => connect(seen.page, server().url));

  test("each of its tools is found by a search", async () => {
    const { page } = seen;
    expect(await nodes(page)).toBeLessThan(MAX_NODES);
    const search = list().getByRole("searchbox");
    for (let at = 1; at < TOOLS; at += 1) {
      const name = `tool_${String(at).padStart(3, "0")}`;
      await search.fill(name);
      const found = list().getByRole("listitem");
      await found.filter({ hasText: name }).waitFor();
      expect(await found.count()).toBe(1);
    }
    await search.fill("");
  }, 180_000);

  test.each([1440, 768, 390])("names of 120 characters fit at %s px", async (width) => {
    const { page } = seen;
    await page.setViewportSize({ width, height: 900 });
    await go(page, "Tools");
    await list().getByRole("searchbox").fill(LONG_NAME);
    await list().getByRole("listitem").getByRole("button").click();
    await tools().getByRole("heading", { name: LONG_NAME, exact: true }).waitFor();
    expect(await tooWide(page)).toEqual([]);
    await tools().getByRole("button", { name: "Run", exact: true }).click();
    await tools().getByRole("button", { name: "Run again" }).waitFor();
    await tools().locator("sluice-artifact").first().waitFor();
    expect(await tooWide(page)).toEqual([]);
    await go(page, "Resources");
    await page.locator("sluice-resources").getByRole("button", { name: LONG_NAME }).first().waitFor();
    expect(await tooWide(page)).toEqual([]);
  });
});

test("nothing of it is complained of", () => expect(seen.complaints).toEqual([]));

/**
 * Results that are much too large: the page goes on answering.
 * @module-tag check-6
 */
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
import { image, largeServer, LONG_NAME, TOOLS } from "./large-server.js";
import { measured, took } from "./measured.js";
import { tooWide, violations } from "./page-checks.js";
import { act, begin, connect, connectFiles, controlled, during, go, openFile, run, visitor } from "./visit.js";

/** Milliseconds for which the page may not answer, on a machine that does nothing else. */
const LONGEST_TASK = 100;
/** Milliseconds that a machine which does much else may add. */
const BUSY = 1000;
const MAX_NODES = 5000;
const MEGABYTES = 100;
const ROWS = 1_000_000;
const FILES = 1000;

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

/** The longest time, in milliseconds, for which the page did not answer while something was done. */
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

/** Goes to the parts of what scrolls, and counts the nodes at each. */
async function most(page: Page, scroller: Locator): Promise<number> {
  const counts = [await nodes(page)];
  for (const share of [0.1, 0.5, 1, 0]) {
    await scroller.evaluate((element, at) => element.scrollTo(0, element.scrollHeight * at), share);
    await page.waitForTimeout(300);
    counts.push(await nodes(page));
  }
  return Math.max(...counts);
}

async function drop(page: Page, name: string): Promise<void> {
  await go(page, "Try");
  const view = page.locator("playground-try");
  await view.locator("input[type=file]").setInputFiles(join(folder, name));
  await view.getByRole("heading", { name }).waitFor();
  await view.getByRole("button", { name: "Run again" }).waitFor();
  await view.getByRole("region", { name: "What the model sees" }).waitFor();
}

/** Does something, puts down for how long the page did not answer, and looks how large it is then. Work that is not divided is one task. */
async function answers(page: Page, work: () => Promise<void>): Promise<void> {
  const begun = performance.now();
  const longest = await blocked(page, work);
  took("check-6", "longest task of more than 50 ms", longest, LONGEST_TASK);
  expect.soft(longest).toBeLessThan(Math.max(BUSY, (performance.now() - begun) / 2));
  measured("check-6", "nodes", await nodes(page), { most: MAX_NODES, unit: "" });
}

describe("the page answers all the time, and stays small", () => {
  test("60,000 rows", async () => {
    const { page } = seen;
    const work = async (): Promise<void> => {
      await run(page, "sales_table", { rows: "60000" });
      await page.locator("playground-tools").getByRole("region", { name: "What the model sees" }).waitFor();
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

test("1,000 images are dropped while the page answers", async () => {
  const { page } = seen;
  const content = Array.from({ length: 1000 }, (_, at) => image(at));
  await writeFile(join(folder, "images.json"), JSON.stringify({ content }));
  await answers(page, () => drop(page, "images.json"));
}, 180_000);

test("a page of 5 MB is drawn while the page around it answers, then as a whole", async () => {
  const { page } = seen;
  const rows = Array.from(
    { length: 60_000 },
    (_, at) => `<tr class="row"><td>${at}</td><td>Customer <b>${at * 7919}</b></td></tr>`,
  );
  await writeFile(
    join(folder, "large.html"),
    `<style>.row:nth-child(2n) { background: #eee }</style><table>${rows.join("\n")}</table>`,
  );
  await drop(page, "large.html");
  const viewer = page.locator("playground-drawer sluice-viewer");
  const rowsOf = (): Promise<number> =>
    viewer
      .locator("iframe")
      .evaluate((frame: HTMLIFrameElement) => frame.contentDocument?.querySelectorAll("tr").length ?? 0);
  const open = async (): Promise<void> => {
    await page.keyboard.press("Escape");
    await viewer.waitFor({ state: "hidden" });
    await act(page.locator("playground-try sluice-artifact").first(), "Preview");
    await viewer.getByRole("button", { name: /^Load all/ }).waitFor();
    await expect.poll(rowsOf).toBeGreaterThan(1000);
  };
  await answers(page, open);
  await viewer.getByRole("button", { name: /^Load all/ }).click();
  await expect.poll(rowsOf, { timeout: 60_000 }).toBeGreaterThan(19_000);
  await page.keyboard.press("Escape");
}, 180_000);

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
    for (let at = 1; at <= TOOLS - 2; at += 1) {
      const name = `tool_${String(at).padStart(3, "0")}`;
      await search.fill(name);
      const found = list().getByRole("listitem");
      await found.filter({ hasText: name }).waitFor();
      expect(await found.count()).toBe(1);
    }
    await search.fill("");
  }, 180_000);

  describe("each of its tools is reached by keyboard", () => {
    /** Names of tools that get the focus from now on. */
    const focused = (): Promise<{ names: () => Promise<readonly string[]> }> =>
      list()
        .evaluateHandle((element) => {
          const names: string[] = [];
          element.addEventListener("focusin", ({ target }) => {
            names.push((target as HTMLElement).querySelector("strong")?.textContent ?? "");
          });
          return names;
        })
        .then((names) => ({ names: () => names.evaluate((all) => [...all]) }));

    test.each(["Tab", "ArrowDown"])("with %s", async (key) => {
      const { page } = seen;
      await list().getByRole("searchbox").focus();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Home");
      await expect.poll(() => list().locator(":focus strong").innerText()).toBe("images");
      const { names } = await focused();
      for (let at = 1; at < TOOLS; at += 1) await page.keyboard.press(key);
      const wanted = Array.from({ length: TOOLS - 2 }, (_, at) => `tool_${String(at + 1).padStart(3, "0")}`);
      expect((await names()).filter((name) => name.startsWith("tool_"))).toEqual(wanted);
      expect(await nodes(page)).toBeLessThan(MAX_NODES);
    });

    test("at once the last one, which opens, and the first", async () => {
      const { page } = seen;
      await page.keyboard.press("End");
      const last = list().getByRole("listitem").last().getByRole("button");
      await expect.poll(() => last.evaluate((button) => button.matches(":focus"))).toBe(true);
      expect(await last.locator("xpath=..").getAttribute("aria-posinset")).toBe(
        await last.locator("xpath=..").getAttribute("aria-setsize"),
      );
      const name = await last.locator("strong").innerText();
      await page.keyboard.press("Enter");
      await tools().getByRole("heading", { name, exact: true }).waitFor();
      await page.keyboard.press("Home");
      await expect.poll(() => list().locator(":focus strong").innerText()).toBe("images");
      expect(await violations(page)).toEqual([]);
    });
  });

  describe.each([200, 1000])("%s images in one result", (count) => {
    const ask = async (): Promise<void> => {
      await begin(seen.page, "images", { count: String(count) });
      await tools()
        .locator(".args")
        .filter({ hasText: `count ${count}` })
        .waitFor();
      await tools().getByRole("button", { name: "Run again" }).waitFor();
      await tools().getByRole("region", { name: "What the model sees" }).waitFor();
    };

    test("come while the page answers", async () => {
      await answers(seen.page, ask);
    }, 180_000);

    test("are few nodes wherever one looks", async () => {
      const { page } = seen;
      expect(await most(page, tools().getByRole("region", { name: "Blocks" }))).toBeLessThan(MAX_NODES);
      expect(await most(page, tools().getByRole("region", { name: "What the model sees" }))).toBeLessThan(MAX_NODES);
      expect(await most(page, tools().locator(".work"))).toBeLessThan(MAX_NODES);
    });

    test("are all there, to the last", async () => {
      const rows = tools().locator(".cards");
      const cards = (): Promise<number> =>
        rows.evaluateAll((all) => {
          const [first, last] = [all[0], all.at(-1)];
          return (
            Number(last?.getAttribute("data-index")) * (first?.childElementCount ?? 0) + (last?.childElementCount ?? 0)
          );
        });
      await tools()
        .locator(".work")
        .evaluate((element) => element.scrollTo(0, element.scrollHeight));
      // Of a result with more than 256, the whole is stored beside those.
      await expect.poll(cards).toBe(Math.min(count, 257));
      await act(tools().locator("sluice-artifact").last(), "Preview");
      await seen.page.locator("playground-drawer sluice-viewer").waitFor();
      await seen.page.keyboard.press("Escape");
    });
  });

  test("1,000 artifacts of several results stay in reach, and few nodes", async () => {
    const { page } = seen;
    const count = 250;
    for (let call = 1; call <= 4; call += 1) {
      const ask = async (): Promise<void> => {
        await begin(page, "images", { count: String(count) });
        await tools().getByRole("button", { name: "Run again" }).waitFor();
        await tools().locator(".cards").first().waitFor();
      };
      await answers(page, ask);
    }
    await go(page, "Log");
    expect(await nodes(page)).toBeLessThan(MAX_NODES);
    const calls = (): Locator => page.locator("playground-try").getByRole("complementary").getByRole("button");
    const visit = async (): Promise<void> => {
      await go(page, "Try");
      for (const at of [3, 0]) {
        await calls().nth(at).click();
        await page.locator("playground-try .cards").first().waitFor();
      }
    };
    await answers(page, visit);
    await act(page.locator("playground-try sluice-artifact").first(), "Preview");
    await page.locator("playground-drawer sluice-viewer img").waitFor();
    await page.keyboard.press("Escape");
    await go(page, "Tools");
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

  test.each([1440, 768, 390])("so do those of prompts, and of the server itself, at %s px", async (width) => {
    const { page } = seen;
    await page.setViewportSize({ width, height: 900 });
    await go(page, "Tools");
    await tools().getByRole("button", { name: "Prompts" }).click();
    await page.getByRole("complementary", { name: "Prompts" }).getByRole("button", { name: LONG_NAME }).click();
    await tools().getByRole("button", { name: "Get the prompt" }).click();
    await tools().getByRole("list", { name: "Messages" }).getByText(LONG_NAME).waitFor();
    expect(await tooWide(page)).toEqual([]);
    await tools().getByRole("button", { name: "Tools", exact: true }).click();
    await page.locator("playground-servers").getByRole("button").first().click();
    const dialog = page.getByRole("dialog", { name: "Servers" });
    const about = dialog.getByRole("listitem").filter({ hasText: "local-" });
    await about.locator("details").evaluate((details) => Object.assign(details, { open: true }));
    await about.getByText(LONG_NAME).waitFor();
    expect(await tooWide(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Close" }).click();
  });
});

describe("a table of 1,000,000 rows", () => {
  const drawer = (): Locator => seen.page.locator("playground-drawer");
  const table = (): Locator => drawer().getByRole("table");

  beforeAll(async () => {
    const { page } = seen;
    await page.setViewportSize({ width: 1440, height: 900 });
    const lines = Array.from({ length: ROWS }, (_, at) => `${at},Customer ${(at * 7919) % ROWS},${at % 97}`);
    await writeFile(join(folder, "million.csv"), `id,name,amount\n${lines.join("\n")}\n`);
    await drop(page, "million.csv");
  }, 180_000);

  test("is read while the page answers", async () => {
    const { page } = seen;
    const work = async (): Promise<void> => {
      await page.keyboard.press("Escape");
      await drawer().waitFor({ state: "hidden" });
      await act(page.locator("playground-try sluice-artifact").first(), "Preview");
      await drawer()
        .getByRole("button", { name: /^Load all/ })
        .click();
      await expect.poll(() => table().getAttribute("aria-rowcount"), { timeout: 60_000 }).toBe(String(ROWS + 1));
    };
    await answers(page, work);
  }, 180_000);

  test("is sorted and gone through while the page answers", async () => {
    const { page } = seen;
    const first = (name: string) => (): Promise<number> =>
      table().locator("[aria-rowindex='2']").getByText(name, { exact: true }).count();
    const sort = async (): Promise<void> => {
      await table().getByRole("button", { name: "name" }).click();
      await expect.poll(first("Customer 0"), { timeout: 60_000 }).toBe(1);
      await table().getByRole("button", { name: "name" }).click();
      await expect.poll(first("Customer 999999"), { timeout: 60_000 }).toBe(1);
      await table().getByRole("button", { name: "name" }).click();
      await expect.poll(() => table().getAttribute("aria-busy"), { timeout: 60_000 }).toBe("false");
    };
    await answers(page, sort);
    const jump = async (): Promise<void> => {
      for (const row of [ROWS, 1, ROWS / 2]) {
        await drawer().getByLabel("Go to row").fill(String(row));
        await drawer().getByLabel("Go to row").press("Enter");
        await table()
          .getByRole("rowheader", { name: row.toLocaleString("en"), exact: true })
          .waitFor();
      }
    };
    await answers(page, jump);
    await page.keyboard.press("Escape");
  }, 180_000);
});

describe("1,000 files", () => {
  const view = (): Locator => seen.page.locator("playground-files");
  const list = (): Locator => view().getByRole("list", { name: "Files" });
  test("are kept while the page answers", async () => {
    const { page } = seen;
    const paths = Array.from({ length: FILES }, (_, at) => {
      const name = `${String(at).padStart(3, "0")}-${at % 10 === 0 ? LONG_NAME : "note"}.txt`;
      return join(folder, name);
    });
    for (const [at, path] of paths.entries()) await writeFile(path, `Note ${at}.`);
    await go(page, "My Files");
    // That many files are a task of the browser's own before the page is told of them.
    await view().locator("input[type=file]").setInputFiles(paths);
    const all = view().getByText(`${FILES} of ${FILES} files`);
    await answers(page, () => all.waitFor({ timeout: 170_000, state: "attached" }));
  }, 180_000);

  test("are few nodes, and shown while the page answers", async () => {
    const { page } = seen;
    const work = async (): Promise<void> => {
      await go(page, "Try");
      await go(page, "My Files");
      await list().getByRole("listitem").nth(5).waitFor();
      expect(await most(page, page.locator("main"))).toBeLessThan(MAX_NODES);
    };
    await answers(page, work);
  });

  test("are reached by keyboard, and found", async () => {
    const { page } = seen;
    await list().getByRole("listitem").first().getByRole("button").press("End");
    await expect.poll(() => list().locator(":focus .name").innerText()).toMatch(/^000-/);
    await page.keyboard.press("ArrowUp");
    await expect.poll(() => list().locator(":focus .name").innerText()).toBe("001-note.txt");
    await page.keyboard.press("Enter");
    await view().getByRole("region", { name: "001-note.txt" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await view().getByRole("searchbox").fill("543-");
    await expect
      .poll(() => list().getByRole("listitem").allInnerTexts())
      .toEqual([expect.stringContaining("543-note")]);
    await view().getByRole("searchbox").fill("");
  });

  test("are few nodes where a tool takes one of them", async () => {
    const { page } = seen;
    await connectFiles(page);
    const tools = page.locator("playground-tools").getByRole("complementary").getByRole("button");
    for (const tool of await tools.all()) {
      await tool.click();
      expect(await nodes(page)).toBeLessThan(MAX_NODES);
    }
    await go(page, "My Files");
  });

  test.each([768, 390])("fit at %s px", async (width) => {
    const { page } = seen;
    await page.setViewportSize({ width, height: 900 });
    await openFile(page, LONG_NAME);
    expect(await tooWide(page)).toEqual([]);
    expect(await nodes(page)).toBeLessThan(MAX_NODES);
  });
});

test("nothing of it is complained of", () => expect(seen.complaints).toEqual([]));

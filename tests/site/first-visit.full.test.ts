/** What somebody sees who comes for the first time (checks 1, 3, 4 and 5). */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Locator } from "playwright-core";
import { preview } from "vite";
import { beforeAll, describe, expect, test } from "vitest";
import { SITE } from "../../scripts/site.mjs";
import { type Elsewhere, listen } from "../package/tools/elsewhere.js";
import { keep, leave, WINDOWS } from "./places.js";
import { controlled, firstResult, go, openFile, run, SITE_URL, visit, visitor } from "./visit.js";

describe("the first visit", () => {
  const seen = visitor();

  describe("without any set-up", { tags: "check-1" }, () => {
    test("a result is on screen, and two ways to begin", async () => {
      const { page } = seen;
      await page.locator("sluice-artifact").first().getByText("application/pdf").waitFor();
      for (const name of [/Drop your own file/, /Connect my server/]) {
        expect(await page.getByRole("button", { name }).count()).toBe(1);
      }
    });

    test("the page shows before it runs what its first result then says", async () => {
      await using before = await visit({ javaScriptEnabled: false, waits: false });
      const words = async (texts: Promise<readonly string[]>): Promise<readonly string[]> =>
        (await texts).map((text) => text.replaceAll(/\s+/g, " ").trim());
      const still = before.page.locator(".still");
      const meter = seen.page.locator("playground-try sluice-meter");
      expect(await words(still.locator("h1").allInnerTexts())).toEqual(
        await words(meter.locator(".sentence").allInnerTexts()),
      );
      expect(await words(still.locator("dd").allInnerTexts())).toEqual(
        await words(meter.locator(".facts dd").allInnerTexts()),
      );
      expect(await words(still.locator("p.what").allInnerTexts())).toEqual(
        await words(seen.page.locator("playground-try p.what").allInnerTexts()),
      );
      const picture = still.locator("img");
      expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(200);
      expect(await seen.page.locator(".still").isVisible()).toBe(false);
    });

    test("nothing complains, and nothing is asked of any other origin", () => {
      expect(seen.complaints).toEqual([]);
      expect(seen.requests.filter((url) => !url.startsWith(SITE_URL) && !url.startsWith("blob:"))).toEqual([]);
    });
  });
});

/** A phone: every task is possible (check 2). places.test.ts checks that every place fits. */
describe("a narrow page", () => {
  const [, { options }] = WINDOWS;
  const { width, height } = options.viewport;

  describe("on a phone", { tags: "check-2" }, () => {
    const seen = visitor({ ...options });

    test("views are tabs at the bottom", async () => {
      const box = await boxOf(seen.page.locator("playground-rail"));
      expect(box).toMatchObject({ x: 0, width });
      expect(box.y + box.height).toBe(height);
      expect(box.height).toBeLessThan(80);
      expect(await seen.page.locator("playground-rail").getByRole("button").count()).toBe(7);
    });

    test("of the two sides, one is shown at a time", async () => {
      const result = seen.page.locator("playground-try sluice-result");
      const [sent, observation] = [result.locator("sluice-result-sent"), result.locator("sluice-result-model")];
      const choose = (side: string): Promise<void> => result.getByRole("radio", { name: side }).tap();
      await sent.waitFor();
      expect(await observation.isVisible()).toBe(false);
      await choose("Model sees");
      await observation.waitFor();
      expect(await sent.isVisible()).toBe(false);
      expect(await observation.locator("code").innerText()).toContain("application/pdf");
    });

    test("a tool runs, and its file is looked at in a sheet from the bottom", async () => {
      const { page } = seen;
      await run(page, "sales_chart", { kind: "line" });
      await page
        .locator("playground-tools sluice-artifact")
        .getByRole("button", { name: /^Preview/ })
        .tap();
      await page.locator("playground-drawer img").waitFor();
      const box = await boxOf(page.locator("playground-drawer"));
      expect(box).toMatchObject({ x: 0, width });
      expect(box.y).toBeGreaterThan(height / 5);
      expect(box.y + box.height).toBe((await boxOf(page.locator("playground-rail"))).y);
      await page.getByRole("button", { name: "Close the preview" }).tap();
      await page.locator("playground-drawer").waitFor({ state: "detached" });
    });

    test("the result of another call is chosen", async () => {
      const { page } = seen;
      await go(page, "Try");
      const choice = page.getByRole("combobox", { name: "Call" });
      const heading = page.locator("playground-try playground-call").getByRole("heading", { level: 2 }).first();
      await choice.selectOption({ index: 1 });
      await expect.poll(() => heading.innerText()).toBe("demo.sales_report");
      await choice.selectOption({ index: 0 });
      await expect.poll(() => heading.innerText()).toBe("demo.sales_chart");
    });

    test("a file is kept, renamed and deleted", async () => {
      const { page } = seen;
      await keep(page, "sales_chart");
      await go(page, "My Files");
      const view = page.locator("playground-files");
      await openFile(page, "sales_chart");
      await view.getByRole("button", { name: /^Rename / }).tap();
      await view.getByRole("textbox", { name: "New name" }).fill("the year.png");
      await view.getByRole("button", { name: "Rename", exact: true }).tap();
      const card = view.getByRole("article", { name: "the year.png" });
      await card.getByRole("button", { name: /^More actions/ }).tap();
      await view.getByRole("menuitem", { name: "Delete" }).tap();
      await card.getByRole("group", { name: "Delete the year.png?" }).getByRole("button", { name: "Yes" }).tap();
      await view.getByText("You have no files yet").waitFor();
      expect(await view.getByRole("article").count()).toBe(0);
    });

    test("a server can be connected, and a file given", async () => {
      const { page } = seen;
      await go(page, "Try");
      await page.getByRole("button", { name: "Connect my server" }).tap();
      await page.getByRole("dialog", { name: "Servers" }).getByRole("textbox", { name: "Address" }).waitFor();
      await leave(page);
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Drop your own file" }).tap();
      expect((await chooser).isMultiple()).toBe(true);
    });
  });

  async function boxOf(element: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
    const box = await element.boundingBox();
    if (box === null) throw new Error("It is not shown.");
    return box;
  }
});

/** The site on other hosts: a newer version while the older one is open, and below another path. */
describe("hosting", () => {
  const TYPES: Readonly<Record<string, string>> = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
  };

  let folder: string;
  let host: Elsewhere;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-site-"));
    await cp(SITE, folder, { recursive: true });
    host = await listen(() => (request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      const name = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
      readFile(join(folder, name)).then(
        (bytes) => response.setHeader("content-type", TYPES[extname(name)] ?? "application/octet-stream").end(bytes),
        () => response.writeHead(404).end(),
      );
    });
    return async () => {
      await host[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    };
  });

  /** Makes the page another one, and has the service worker know. */
  async function publish(version: string): Promise<void> {
    const [page, worker] = [join(folder, "index.html"), join(folder, "sw.js")];
    await writeFile(page, (await readFile(page, "utf8")).replace("<html", `<html data-version="${version}"`));
    const script = await readFile(worker, "utf8");
    const [entry = ""] = /\{url:.index\.html.[^{}]*\}/.exec(script) ?? [];
    const changed = entry.replace(/[0-9a-f]{16}/, (revision) =>
      revision.replace(/^./, (first) => (first === "0" ? "1" : "0")),
    );
    expect(changed).not.toBe(entry);
    await writeFile(worker, script.replace(entry, changed));
  }

  test("is offered, and taken when somebody wants it: never while they work", async () => {
    await using seen = await visit({ url: `${host.origin}/` });
    const { page } = seen;
    await controlled(page);
    const version = (): Promise<string | undefined> => page.evaluate(() => document.documentElement.dataset["version"]);
    const update = page.locator("playground-bar").getByRole("button", { name: "Update" });
    await publish("next");

    await page.reload();
    await firstResult(page);
    await update.waitFor();
    expect(await version()).toBeUndefined();

    await update.click();
    await page.waitForFunction(() => document.documentElement.dataset["version"] === "next");
    await firstResult(page);
    await controlled(page);
    expect(await update.count()).toBe(0);
    expect(seen.complaints).toEqual([]);
  });

  test("works from any path, and its addresses stay below it", async () => {
    const folderHost = await preview({
      configFile: false,
      base: "/deep/folder/",
      build: { outDir: SITE },
      preview: { host: "127.0.0.1", port: 0 },
      logLevel: "error",
    });
    try {
      const url = folderHost.resolvedUrls?.local[0] ?? "";
      await using seen = await visit({ url });
      const { page, complaints, requests } = seen;
      await controlled(page);
      await page.reload();
      const address = await page.locator("sluice-artifact a").first().getAttribute("href");
      expect(address?.startsWith(`${url}s/`)).toBe(true);
      expect(await page.evaluate(async (href) => (await fetch(href)).status, address ?? "")).toBe(200);
      expect(requests.filter((each) => !each.startsWith(url) && !each.startsWith("blob:"))).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      await folderHost.close();
    }
  });
});

/** What is downloaded is the original, under a name that fits (check 8). */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FrameLocator, Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { jingle, webPage } from "../../web/playground/demo/files.js";
import { salesReport } from "../../web/playground/demo/report.js";
import { csv, orders } from "../../web/playground/demo/sales.js";
import { inView } from "./in-view.js";
import { act, controlled, pick, run, SITE_URL, visitor } from "./visit.js";

describe("downloads", { tags: "check-8" }, () => {
  /** What is saved when somebody presses something. */
  interface Saved {
    readonly name: string;
    readonly sha256: string;
  }

  async function saved(page: Page, press: () => Promise<void>): Promise<Saved> {
    const [download] = await Promise.all([page.waitForEvent("download"), press()]);
    return { name: download.suggestedFilename(), sha256: hash(await readFile(await download.path())) };
  }

  function hash(bytes: Uint8Array | string): string {
    return createHash("sha256").update(bytes).digest("hex");
  }

  const card = (page: Page): Locator => page.locator("main sluice-artifact").first();

  /** A link where a service worker answers, else a button. */
  const original = (of: Locator): Locator => of.getByLabel(/^Download original/);

  interface Kind {
    readonly name: string;
    readonly make: (page: Page) => Promise<void>;
    /** Made here, by the same recipe. */
    readonly made?: () => Uint8Array | string;
  }

  const KINDS: readonly Kind[] = [
    {
      name: "sales_report.pdf",
      make: (page) => run(page, "sales_report", { quarter: "Q1" }),
      made: () => salesReport("Q1"),
    },
    { name: "sales_chart.png", make: (page) => run(page, "sales_chart", { kind: "line" }) },
    {
      name: "jingle.wav",
      make: (page) => run(page, "jingle", { seconds: "2" }),
      made: () => jingle(2),
    },
    {
      name: "orders-700.csv",
      make: (page) => run(page, "export_csv", { rows: "700" }),
      made: () => csv(orders(700)),
    },
    { name: "prices.ts", make: (page) => run(page, "source_code") },
    { name: "backup-2.bin", make: (page) => run(page, "archive", { megabytes: "2" }) },
    { name: "sales_table.json", make: (page) => run(page, "sales_table", { rows: "900" }) },
    { name: "page.html", make: (page) => pick(page, "page.html", webPage(), "text/html"), made: webPage },
    {
      name: "Übersicht_ März 2025.svg",
      make: (page) =>
        pick(page, "Übersicht: März 2025.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
      made: () => '<svg xmlns="http://www.w3.org/2000/svg"/>',
    },
  ];

  describe.each(["allow", "block"] as const)("with service workers: %s", (serviceWorkers) => {
    const seen = visitor({ serviceWorkers });

    beforeAll(async () => {
      if (serviceWorkers === "allow") await controlled(seen.page);
    });

    // Each of them works alike without a worker: a brief run leaves that to the tests below.
    test.each(KINDS)("$name is downloaded as it came", async ({ name, make, made }) => {
      const { page } = seen;
      await make(page);
      const { artifacts } = await inView(page);
      const file = await saved(page, () => original(card(page)).click());
      expect(file).toEqual({ name, sha256: artifacts[0]?.sha256 });
      expect(file.sha256).toBe(made === undefined ? artifacts[0]?.sha256 : hash(made()));
    });

    test("the preview downloads the same", async () => {
      const { page } = seen;
      await run(page, "jingle", { seconds: "2" });
      await act(card(page), "Preview");
      const viewer = page.locator("playground-drawer sluice-viewer");
      await viewer.locator("audio").waitFor();
      const file = await saved(page, () => viewer.locator("header").getByText("Download", { exact: true }).click());
      expect(file).toEqual({ name: "jingle.wav", sha256: hash(jingle(2)) });
    });

    test("so is what was kept in My Files", async () => {
      const { page } = seen;
      await run(page, "export_csv", { rows: "700" });
      await act(card(page), "Save to My Files");
      await page
        .locator("playground-rail")
        .getByRole("button", { name: /^My Files/ })
        .click();
      const kept = page.locator("playground-files sluice-artifact").first();
      const file = await saved(page, () => original(kept).click());
      expect(file).toEqual({ name: "orders-700.csv", sha256: hash(csv(orders(700))) });
    });

    test("nothing complains, and nothing is asked of any other origin", () => {
      expect(seen.complaints).toEqual([]);
      expect(seen.requests.filter((url) => !url.startsWith(SITE_URL) && !url.startsWith("blob:"))).toEqual([]);
    });
  });
});

/** Every kind of file has a preview, or says why it has none (check 7). */
describe("previews", { tags: "check-7" }, () => {
  const seen = visitor();

  const viewer = (page: Page): Locator => page.locator("playground-drawer sluice-viewer");

  /** Opens the preview of the first artifact of the result in view. */
  async function preview(page: Page): Promise<Locator> {
    const { artifacts } = await inView(page);
    await act(page.locator("main sluice-artifact").first(), "Preview");
    const name = artifacts[0]?.filename ?? artifacts[0]?.id ?? "";
    await viewer(page).locator("header").getByText(name, { exact: true }).waitFor();
    return viewer(page);
  }

  const tab = (page: Page, name: string): Promise<void> => viewer(page).getByRole("tab", { name }).click();

  describe("the preview", () => {
    test("of a PDF has its pages, with what is written on them", async () => {
      const { page } = seen;
      await run(page, "sales_report", { quarter: "Q3" });
      const shown = await preview(page);
      const sheet = shown.locator("canvas").first();
      await sheet.waitFor();
      const colours = await sheet.evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
        return new Set(new Uint32Array(Uint8Array.from(data).buffer)).size;
      });
      expect(colours).toBeGreaterThan(20);
      await shown.getByText("Sales report Q3 2025").first().waitFor({ state: "attached" });
      await shown.getByText("of 3", { exact: true }).waitFor();
    });

    test("of an image is the image, not larger than it is", async () => {
      const { page } = seen;
      await run(page, "sales_chart");
      const image = (await preview(page)).locator("img.image");
      await image.waitFor();
      const size = await image.evaluate(({ naturalWidth, naturalHeight, clientWidth }: HTMLImageElement) => ({
        naturalWidth,
        naturalHeight,
        clientWidth,
      }));
      expect(size).toMatchObject({ naturalWidth: 960, naturalHeight: 540 });
      expect(size.clientWidth).toBeLessThanOrEqual(960);
    });

    test("of a CSV is a table of all its rows", async () => {
      const { page } = seen;
      await run(page, "export_csv", { rows: "1500" });
      const table = (await preview(page)).getByRole("table");
      await expect.poll(() => table.getAttribute("aria-rowcount")).toBe("1501");
      expect(await table.getByRole("columnheader").allTextContents()).toEqual(
        expect.arrayContaining(["order", "date", "region", "product"]),
      );
      expect(await table.getByRole("cell", { name: "SO-100001", exact: true }).count()).toBe(1);
    });

    test("of rows of JSON is a table too", async () => {
      const { page } = seen;
      await run(page, "sales_table", { rows: "1200" });
      const table = (await preview(page)).getByRole("table");
      await expect.poll(() => table.getAttribute("aria-rowcount")).toBe("1201");
    });

    test("of audio plays it", async () => {
      const { page } = seen;
      await run(page, "jingle", { seconds: "3" });
      const player = (await preview(page)).locator("audio");
      await player.waitFor();
      const seconds = (): Promise<number> => player.evaluate((audio: HTMLAudioElement) => audio.duration);
      await expect.poll(seconds).toBeCloseTo(3, 1);
      await player.evaluate((audio: HTMLAudioElement) => {
        audio.muted = true;
        return audio.play();
      });
      const at = (): Promise<number> => player.evaluate((audio: HTMLAudioElement) => audio.currentTime);
      await expect.poll(at).toBeGreaterThan(0);
    });

    test("of source code has its lines in colours", async () => {
      const { page } = seen;
      await run(page, "source_code");
      const shown = await preview(page);
      await shown.getByText("Prices of orders in 2025").first().waitFor();
      const colours = async (): Promise<number> => {
        const spans = shown.getByRole("tabpanel").locator("span[class]");
        return new Set(await spans.evaluateAll((all) => all.map((span) => getComputedStyle(span).color))).size;
      };
      await expect.poll(colours).toBeGreaterThan(2);
    });

    test("of what nothing can show is its bytes", async () => {
      const { page } = seen;
      await run(page, "archive", { megabytes: "1" });
      const rows = (await preview(page)).locator(".hex .bytes");
      await rows.first().waitFor();
      const { original } = await inView(page);
      const { content } = JSON.parse(original) as { content: [{ resource: { blob: string } }] };
      const pairs = Buffer.from(content[0].resource.blob, "base64").subarray(0, 8).toString("hex").match(/../g) ?? [];
      expect(await rows.first().locator(".pairs").textContent()).toContain(pairs.join(" "));
    });

    test("says why there is none, and what to do instead", async () => {
      const { page } = seen;
      await pick(page, "torn.pdf", "%PDF-1.7\nthat is all", "application/pdf");
      const shown = await preview(page);
      await shown.getByRole("tabpanel").getByText("This PDF cannot be read.").waitFor();
      await shown.getByRole("button", { name: "Show source" }).click();
      await shown.locator(".hex .bytes").first().waitFor();
    });

    test("stands beside the source and what is known of the file", async () => {
      const { page } = seen;
      await run(page, "export_csv", { rows: "1500" });
      const { artifacts } = await inView(page);
      const shown = await preview(page);
      await tab(page, "Source");
      await shown.getByText("order,date,region").first().waitFor();
      await tab(page, "Info");
      await shown.getByText(artifacts[0]?.sha256 ?? "").waitFor();
      await tab(page, "Preview");
      await shown.getByRole("table").waitFor();
    });
  });

  describe.each(["allow", "block"] as const)("the preview of a page, service workers: %s", (serviceWorkers) => {
    /** Addresses that something other than the policy of the page kept from being asked. */
    const asked: string[] = [];
    const other = visitor({ serviceWorkers });
    let frame: FrameLocator;
    let element: Locator;

    beforeAll(async () => {
      const { page, context } = other;
      context.on("requestfinished", (request) => asked.push(request.url()));
      context.on("requestfailed", (request) => {
        if (request.failure()?.errorText !== "csp") asked.push(`${request.url()} ${request.failure()?.errorText}`);
      });
      if (serviceWorkers === "allow") await controlled(page);
      await pick(page, "sales-2025.html", webPage(), "text/html");
      await preview(page);
      element = viewer(page).locator("iframe");
      frame = element.contentFrame();
      await frame.getByRole("heading", { name: "Sales 2025" }).waitFor();
    });

    test("shows it, in a sandbox without scripts", async () => {
      expect(await element.getAttribute("sandbox")).not.toMatch(/allow-(?:scripts|forms|popups|top)/);
      expect(await frame.locator("#script").textContent()).toBe("A script: it did not run.");
      const colour = await frame.locator("main").evaluate((main) => getComputedStyle(main).backgroundColor);
      expect(colour).toBe("rgb(255, 255, 255)");
    });

    test("sends nothing, whatever is pressed", async () => {
      const { page } = other;
      const before = page.url();
      await frame.getByRole("button", { name: "Send, to nowhere" }).click();
      await expect.poll(() => frame.getByRole("heading", { name: "Sales 2025" }).count()).toBe(1);
      expect(page.url()).toBe(before);
      expect(asked.filter((url) => url.includes(".example"))).toEqual([]);
    });
  });
});

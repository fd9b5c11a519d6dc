/** What is downloaded is the original, under a name that fits (check 8). */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { webPage, jingle } from "../../web/playground/demo/files.js";
import { salesReport } from "../../web/playground/demo/report.js";
import { csv, orders } from "../../web/playground/demo/sales.js";
import { inView } from "./in-view.js";
import { SITE_URL, act, controlled, pick, run, visitor } from "./visit.js";
import { isFull } from "../support/full.js";

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
  test.runIf(isFull || serviceWorkers === "allow").each(KINDS)(
    "$name is downloaded as it came",
    async ({ name, make, made }) => {
      const { page } = seen;
      await make(page);
      const { artifacts } = await inView(page);
      const file = await saved(page, () => original(card(page)).click());
      expect(file).toEqual({ name, sha256: artifacts[0]?.sha256 });
      expect(file.sha256).toBe(made === undefined ? artifacts[0]?.sha256 : hash(made()));
    },
  );

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

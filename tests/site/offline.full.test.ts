/** Without a network, once the site was there (check 15). */
import { beforeAll, describe, expect, test } from "vitest";
import { measured } from "./measured.js";
import { act, begin, connectFiles, controlled, firstResult, go, PATIENCE, run, SITE_URL, visitor } from "./visit.js";

describe("without a network", { tags: "check-15" }, () => {
  const seen = visitor();

  /** Addresses of which nothing came. */
  const failed: string[] = [];
  /** Addresses of which something came, and not from the service worker. */
  const fetched: string[] = [];

  beforeAll(async () => {
    const { page, context } = seen;
    await controlled(page);
    await run(page, "sales_report");
    await act(page.locator("playground-tools sluice-artifact").first(), "Save to My Files");
    await page
      .locator("playground-rail")
      .getByRole("button", { name: /^My Files ?, 1 files?/ })
      .waitFor();
    await context.setOffline(true);
    context.on("requestfailed", (request) => {
      // The page itself gives up what a picture asked for that has left the view.
      if (request.failure()?.errorText !== "net::ERR_ABORTED") failed.push(request.url());
    });
    context.on("response", (response) => {
      if (/^https?:/.test(response.url()) && !response.fromServiceWorker()) fetched.push(response.url());
    });
    await page.reload();
  });

  test("the page is there, says that it is offline, and the example runs", async () => {
    const { page } = seen;
    await firstResult(page);
    await page.locator("playground-bar").getByText("offline", { exact: true }).waitFor();
  });

  test("the demo is called, and its resources are read", async () => {
    const { page } = seen;
    await run(page, "sales_chart");
    await page.locator("playground-tools sluice-artifact").getByText("image/png").first().waitFor();
    await go(page, "Resources");
    await page
      .locator("sluice-resources")
      .getByRole("button", { name: /^Products/ })
      .click();
    await page.locator("sluice-resources").getByText("Trail tent,289").waitFor();
  });

  test("what was kept is in My Files, and its PDF is drawn", async () => {
    const { page } = seen;
    await go(page, "My Files");
    await act(page.locator("playground-files sluice-artifact").first(), "Preview");
    const canvas = page.locator("playground-drawer canvas").first();
    await canvas.waitFor();
    await expect.poll(() => canvas.evaluate(isDrawn), { timeout: PATIENCE }).toBe(true);
  });

  test("tools work with My Files, and what they made is shown", async () => {
    const { page } = seen;
    await page.getByRole("button", { name: "Close the preview" }).click();
    await connectFiles(page);
    await run(page, "make_report");
    const report = page.locator("playground-drawer iframe").contentFrame();
    await report.getByRole("heading", { name: "Revenue by region" }).waitFor();
  });

  test("every view opens", async () => {
    const { page } = seen;
    for (const [view, element] of [
      ["Guardrails", "playground-guardrails"],
      ["Log", "playground-log"],
      ["Try", "playground-try"],
    ] as const) {
      await go(page, view);
      await page.locator(element).waitFor();
    }
  });

  test("no request leaves or fails, and nothing is complained of", () => {
    measured("check-15", "requests that left or failed", failed.length + fetched.length, { most: 0, unit: "" });
    expect([...failed, ...fetched]).toEqual([]);
    measured("check-15", "console errors", seen.complaints.length, { most: 0, unit: "" });
    expect(seen.complaints).toEqual([]);
  });

  /** Whether there is anything on it but paper. */
  function isDrawn(canvas: Element): boolean {
    const { width, height } = canvas as HTMLCanvasElement;
    const pixels = (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
    for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3] === 255 && (pixels[at] ?? 255) < 128) return true;
    return false;
  }
});

/** A browser that gives the site hardly any room. */
describe("a full disk", () => {
  const MIB = 1024 * 1024;
  /**
   * Some 7 MiB for the site itself, and 8 MiB for what a test keeps. The browser lets 5 MiB more in than it says before it
   * looks: what must not fit is beyond that too.
   */
  const QUOTA = 16 * MIB;

  const seen = visitor({ url: "about:blank", waits: false });

  beforeAll(async () => {
    const { page, context } = seen;
    const devtools = await context.newCDPSession(page);
    // Before anything is stored: the browser looks only now and then at how much it may be.
    await devtools.send("Storage.overrideQuotaForOrigin", { origin: new URL(SITE_URL).origin, quotaSize: QUOTA });
    await page.goto(SITE_URL);
    await firstResult(page);
    await controlled(page);
  });

  /** Bytes that the browser counts. */
  const used = (): Promise<number> => seen.page.evaluate(async () => (await navigator.storage.estimate()).usage ?? 0);

  test("bytes that do not fit: the call says so, and nothing is half written", async () => {
    const { page } = seen;
    const before = await used();
    await begin(page, "archive", { megabytes: "20" });
    const call = page.locator("playground-tools playground-call");
    await call
      .getByRole("alert")
      .getByText(/no storage left/)
      .waitFor();
    await call.locator("sluice-artifact").getByText("not stored", { exact: false }).first().waitFor();
    await call.getByLabel("What the model sees").getByText("(E_STORE_FULL)").waitFor();
    await expect.poll(used, { timeout: PATIENCE }).toBeLessThan(before + MIB);
  });

  test("a file that does not fit into My Files is not there in part; it is said why", async () => {
    const { page } = seen;
    await run(page, "archive", { megabytes: "8" });
    const card = page.locator("playground-tools sluice-artifact").first();
    await card.waitFor();
    const before = await used();
    await act(card, "Save to My Files");
    await page
      .locator("playground-bar")
      .getByRole("button", { name: /^Notifications, \d+ new/ })
      .click();
    await page
      .locator("playground-notices")
      .getByText(/no storage left/)
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
    await go(page, "My Files");
    await page.locator("playground-files").getByText("You have no files yet").waitFor();
    await expect.poll(used, { timeout: PATIENCE }).toBeLessThan(before + MIB);
  });

  test("what is small enough still fits, and is kept", async () => {
    const { page } = seen;
    await run(page, "sales_chart");
    await act(page.locator("playground-tools sluice-artifact").first(), "Save to My Files");
    await page
      .locator("playground-rail")
      .getByRole("button", { name: /^My Files ?, 1 files?/ })
      .waitFor();
  });
});

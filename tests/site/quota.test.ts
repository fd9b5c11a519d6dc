/** A browser that gives the site hardly any room. */
import { beforeAll, expect, test } from "vitest";
import { SITE_URL, PATIENCE, act, begin, controlled, firstResult, go, run, visitor } from "./visit.js";

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
    .getByText(/no more room/)
    .waitFor();
  await call.locator("sluice-artifact").getByText("not stored", { exact: false }).first().waitFor();
  await call.getByLabel("What the model sees").getByText("Content not stored (E_STORE_FULL)").waitFor();
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
    .getByText(/no more room/)
    .first()
    .waitFor();
  await page.keyboard.press("Escape");
  await go(page, "My Files");
  await page.locator("playground-files").getByText("You have not kept anything yet").waitFor();
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

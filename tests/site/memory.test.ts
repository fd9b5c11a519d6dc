/** What a tab remembers over a reload. */
import { expect, test } from "vitest";
import { command, firstResult, go, run, SITE_URL, visit, visitor } from "./visit.js";

const seen = visitor();

test("calls and their results are there after a reload, and nothing runs again", async () => {
  const { page } = seen;
  await run(page, "export_csv");
  await go(page, "Try");
  await page.waitForFunction(() => localStorage.getItem("sluice.memory") === "true");
  await page.waitForTimeout(500);
  await page.reload();
  await firstResult(page);
  await page.locator("playground-try").getByRole("heading", { name: "demo.export_csv" }).waitFor();
  expect(await page.locator("playground-try").getByRole("complementary").getByRole("listitem").count()).toBe(2);
});

test("a new tab starts from them, and goes its own way", async () => {
  const other = await seen.context.newPage();
  await other.goto(SITE_URL);
  await firstResult(other);
  await run(other, "sales_chart");
  const calls = other.locator("playground-try").getByRole("complementary").getByRole("listitem");
  await go(other, "Try");
  expect(await calls.count()).toBe(3);
  await seen.page.reload();
  await firstResult(seen.page);
  expect(await seen.page.locator("playground-try").getByRole("complementary").getByRole("listitem").count()).toBe(2);

  await seen.page.goto("about:blank");
  await seen.page.goto(other.url());
  await seen.page.locator("playground-try").getByRole("heading", { name: "demo.sales_chart" }).waitFor();
  await other.close();
});

test("the end of the session deletes them", async () => {
  const { page } = seen;
  await command(page, "End session");
  const loaded = page.waitForEvent("load");
  await page.getByRole("dialog", { name: "End session" }).getByRole("button", { name: "End session" }).click();
  await loaded;
  await firstResult(page);
  expect(await page.locator("playground-try").getByRole("complementary").getByRole("listitem").count()).toBe(1);
});

test("where it cannot remember, the page works and says so", async () => {
  await using other = await visit({ waits: false, url: "about:blank" });
  await other.page.addInitScript(() => {
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its factory below
    const open = IDBFactory.prototype.open;
    IDBFactory.prototype.open = function refusing(name, version): IDBOpenDBRequest {
      if (name === "sluice-playground") throw new DOMException("Refused.", "SecurityError");
      return open.call(this, name, version);
    };
  });
  await other.page.goto(SITE_URL);
  await firstResult(other.page);
  await other.page
    .locator("playground-bar")
    .getByRole("button", { name: /^Notifications/ })
    .click();
  await other.page
    .locator("playground-notices")
    .getByText("This browser does not let the page remember calls")
    .waitFor();
  expect(other.complaints).toEqual([]);
});

test("nothing of it is complained of", () => {
  expect(seen.complaints).toEqual([]);
});

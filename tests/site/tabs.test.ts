/** The site in two tabs at a time. */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { recordComplaints } from "../support/chromium.js";
import { SITE_URL, act, command, controlled, firstResult, go, run, visitor } from "./visit.js";

const seen = visitor();
let other: Page;
let complaints: readonly string[];

beforeAll(async () => {
  await controlled(seen.page);
  other = await seen.context.newPage();
  complaints = recordComplaints(other);
  await other.goto(SITE_URL);
  await firstResult(other);
});

/** The address of an artifact that a page shows. */
async function address(page: Page): Promise<string> {
  const card = page.locator("sluice-artifact").first();
  await card.getByRole("link", { name: /^Download original/ }).waitFor({ state: "attached" });
  return card.getByRole("link", { name: /^Download original/ }).evaluate((link) => (link as HTMLAnchorElement).href);
}

const status = (page: Page, url: string): Promise<number> =>
  page.evaluate(async (asked) => (await fetch(asked)).status, url);

test("both work", async () => {
  for (const page of [seen.page, other]) {
    await run(page, "sales_chart");
    await page.locator("playground-tools sluice-artifact").getByText("image/png").first().waitFor();
  }
});

test("a file that is saved in one is in the other after a look", async () => {
  await act(seen.page.locator("playground-tools sluice-artifact").first(), "Save to My Files");
  await seen.page
    .locator("playground-rail")
    .getByRole("button", { name: /^My Files ?, 1 files?/ })
    .waitFor();
  await go(other, "My Files");
  await other.locator("playground-files sluice-artifact").getByText("image/png").first().waitFor();
});

test("a session that is ended in one opens nothing any more in the other; My Files stay", async () => {
  await go(other, "Tools");
  const [mine, kept] = [await address(other), await (await go(seen.page, "My Files"), address(seen.page))];
  expect(await status(other, mine)).toBe(200);
  expect(await status(other, kept)).toBe(200);

  await go(seen.page, "Try");
  await command(seen.page, "End session");
  const question = seen.page.getByRole("dialog", { name: "End session" });
  await question.getByRole("button", { name: "End session" }).click();
  for (const page of [seen.page, other]) {
    await page.locator("p.answer").getByText("The session ended").waitFor();
    await firstResult(page);
  }
  expect([404, 410]).toContain(await status(other, mine));
  expect(await status(other, kept)).toBe(200);

  await go(seen.page, "My Files");
  await seen.page.locator("playground-files sluice-artifact").getByText("image/png").first().waitFor();
});

test("the other goes on: what it gets now can be had", async () => {
  await run(other, "export_csv");
  await other.locator("playground-tools sluice-artifact").getByText("text/csv").first().waitFor();
  expect(await status(other, await address(other))).toBe(200);
});

test("nothing of it is complained of", () => {
  // What the browser says of the address that opens nothing.
  expect([...seen.complaints, ...complaints].filter((text) => !/status of 4(?:04|10)/.test(text))).toEqual([]);
});

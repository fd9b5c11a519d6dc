/** What a server has to read: templates, subscriptions and what changes (check 10). */
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { go, run, visitor } from "./visit.js";

const NOTE = "Rain on Sunday: all rain shells to the front.";

const seen = visitor();

/** Opens a list, and one of its rows, which `name` begins. */
async function opened(page: Page, tab: string, name: RegExp): Promise<Locator> {
  await go(page, "Resources");
  const list = page.locator("sluice-resources");
  await list.getByRole("tab", { name: new RegExp(`^${tab}`) }).click();
  const row = list.getByRole("listitem").filter({ has: page.getByRole("button", { name, expanded: false }) });
  const wasClosed = await row.count();
  if (wasClosed > 0) await row.getByRole("button", { name }).click();
  return list.getByRole("listitem").filter({ has: page.getByRole("button", { name, expanded: true }) });
}

describe("resources of the demo", () => {
  test("a template: its fields are filled in by what the server completes, and the result is read", async () => {
    const { page } = seen;
    const row = await opened(page, "Templates", /^A region's sales by month/);
    const region = row.getByRole("combobox", { name: "region" });
    await region.pressSequentially("no");
    const offered = row.getByRole("option");
    await offered.first().waitFor();
    expect(await offered.allInnerTexts()).toEqual(["North"]);
    await region.press("ArrowDown");
    await region.press("Enter");
    expect(await region.inputValue()).toBe("North");
    await row.getByRole("combobox", { name: "year" }).pressSequentially("202");
    await row.getByRole("option", { name: "2025" }).click();
    await row.getByRole("button", { name: "Read", exact: true }).click();
    await row.getByText("Jan 2025,").waitFor();
    expect(await row.innerText()).toContain("table://North/2025");
  });

  test("nothing is read of a resource before somebody opens it; then it is a file that is stored", async () => {
    const { page } = seen;
    const row = await opened(page, "Resources", /^Sales report Q1/);
    await row.locator("sluice-artifact").getByText("application/pdf").first().waitFor();
  });

  test("a subscription: what changes gets a dot and a button, which reads it anew", async () => {
    const { page } = seen;
    const before = await opened(page, "Resources", /^Today's note/);
    await before.getByText("Fair at the lake").waitFor();
    await before.getByRole("button", { name: "Subscribe to Today's note" }).click();
    await before.getByText("Subscribed").first().waitFor();

    await run(page, "write_note", { text: NOTE });
    await page
      .locator("playground-rail")
      .getByRole("button", { name: /^Resources ?, 1 updated/ })
      .waitFor();

    await go(page, "Resources");
    const row = page.locator("sluice-resources").getByRole("listitem").filter({ hasText: "Today's note" });
    await row.locator(".dot").waitFor();
    expect(await row.innerText()).toContain("Subscribed");
    expect(await page.getByText(NOTE).count()).toBe(0);
    await row.getByRole("button", { name: "Refresh Today's note" }).click();
    await row.getByRole("button", { name: /^Today's note/ }).click();
    await row.getByText(NOTE).waitFor();
    expect(await row.locator(".dot").count()).toBe(0);
    await page.locator("playground-rail").getByRole("button", { name: "Resources", exact: true }).waitFor();
  });

  test("nothing of it is complained of", () => expect(seen.complaints).toEqual([]));
});

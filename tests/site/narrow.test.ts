/** A phone: every task is possible (check 2). places.test.ts checks that every place fits. */
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { keep, leave, WINDOWS } from "./places.js";
import { go, run, visitor } from "./visit.js";

const [, { options }] = WINDOWS;
const { width, height } = options.viewport;

describe("on a phone", () => {
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
    expect(await observation.locator("code").innerText()).toContain("image/png");
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
    const heading = page.locator("playground-try playground-call").getByRole("heading", { level: 2 });
    await choice.selectOption({ index: 1 });
    await expect.poll(() => heading.innerText()).toBe("demo.sales_chart");
    await choice.selectOption({ index: 0 });
    await expect.poll(() => heading.innerText()).toBe("demo.sales_chart");
  });

  test("a file is kept, renamed and deleted", async () => {
    const { page } = seen;
    await keep(page, "sales_chart");
    await go(page, "My Files");
    const view = page.locator("playground-files");
    await view.getByRole("button", { name: /^Rename / }).tap();
    await view.getByRole("textbox", { name: "New name" }).fill("the year.png");
    await view.getByRole("button", { name: "Rename", exact: true }).tap();
    const card = view.getByRole("article", { name: "the year.png" });
    await card.getByRole("button", { name: /^More actions/ }).tap();
    await view.getByRole("menuitem", { name: "Delete" }).tap();
    await card.getByRole("group", { name: "Delete the year.png?" }).getByRole("button", { name: "Yes" }).tap();
    await view.getByText("You have not kept anything yet").waitFor();
    expect(await view.getByRole("article").count()).toBe(0);
  });

  test("a server can be connected, and a file given", async () => {
    const { page } = seen;
    await go(page, "Try");
    await page.getByRole("button", { name: "Connect my server" }).tap();
    await page.getByRole("dialog", { name: "Servers" }).getByRole("textbox", { name: "Address" }).waitFor();
    await leave(page);
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Drop a CallToolResult" }).tap();
    expect((await chooser).isMultiple()).toBe(true);
  });
});

async function boxOf(element: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await element.boundingBox();
  if (box === null) throw new Error("It is not shown.");
  return box;
}

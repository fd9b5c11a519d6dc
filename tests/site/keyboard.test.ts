/** The keyboard alone, from the first moment on (check 14). */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { visitor } from "./visit.js";

/** Stops of Tab after which something cannot be reached, as people see it. */
const PATIENCE = 80;

const seen = visitor();

describe("with the keyboard alone", { tags: "check-14" }, () => {
  test("the first stop skips to the content", async () => {
    const { page } = seen;
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Skip to the content");
    expect(await page.locator(".skip").isVisible()).toBe(true);
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("Try");
  });

  test("a tool is found, its form filled in, and it runs", async () => {
    const { page } = seen;
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /^Find/ }).waitFor();
    await page.keyboard.type("sales_chart");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("sales_chart");
    await page.keyboard.press("Tab");
    await page.keyboard.type("line");
    // Hints are descriptions, and not part of the names.
    expect(await page.getByRole("combobox", { name: "Kind", exact: true }).inputValue()).toBe("line");
    await page.getByRole("button", { name: "sales_chart", exact: true }).waitFor();
    await page.keyboard.press("Control+Enter");
    await page.locator("playground-tools playground-call").getByRole("heading", { name: "demo.sales_chart" }).waitFor();
    await page.locator("playground-tools sluice-artifact").waitFor();
  });

  test("a preview takes the focus, and Esc gives it back", async () => {
    const { page } = seen;
    await tabTo(page, "Preview: sales_chart.png");
    await page.keyboard.press("Enter");
    await page.locator("playground-drawer img").waitFor();
    expect(await focused(page)).toBe("Preview");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Width of the preview");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Close the preview");
    await page.keyboard.press("Escape");
    await page.locator("playground-drawer").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Preview: sales_chart.png");
  });

  test("the preview is made wider with arrows", async () => {
    const { page } = seen;
    await page.keyboard.press("Enter");
    await page.locator("playground-drawer img").waitFor();
    await page.keyboard.press("Tab");
    const edge = page.getByRole("separator", { name: "Width of the preview" });
    const before = Number(await edge.getAttribute("aria-valuenow"));
    await page.keyboard.press("ArrowLeft");
    await expect.poll(async () => Number(await edge.getAttribute("aria-valuenow"))).toBe(before + 24);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Escape");
    await page.locator("playground-drawer").waitFor({ state: "detached" });
  });

  test("Esc closes what lies on top, and leaves the preview behind it open", async () => {
    const { page } = seen;
    expect(await focused(page)).toBe("Preview: sales_chart.png");
    await page.keyboard.press("Enter");
    await page.locator("playground-drawer img").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
    expect(await page.locator("playground-drawer").count()).toBe(1);
    await page.keyboard.press("Escape");
    await page.locator("playground-drawer").waitFor({ state: "detached" });
  });

  test("the menu of a card is walked with arrows, and what is kept can be renamed", async () => {
    const { page } = seen;
    await tabTo(page, "More actions for sales_chart.png");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => focused(page)).toBe("Copy ref");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => focused(page)).toBe("Save to My Files");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Notifications, 1 new" }).waitFor();
    expect(await focused(page)).toBe("More actions for sales_chart.png");
    await goTo(page, "f", "My Files");
    await tabTo(page, "Rename sales_chart.png");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("New name");
    await page.keyboard.type("the year.png");
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "the year.png" }).waitFor();
  });

  test.each([
    ["t", "Tools"],
    ["r", "Resources"],
    ["f", "My Files"],
    ["c", "Chat"],
    ["h", "Try"],
    ["g", "Guardrails"],
    ["l", "Log"],
  ])("g %s shows %s, and what comes next is there", async (key, view) => {
    await goTo(seen.page, key, view);
    expect(await seen.page.title()).toBe(`${view} · Sluice playground`);
  });

  test("[ and ] show the result before, and the result after", async () => {
    const { page } = seen;
    await goTo(page, "h", "Try");
    const heading = page.locator("playground-try playground-call").getByRole("heading", { level: 2 }).first();
    expect(await heading.innerText()).toBe("demo.sales_chart");
    await page.keyboard.press("[");
    await expect.poll(() => heading.innerText()).toBe("demo.sales_report");
    await page.keyboard.press("]");
    await expect.poll(() => heading.innerText()).toBe("demo.sales_chart");
  });

  test("/ searches what is listed, where letters are letters", async () => {
    const { page } = seen;
    await goTo(page, "t", "Tools");
    await page.keyboard.press("/");
    expect(await focused(page)).toBe("Search tools");
    await page.keyboard.type("g r?[");
    expect(await page.getByRole("searchbox", { name: "Search tools" }).inputValue()).toBe("g r?[");
    expect(await page.title()).toBe("Tools · Sluice playground");
    await page.getByText("No tool matches.").waitFor();
    await page.keyboard.press("Escape");
  });

  test("what is focused before the view is there keeps the focus", async () => {
    const { page } = seen;
    await blur(page);
    await page.getByRole("button", { name: "Notifications" }).evaluate(async (button: HTMLElement) => {
      for (const key of ["g", "l"]) dispatchEvent(new KeyboardEvent("keydown", { key }));
      button.focus();
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
    expect(await page.title()).toBe("Log · Sluice playground");
    expect(await page.getByRole("button", { name: "Notifications" }).evaluate(isFocused)).toBe(true);
  });

  test("/ finds anything where nothing is listed", async () => {
    const { page } = seen;
    await page.locator("body").press("Escape");
    await blur(page);
    await goTo(page, "h", "Try");
    await page.keyboard.press("/");
    await page.getByRole("combobox", { name: /^Find/ }).waitFor();
    await page.keyboard.press("Escape");
    expect(await focused(page)).toBe("Try");
  });

  test("? tells the keys, and Esc gives the focus back", async () => {
    const { page } = seen;
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    expect(await page.getByRole("dialog", { name: "Keys" }).getByRole("term").count()).toBe(8);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
    expect(await focused(page)).toBe("Try");
  });

  test("a button that is only an icon says what it does, to keyboard and pointer, and Esc takes the words away", async () => {
    const { page } = seen;
    const words = page.locator("playground-tooltip [popover]");
    await tabTo(page, "Notifications, 1 new");
    await expect.poll(() => words.innerText()).toBe("Notifications, 1 new");
    await page.keyboard.press("Escape");
    await expect.poll(() => words.isVisible()).toBe(false);
    await page
      .locator("playground-bar")
      .getByRole("button", { name: /^Theme/ })
      .hover();
    await expect.poll(() => words.innerText()).toMatch(/^Theme: system/);
    await page.locator("playground-bar .version").hover();
    await expect.poll(() => words.isVisible()).toBe(false);
    await blur(page);
  });

  test("notifications take the focus, and Esc gives it back", async () => {
    const { page } = seen;
    await tabTo(page, "Notifications, 1 new");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("Notifications");
    await page.getByText("is in My Files.").last().waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("heading", { name: "Notifications" }).isVisible()).toBe(false);
    await expect.poll(() => page.getByRole("button", { name: "Notifications" }).evaluate(isFocused)).toBe(true);
  });
});

function isFocused(element: Element): boolean {
  return element.matches(":focus");
}

/** The name of what has the focus, in whatever element within elements it is. */
async function focused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at?.getAttribute("aria-label") ?? at?.textContent.trim().replaceAll(/\s+/g, " ");
  });
}

async function tabTo(page: Page, name: string): Promise<void> {
  for (let stop = 0; stop < PATIENCE && (await focused(page)) !== name; stop += 1) await page.keyboard.press("Tab");
  expect(await focused(page)).toBe(name);
}

async function goTo(page: Page, key: string, view: string): Promise<void> {
  await page.keyboard.press("g");
  await page.keyboard.press(key);
  await expect.poll(() => focused(page)).toBe(view);
}

/** As a click beside everything does. */
async function blur(page: Page): Promise<void> {
  await page.evaluate(() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    (at as HTMLElement | null)?.blur();
  });
}

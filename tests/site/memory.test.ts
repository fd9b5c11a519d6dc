/** What a tab remembers over a reload: calls, the chat, servers; and the end of a session, which reloads nothing. */
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { stored } from "./databases.js";
import { inView } from "./in-view.js";
import { serveModel } from "./model-server.js";
import { tooSmall, tooWide, violations } from "./page-checks.js";
import {
  ask,
  begin,
  command,
  connect,
  during,
  firstResult,
  go,
  run,
  SITE_URL,
  visit,
  visitor,
  waitForMemory,
} from "./visit.js";

/** The calls in the list of Try. */
function calls(page: Page): Locator {
  return page.locator("playground-try").getByRole("complementary").getByRole("listitem");
}

async function notices(page: Page): Promise<Locator> {
  await page
    .locator("playground-bar")
    .getByRole("button", { name: /^Notifications/ })
    .click();
  return page.locator("playground-notices");
}

async function endSession(page: Page): Promise<void> {
  await command(page, "End session");
  await page.getByRole("dialog", { name: "End session" }).getByRole("button", { name: "End session" }).click();
  await page.locator("p.answer").getByText("The session ended").waitFor();
}

describe("calls", () => {
  const seen = visitor();

  test("calls and their results are there after a reload, and nothing runs again", async () => {
    const { page } = seen;
    await run(page, "export_csv");
    await go(page, "Try");
    await waitForMemory(page);
    await page.reload();
    await firstResult(page);
    await page.locator("playground-try").getByRole("heading", { name: "demo.export_csv" }).waitFor();
    expect(await calls(page).count()).toBe(2);
  });

  test("a new tab starts from them, and goes its own way", async () => {
    const other = await seen.context.newPage();
    await other.goto(SITE_URL);
    await firstResult(other);
    await run(other, "sales_chart");
    await go(other, "Try");
    expect(await calls(other).count()).toBe(3);
    await seen.page.reload();
    await firstResult(seen.page);
    expect(await calls(seen.page).count()).toBe(2);

    await waitForMemory(other);
    await seen.page.goto("about:blank");
    await seen.page.goto(other.url());
    await seen.page.locator("playground-try").getByRole("heading", { name: "demo.sales_chart" }).waitFor();
    await other.close();
  });

  test("one that ran when the page was left is in the list, and says so", async () => {
    const { page } = seen;
    await begin(page, "slow_import", { seconds: "60" });
    await page.locator("playground-tools progress[value]").waitFor();
    await waitForMemory(page);
    await page.reload();
    await go(page, "Try");
    const item = calls(page).filter({ hasText: "slow_import" });
    await item.getByText("cancelled").waitFor();
    await item.getByRole("button").click();
    await page.locator("playground-call").getByText("It was running when the page was left").waitFor();
    await waitForMemory(page);
    await page.reload();
    await go(page, "Try");
    await calls(page).filter({ hasText: "slow_import" }).getByText("cancelled").waitFor();
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
    const told = await notices(other.page);
    await told.getByText("This browser does not let the page remember calls").waitFor();
    expect(other.complaints).toEqual([]);
  });

  test("nothing of it is complained of", () => {
    expect(seen.complaints).toEqual([]);
  });
});

describe("the chat", () => {
  const KEY = "sk-a-key-that-nobody-writes-down";
  const model = during(() =>
    serveModel(({ last }) => {
      if (last.content.startsWith("Wait")) return { calls: [{ name: "demo_slow_import", args: { seconds: 60 } }] };
      return last.role === "tool" ? { text: "Done." } : { text: "The shop is open." };
    }, KEY),
  );
  const seen = visitor();

  test("a question that is asked before the page is ready is asked when it is", async () => {
    await using other = await visit({ url: "about:blank", waits: false });
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await other.context.route(/core-[\w-]+\.wasm$/, async (route) => {
      await held;
      await route.continue();
    });
    await other.page.goto(`${SITE_URL}#/chat`);
    const field = other.page.getByRole("textbox", { name: "Your question" });
    await field.fill("Draw the chart, please");
    await field.press("Enter");
    const turn = other.page.locator("playground-turn");
    await turn.getByText("as soon as it is ready").waitFor();
    release();
    await turn.getByText("tokens").waitFor();
    expect(await turn.count()).toBe(1);
    expect(other.complaints).toEqual([]);
  });

  test("the conversation goes on after a reload, and the model's key was never written", async () => {
    const { page } = seen;
    await go(page, "Chat");
    await page.locator("playground-chat").getByRole("button", { name: "Model", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Model" });
    await dialog.getByRole("radio", { name: /^A model of your own/ }).check();
    for (const [label, value] of [
      ["Address", model().url],
      ["Model", "test"],
      ["Key (optional)", KEY],
    ] as const) {
      await dialog.getByRole("textbox", { name: label, exact: true }).fill(value);
    }
    await dialog.getByRole("button", { name: "Use it" }).click();
    await ask(page, "Is the shop open?");
    await page.locator("playground-turn").getByText("The shop is open.").first().waitFor();
    await waitForMemory(page);
    const kept = await stored(page, "sluice-playground");
    expect(kept).toContain("Is the shop open?");
    expect(kept).toContain("The shop is open.");
    expect(kept).not.toContain(KEY);
    expect(kept).not.toContain(model().url);

    await page.reload();
    await page.locator("playground-turn").getByText("The shop is open.").first().waitFor();
    // The key is gone, so the script answers: it is said who does.
    await page.getByText("the script, offline").waitFor();
  });

  test("a question that was being answered is there, and says so", async () => {
    const { page } = seen;
    await ask(page, "Import the orders, which takes 60 seconds");
    await page.locator("playground-chat progress[value]").waitFor();
    await waitForMemory(page);
    await page.reload();
    const turn = page.locator("playground-turn").last();
    await turn.getByText("It was being answered when the page was left").waitFor();
    await turn.getByRole("button", { name: "Ask again" }).waitFor();
    expect(await page.locator("playground-turn").count()).toBe(2);
  });

  test("a new chat is empty after a reload, too", async () => {
    const { page } = seen;
    await page.getByRole("button", { name: "New chat" }).click();
    await waitForMemory(page);
    await page.reload();
    await page.getByText("Ask about files that the model never sees").waitFor();
    await page.waitForTimeout(500);
    expect(await page.locator("playground-turn").count()).toBe(0);
    expect(seen.complaints).toEqual([]);
  });
});

describe("servers", () => {
  const TOKEN = "a-token-that-nobody-writes-down";
  const open = during(() => serveMcp());
  const guarded = during(() => serveMcp({ owner: async (token) => (token === TOKEN ? "ada" : null) }));
  const seen = visitor();
  const item = (name: string): Locator =>
    seen.page.locator("playground-servers").getByRole("listitem").filter({ hasText: name });
  const nameOf = (url: string): string => `local-${new URL(url).port}`;

  async function show(): Promise<void> {
    await seen.page.locator("playground-servers").getByRole("button").first().click();
    await seen.page.getByRole("dialog", { name: "Servers" }).waitFor();
  }

  async function fill(address: string, token: string): Promise<void> {
    const form = seen.page.locator("playground-servers dialog form");
    await form.locator("[name=url]").fill(address);
    await form.locator("[name=token]").fill(token);
    await form.getByRole("button", { name: "Connect" }).click();
    await seen.page
      .locator("playground-tools")
      .getByRole("button", { name: /^report/ })
      .waitFor();
  }

  test("are connected again after a reload, at the tool that was shown", async () => {
    const { page } = seen;
    await connect(page, open().url);
    await page
      .locator("playground-tools")
      .getByRole("button", { name: /^report/ })
      .click();
    await waitForMemory(page);
    await page.reload();
    await page.locator("playground-tools").getByRole("heading", { name: "report", exact: true }).waitFor();
    await run(page, "report", { year: "2025" });
  });

  test("need a token and the end of their address again, which were never written", async () => {
    const { page } = seen;
    await show();
    await fill(guarded().url, TOKEN);
    await show();
    await fill(`${open().url}?key=${TOKEN}`, "");
    await waitForMemory(page);
    expect(await stored(page, "sluice-playground")).not.toContain(TOKEN);
    await page.reload();
    await firstResult(page).catch(() => undefined);
    const told = await notices(page);
    await told.getByText(`${nameOf(guarded().url)} needs its token again`).waitFor();
    await told.getByText(`${nameOf(open().url)}-2 needs its whole address again`).waitFor();
    await page.keyboard.press("Escape");
  });

  test("the form is filled in with what is known, and only the rest is typed", async () => {
    const { page } = seen;
    await show();
    await item(nameOf(guarded().url)).getByRole("button", { name: "Give its token" }).click();
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await tooWide(page)).toEqual([]);
    expect(await tooSmall(page)).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    const form = page.locator("playground-servers dialog form");
    expect(await form.locator("[name=url]").inputValue()).toBe(guarded().url);
    await page.keyboard.type(TOKEN);
    await page.keyboard.press("Enter");
    await page
      .locator("playground-tools")
      .getByRole("button", { name: /^report/ })
      .waitFor();
    await show();
    await item(nameOf(guarded().url))
      .getByText(/\d+ tools/)
      .waitFor();
    expect(await page.locator("playground-servers").getByRole("listitem").count()).toBe(4);
    await item(`${nameOf(open().url)}-2`)
      .getByRole("button", { name: "Leave" })
      .click();
    await expect.poll(() => page.locator("playground-servers").getByRole("listitem").count()).toBe(3);
    await page.getByRole("button", { name: "Close" }).click();
    const console401 = seen.complaints.filter((said) => !said.includes("401"));
    expect(console401).toEqual([]);
  });
});

describe("the end of a session", () => {
  const seen = visitor();

  test("shows the first screen with a sentence, without loading the page anew; nothing is left of it", async () => {
    const { page, context } = seen;
    const other = await context.newPage();
    await other.goto(SITE_URL);
    await firstResult(other);
    await ask(other, "Draw the chart, please");
    await other.locator("playground-turn").getByText("tokens").waitFor();
    await run(page, "export_csv");
    await ask(page, "Import the orders, which takes 60 seconds");
    await page.locator("playground-chat progress[value]").waitFor();
    await waitForMemory(page);
    for (const tab of [page, other]) await tab.evaluate(() => Object.assign(window, { isSame: true }));
    const ids = (await inView(page)).artifacts.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    const before = await stored(page, "sluice-session");
    for (const id of ids) expect(before).toContain(id);

    await endSession(page);
    for (const tab of [page, other]) {
      await tab.locator("p.answer").getByText("The session ended").waitFor();
      await firstResult(tab);
      expect(await tab.evaluate(() => (window as { isSame?: boolean }).isSame)).toBe(true);
      await expect.poll(() => calls(tab).count()).toBe(1);
    }
    expect(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.localName)).toBe("main");
    const after = await stored(page, "sluice-session");
    for (const id of ids) expect(after.includes(id)).toBe(false);
    const kept = await stored(page, "sluice-playground");
    expect(kept).not.toContain("Import the orders");
    expect(kept).not.toContain("export_csv");
    for (const tab of [page, other]) {
      await go(tab, "Chat");
      await tab.getByText("Ask about files that the model never sees").waitFor();
    }
    expect(seen.complaints).toEqual([]);
    await other.close();
  });

  test("what is done after it is remembered anew, and both tabs share the new session", async () => {
    const { page } = seen;
    await run(page, "export_csv");
    await waitForMemory(page);
    await page.reload();
    await go(page, "Try");
    await expect.poll(() => calls(page).count()).toBe(2);
    expect(await page.getByText("have expired").count()).toBe(0);
    expect(seen.complaints).toEqual([]);
  });
});

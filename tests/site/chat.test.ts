/** The chat: what the model wants called is called, and its bytes stay out of what the model sees. */
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { agree, logIn, serveAccounts } from "../package/tools/accounts.js";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { everything } from "./in-view.js";
import { serveModel } from "./model-server.js";
import { ask, connect, during, go, SITE_URL, visitor, reload } from "./visit.js";

describe("the chat", () => {
  const seen = visitor();

  /** The last turn, once it has ended. */
  async function answered(page: Page): Promise<Locator> {
    await page.locator("playground-chat").getByRole("button", { name: "Ask", exact: true }).waitFor();
    return page.locator("playground-turn").last();
  }

  /** What the model said last in it, once that is formatted. */
  async function said(turn: Locator): Promise<string> {
    const text = turn.locator("playground-text .formatted").last();
    await text.waitFor();
    return text.innerText();
  }

  describe("a question", () => {
    test("is answered without a network: tools are called at once, and what they give are cards", async () => {
      const { page } = seen;
      await ask(page, "Make the Q2 sales report and draw the chart");
      const turn = await answered(page);
      for (const tool of ["demo.sales_report", "demo.sales_chart"]) {
        const call = turn.getByRole("group", { name: `Call of ${tool}` });
        await call.getByText("is done").waitFor();
        await call.getByText(/^The model sees \d+ characters$/).waitFor();
        expect(await call.locator("sluice-artifact").count()).toBe(1);
      }
      expect(await turn.getByText('{"quarter":"Q2"}').count()).toBe(1);
      expect(await said(turn)).toMatch(/^sales_report\.pdf: PDF, 4\.0 MB, 3 pages.*\nsales_chart\.png: PNG image/);
      const heard = page.locator("playground-chat").getByRole("status").filter({ hasText: "PNG image, 960" });
      expect(await heard.textContent()).toMatch(/^\s*sales_report\.pdf: PDF, 4\.0 MB/);
      await turn.getByText(/^2 steps · 2 calls · [\d,]+ characters of results seen · 4\.\d MB kept out/).waitFor();
    });

    test("what the model saw at each step is told, and has no bytes in it", async () => {
      const { page } = seen;
      const turn = page.locator("playground-turn").last();
      await turn.getByRole("button", { name: "What the model saw" }).click();
      const steps = turn.locator("playground-trajectory").getByRole("listitem");
      expect(await steps.count()).toBe(2);
      await steps.first().getByText("The question").click();
      await steps.first().getByText("Make the Q2 sales report and draw the chart").waitFor();
      const results = await steps.last().locator("pre").allInnerTexts();
      expect(results).toHaveLength(2);
      expect(results.join("\n")).toMatch(/"artifact":\{"id":"demo_[0-9a-f]+","mime_type":"application\/pdf"/);
      expect(results.join("\n")).not.toMatch(/[A-Za-z0-9+/=]{200}/);
      const download = page.waitForEvent("download");
      await turn.getByRole("button", { name: "Download the trajectory" }).click();
      const trajectory = JSON.parse(await readFile(await (await download).path(), "utf8")) as {
        steps: { calls: { tool: string; observation: string }[] }[];
      };
      expect(trajectory.steps[0]?.calls.map(({ observation }) => observation)).toEqual(results);
    });

    test("a preview of what was stored opens beside it", async () => {
      const { page } = seen;
      const card = page.locator("playground-turn").last().locator("sluice-artifact").last();
      await card.getByRole("button", { name: /^Preview/ }).click();
      await page.locator("playground-drawer img").waitFor();
      await page.getByRole("button", { name: "Close the preview" }).click();
    });

    test("about the orders is answered by a query of the table that was stored", async () => {
      const { page } = seen;
      await ask(page, "Which region sold most?");
      const turn = page.locator("playground-turn").last();
      await turn.getByText(/^3 steps · 2 calls · [\d,]+ characters of results seen · 610\.0 KB kept out/).waitFor();
      await turn.getByText("comes first.").waitFor();
      await expect.poll(() => turn.getByRole("row").count()).toBe(6);
    });

    test("can make the model look inside of what was stored", async () => {
      const { page } = seen;
      await ask(page, "Export the orders as CSV and read the first rows");
      const turn = await answered(page);
      await turn.getByRole("group", { name: "Call of demo.artifact_read" }).getByText("is done").waitFor();
      expect(await said(turn)).toContain("order,date,region,product");
    });
  });

  describe("a call that takes long", () => {
    test("tells how far it is; it is cancelled alone, and the model goes on", async () => {
      const { page } = seen;
      await ask(page, "Import the orders, which takes 60 seconds");
      const call = page.getByRole("group", { name: "Call of demo.slow_import" });
      await call.getByText(/^[\d,]+ of 60,000 orders$/).waitFor();
      const bar = call.getByRole("progressbar", { name: "demo.slow_import" });
      expect(await bar.getAttribute("max")).toBe("60000");
      // Seconds that pass are shown, and not read aloud.
      expect(await call.getByRole("status").first().textContent()).toBe("demo.slow_import is running");
      expect(
        await page
          .locator("playground-rail")
          .getByRole("button", { name: /^Chat\s*, 1 running$/ })
          .count(),
      ).toBe(1);
      await call.getByRole("button", { name: "Cancel" }).click();
      const turn = await answered(page);
      await call.getByText("was cancelled").waitFor();
      expect(await said(turn)).toContain("The call was cancelled: go on without its result.");
    });

    test("stopping ends everything; somebody who looks elsewhere is told when it is over", async () => {
      const { page } = seen;
      await ask(page, "Import the orders, which takes 60 seconds");
      await page.getByRole("group", { name: "Call of demo.slow_import" }).last().getByRole("progressbar").waitFor();
      await page.locator("playground-chat").getByRole("button", { name: "Stop" }).click();
      await (await answered(page)).getByText("Stopped.", { exact: true }).waitFor();

      await ask(page, "Import the orders, which takes 2 seconds");
      await go(page, "Log");
      await page.getByRole("button", { name: "Notifications, 1 new" }).click();
      await page.locator("playground-notices").getByText("The chat has an answer.").waitFor();
      await page.keyboard.press("Escape");
      await go(page, "Chat");
      await (await answered(page)).getByText(/"imported": ?1995/).waitFor();
    });
  });

  test("a question of a server's pauses the run, which goes on with the answer", async () => {
    const { page } = seen;
    await ask(page, "Ask me something");
    const pause = page.getByRole("group", { name: "A call is waiting for you" });
    await pause.getByRole("textbox", { name: /^Answer/ }).waitFor();
    // Whoever only waits need not look for it.
    await expect.poll(() => pause.locator("input").evaluate((field) => field.matches(":focus"))).toBe(true);
    expect(
      await page
        .locator("playground-rail")
        .getByRole("button", { name: /^Chat\s*, 1 waiting for you$/ })
        .count(),
    ).toBe(1);
    await page.keyboard.type("North");
    const call = page.getByRole("group", { name: "Call of demo.asks" });
    await call.getByText("waits for you").waitFor();
    const question = page.getByRole("textbox", { name: "Your question" });
    const { y = Infinity, height = 0 } = (await question.boundingBox()) ?? {};
    expect(y + height).toBeLessThan(900);
    await pause.getByRole("button", { name: "Answer" }).click();
    const turn = await answered(page);
    expect(await said(turn)).toContain("The answer was: North");
    expect(await question.evaluate((element) => element.matches(":focus"))).toBe(true);
    expect(await pause.count()).toBe(0);
  });

  test("a call that fails says why; the model is told the same, and goes on", async () => {
    const { page } = seen;
    await ask(page, 'Call demo_fails {"message": "It is \u202eclosed"}');
    const turn = await answered(page);
    const call = turn.getByRole("group", { name: "Call of demo.fails" });
    await call.getByText("failed", { exact: true }).waitFor();
    expect(await call.innerText()).not.toContain("\u202e");
    await call.getByText(/"isError":true.*It is \ufffdclosed/).waitFor();
  });

  test("the guardrails hold for the chat too", async () => {
    const { page } = seen;
    await go(page, "Guardrails");
    const field = page.getByRole("textbox", { name: /^Show the model at most/ });
    const before = await field.inputValue();
    await field.fill("300");
    await field.press("Tab");
    await ask(page, "Show the table");
    const call = (await answered(page)).getByRole("group", { name: "Call of demo.sales_table" });
    const [, chars = ""] = /sees (\d+) characters/.exec(await call.innerText()) ?? [];
    expect(Number(chars)).toBeLessThanOrEqual(300);
    await go(page, "Guardrails");
    await field.fill(before);
    await field.press("Tab");
  });

  test("a new chat is empty", async () => {
    const { page } = seen;
    await go(page, "Chat");
    await page.locator("playground-chat").getByRole("button", { name: "New chat" }).click();
    expect(await page.locator("playground-turn").count()).toBe(0);
    await page.getByRole("button", { name: "Ask me something" }).waitFor();
  });

  test("nothing of it is complained of, or asked of any other origin", () => {
    expect(seen.complaints).toEqual([]);
    const { origin } = new URL(SITE_URL);
    expect(seen.requests.filter((url) => !url.startsWith(origin) && !url.startsWith("blob:"))).toEqual([]);
  });
});

/** A model of one's own in the chat: where it is, and what is kept of its key. */
describe("its model", () => {
  const KEY = "sk-of-nobody-else";

  const model = during(() =>
    serveModel(({ last }) => {
      if (last.content === "Say nothing.") return {};
      if (last.role !== "tool") return { calls: [{ name: "demo_small_talk", args: {} }] };
      return { text: "The shop is open." };
    }, KEY),
  );
  const seen = visitor();

  async function choose(page: Page, key: string, { isRemembered = false } = {}): Promise<void> {
    await go(page, "Chat");
    await page.locator("playground-chat").getByRole("button", { name: "Model", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Model" });
    await dialog.getByRole("radio", { name: /^A model of your own/ }).check();
    await dialog.getByRole("textbox", { name: "Address" }).fill(model().url);
    await dialog.getByRole("textbox", { name: "Model", exact: true }).fill("shop-1");
    await dialog.getByLabel(/^Key/).fill(key);
    await dialog.getByRole("checkbox", { name: /^Remember it/ }).setChecked(isRemembered);
    await dialog.getByRole("button", { name: "Use it" }).click();
    await dialog.waitFor({ state: "hidden" });
  }

  const remembered = (page: Page): Promise<string> => page.evaluate(() => JSON.stringify(Object.entries(localStorage)));

  test("an address that is none, and a model without a name, are refused with a reason", async () => {
    const { page } = seen;
    await go(page, "Chat");
    await page.locator("playground-chat").getByRole("button", { name: "Model", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Model" });
    await dialog.getByRole("radio", { name: /^A model of your own/ }).check();
    await dialog.getByRole("textbox", { name: "Address" }).fill("localhost:11434");
    await dialog.getByRole("button", { name: "Use it" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/must be an http or https URL/)
      .waitFor();
    await dialog.getByRole("textbox", { name: "Address" }).fill("http://localhost:11434/v1");
    await dialog.getByRole("button", { name: "Use it" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/Name the model/)
      .waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
  });

  test("a server that refuses the key is told of, without the key; the question can be asked again", async () => {
    const { page } = seen;
    await choose(page, "sk-wrong");
    await ask(page, "Is the shop open?");
    const alert = page.locator("playground-turn").getByRole("alert");
    await alert.getByText("E_LLM_AUTH").waitFor();
    expect(await alert.innerText()).not.toContain("sk-wrong");
    await alert.getByRole("button", { name: "Change the model" }).click();
    await page.getByRole("dialog", { name: "Model" }).getByRole("button", { name: "Cancel" }).click();
    await choose(page, KEY);
    await alert.getByRole("button", { name: "Ask again" }).click();
    await page.locator("playground-turn").last().getByText("The shop is open.").first().waitFor();
    expect(model().asked.at(-1)?.authorization).toBe(`Bearer ${KEY}`);
    await page.getByText(`Answered by shop-1 at ${new URL(model().url).host}`).waitFor();
  });

  test("the next question is asked with what was said before", async () => {
    const { page } = seen;
    await ask(page, "And tomorrow?");
    await page.locator("playground-turn").nth(2).getByText("The shop is open.").first().waitFor();
    const [system, user] = model().asked.at(-1)?.messages ?? [];
    expect(system?.content).toContain('{"query":"Is the shop open?","answer":"The shop is open."}');
    expect(user?.content).toBe("And tomorrow?");
  });

  test("a model that says nothing is told of", async () => {
    const { page } = seen;
    await ask(page, "Say nothing.");
    await page.locator("playground-turn").last().getByText("The model gave no answer.").waitFor();
  });

  test("the key is in memory alone, unless a person wants it remembered", async () => {
    const { page } = seen;
    expect(await remembered(page)).not.toContain(KEY);
    expect(await everything(page)).not.toContain(KEY);
    await reload(page);
    await go(page, "Chat");
    await page.getByText("Answered by the script, offline").waitFor();

    await choose(page, KEY, { isRemembered: true });
    expect(await remembered(page)).toContain(KEY);
    await reload(page);
    await ask(page, "Is it?");
    await page.locator("playground-turn").getByText("The shop is open.").first().waitFor();
    expect(await everything(page)).not.toContain(KEY);

    await choose(page, KEY);
    expect(await remembered(page)).not.toContain(KEY);
  });
});

/** A run of the chat that waits for a person's consent at a real authorization server, and goes on by itself. */
describe("signing in", () => {
  /** All that the server was ever given. */
  const tokens = new Set<string>();
  /** Those that it takes no more. */
  const revoked = new Set<string>();

  const accounts = during(serveAccounts);
  const server = during(() =>
    serveMcp({
      issuer: () => accounts().origin,
      owner: async (token) => {
        if (token !== "") tokens.add(token);
        return revoked.has(token) ? null : accounts().owner(token);
      },
    }),
  );
  const seen = visitor();

  /** Agrees in the window that is opened next. */
  async function consent(page: Page, { knows }: { readonly knows: boolean }): Promise<void> {
    const opening = seen.context.waitForEvent("page");
    await page.getByRole("button", { name: "Authorise" }).click();
    const window = await opening;
    const closing = window.waitForEvent("close");
    if (!knows) await logIn(window, "ada@example");
    // Where this was agreed to before nobody is asked, and the window closes by itself.
    await agree(window).catch(() => undefined);
    await closing;
  }

  const lastTurn = (page: Page): ReturnType<Page["locator"]> => page.locator("playground-turn").last();

  beforeAll(async () => {
    await accounts().open(`${SITE_URL}callback.html`, { refreshes: false });
    await seen.context.route(
      ({ hostname }) => !["localhost", "127.0.0.1"].includes(hostname),
      (route) => route.abort(),
    );
  });

  test("a tool of a server where a person is signed in is called without asking", async () => {
    const { page } = seen;
    const connecting = connect(page, server().url);
    await consent(page, { knows: false });
    await connecting;
    await ask(page, "Call whoami");
    await lastTurn(page)
      .getByText(/ada@example/)
      .first()
      .waitFor();
  });

  test("where consent is wanted anew the run pauses, and goes on once a person has agreed", async () => {
    const { page } = seen;
    for (const token of tokens) revoked.add(token);
    await ask(page, "Call whoami");
    const pause = page.getByRole("group", { name: "A call is waiting for you" });
    await pause.getByRole("button", { name: "Authorise" }).waitFor();
    await lastTurn(page).getByText("waits for you").waitFor();
    expect(await pause.getByRole("timer").innerText()).toMatch(/^(?:10:00|9:\d\d) left$/);
    await consent(page, { knows: true });
    await lastTurn(page)
      .getByText(/ada@example/)
      .first()
      .waitFor();
    expect(await pause.count()).toBe(0);
    await lastTurn(page)
      .getByText(/^2 steps · 1 call ·/)
      .waitFor();
  });

  test("a person who declines is not asked again: the model is told", async () => {
    const { page } = seen;
    for (const token of tokens) revoked.add(token);
    await ask(page, "Call whoami");
    const pause = page.getByRole("group", { name: "A call is waiting for you" });
    await pause.getByRole("button", { name: "Cancel" }).click();
    await lastTurn(page)
      .getByText(/did not give access/)
      .first()
      .waitFor();
    expect(await pause.count()).toBe(0);
  });

  test("no token is in the document, in what the model saw, or in what the page remembers", async () => {
    const { page } = seen;
    for (const button of await page.getByRole("button", { name: "What the model saw" }).all()) await button.click();
    const places = [await everything(page), await page.evaluate(() => JSON.stringify([Object.entries(localStorage)]))];
    await go(page, "Log");
    places.push(await everything(page));
    expect(tokens.size).toBeGreaterThan(1);
    for (const token of tokens) for (const place of places) expect(place.includes(token)).toBe(false);
  });
});

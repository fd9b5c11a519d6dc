/** A model of one's own in the chat: where it is, and what is kept of its key. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { everything } from "./in-view.js";
import { serveModel } from "./model-server.js";
import { ask, during, firstResult, go, visitor } from "./visit.js";

const KEY = "sk-of-nobody-else";

const model = during(() =>
  serveModel(({ messages }) => {
    if (messages.at(-1)?.content === "Say nothing.") return {};
    if (messages.at(-1)?.role !== "tool") return { calls: [{ name: "demo_small_talk", args: {} }] };
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
  await page.locator("playground-turn").last().getByText("The model said nothing.").waitFor();
});

test("the key is in memory alone, unless a person wants it remembered", async () => {
  const { page } = seen;
  expect(await remembered(page)).not.toContain(KEY);
  expect(await everything(page)).not.toContain(KEY);
  await page.reload();
  await firstResult(page);
  await go(page, "Chat");
  await page.getByText("Answered by the script, offline").waitFor();

  await choose(page, KEY, { isRemembered: true });
  expect(await remembered(page)).toContain(KEY);
  await page.reload();
  await firstResult(page);
  await ask(page, "Is it?");
  await page.locator("playground-turn").getByText("The shop is open.").first().waitFor();
  expect(await everything(page)).not.toContain(KEY);

  await choose(page, KEY);
  expect(await remembered(page)).not.toContain(KEY);
});

/** The chat of the playground of `sluice serve`: the server's model answers, and the run is the server's. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { served, serveModel } from "./model-server.js";
import { relay, serving, TOOLS } from "./serving.js";
import { ask, during, go, visit, type Visit } from "./visit.js";

const model = during(() => serveModel(served));
const server = during(() =>
  serving({
    sources: [TOOLS, { ...TOOLS, name: "desk", user_files: true }],
    model: { url: model().url, name: "scripted" },
  }),
);
let seen: Visit;

beforeEach(async () => {
  // Without the service worker, which would fetch the whole site for each of them.
  seen = await visit({ url: server().url, serviceWorkers: "block" });
  await go(seen.page, "Chat");
  await seen.page.getByText("Answered by this page's server").waitFor();
  return () => seen[Symbol.asyncDispose]();
});

const lastTurn = (page: Page): Locator => page.locator("playground-turn").last();

/** The last turn, once it has ended. */
async function answered(page: Page): Promise<Locator> {
  await page.locator("playground-chat").getByRole("button", { name: "Ask", exact: true }).waitFor();
  return lastTurn(page);
}

test("the server's tools are called, their bytes are the server's, and what the model saw is told", async () => {
  const { page } = seen;
  await ask(page, "Draw the picture");
  const turn = await answered(page);
  const call = turn.getByRole("group", { name: "Call of tools.picture" });
  await call.getByText("is done").waitFor();
  await call.getByText(/^The model sees \d+ characters$/).waitFor();
  await turn.getByText("The picture is drawn.").waitFor();
  await call.getByRole("button", { name: /^Preview/ }).click();
  const image = page.locator("playground-drawer img");
  await image.waitFor();
  expect(await image.getAttribute("src")).toMatch(new RegExp(`^${server().url}artifacts/tools_[0-9a-f]{12,}$`));
  expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(320);
  await page.getByRole("button", { name: "Close the preview" }).click();

  await turn.getByRole("button", { name: "What the model saw" }).click();
  const results = turn.locator("playground-trajectory").getByRole("listitem").last().locator("pre");
  expect(await results.allInnerTexts()).toEqual([expect.stringMatching(/"artifact":\{"id":"tools_[0-9a-f]+"/)]);
  await turn.getByText(/^2 steps · 1 call · \d+ characters of results seen/).waitFor();
  expect(seen.complaints).toEqual([]);
});

test("the next question is asked with what was said before", async () => {
  const { page } = seen;
  await ask(page, "Draw the picture");
  await answered(page);
  await ask(page, "Say something");
  await (await answered(page)).getByText("There is nothing to do.").waitFor();
  const [system] = model().asked.at(-1)?.messages ?? [];
  expect(system?.content).toContain('{"query":"Draw the picture","answer":"The picture is drawn."}');
});

test("a call is cancelled alone, and the model goes on; stopping gives up the run", async () => {
  const { page } = seen;
  await ask(page, `Wait for ${join(server().folder, "never")}`);
  const call = lastTurn(page).getByRole("group", { name: "Call of tools.slow" });
  await call.getByText(/^Looked \d+ times$/).waitFor();
  await call.getByRole("button", { name: "Cancel" }).click();
  const turn = await answered(page);
  await call.getByText("was cancelled").waitFor();
  await turn.getByText("The picture is drawn.").waitFor();

  await ask(page, `Wait for ${join(server().folder, "never")}`);
  await call.getByText(/^Looked \d+ times$/).waitFor();
  await page.locator("playground-chat").getByRole("button", { name: "Stop" }).click();
  await (await answered(page)).getByText("Stopped.", { exact: true }).waitFor();
});

test("a question of a tool's pauses the run, which goes on with the answer", async () => {
  const { page } = seen;
  await ask(page, "Ask me");
  const pause = page.getByRole("group", { name: "A call is waiting for you" });
  await pause.getByText("Who are you?").waitFor();
  await lastTurn(page).getByText("waits for you").waitFor();
  await pause.getByRole("textbox").fill("Ada");
  await pause.getByRole("button", { name: "Answer" }).click();
  const turn = await answered(page);
  await turn.getByRole("group", { name: "Call of tools.asks" }).getByText("is done").waitFor();
  await turn.getByRole("button", { name: "What the model saw" }).click();
  await turn
    .getByText(/Hello, Ada\./)
    .first()
    .waitFor();
  expect(await pause.count()).toBe(0);
});

test("a file that a tool makes is the user's at the server, and is opened beside the answer", async () => {
  const { page } = seen;
  await ask(page, "Make the report");
  const turn = await answered(page);
  const drawer = page.locator("playground-drawer");
  await drawer.getByText("In your files on this page's server").waitFor();
  await drawer.getByText("North").first().waitFor();
  const card = turn.getByRole("group", { name: "Call of desk.report" }).locator("sluice-artifact");
  await card.getByText("report.csv").waitFor();
  await page.getByRole("button", { name: "Close the preview" }).click();
  await page.getByRole("button", { name: "Notifications, 1 new" }).click();
  await page.locator("playground-notices").getByText("desk says: The report is made.").waitFor();
  await page.keyboard.press("Escape");
  await card.getByRole("button", { name: /^More actions/ }).click();
  await card.getByRole("menuitem", { name: "Save to My Files" }).click();
  await go(page, "My Files");
  await page.getByRole("button", { name: "Rename report.csv" }).waitFor();
  expect(seen.complaints).toEqual([]);
});

test("a connection that breaks is opened again, and nothing is missed or told twice", async () => {
  await using line = await relay(Number(new URL(server().url).port));
  await using other = await visit({ url: line.url });
  const { page } = other;
  const file = join(server().folder, "soon");
  await go(page, "Chat");
  await page.getByText("Answered by this page's server").waitFor();
  await ask(page, `Wait for ${file}`);
  const call = lastTurn(page).getByRole("group", { name: "Call of tools.slow" });
  await call.getByText(/^Looked \d+ times$/).waitFor();
  line.breakAll();
  await writeFile(file, "");
  const turn = await answered(page);
  expect(await turn.getByText("The picture is drawn.").count()).toBe(1);
  await call.getByText("is done").waitFor();
  expect(await call.locator("sluice-artifact").count()).toBe(1);
  expect(line.breaks).toBeGreaterThan(0);
  await rm(file);
});

test("another model can be chosen, which is asked by the page", async () => {
  const { page } = seen;
  await page.locator("playground-chat").getByRole("button", { name: "Model", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Model" });
  expect(await dialog.getByRole("radio", { name: /^This page's server/ }).isChecked()).toBe(true);
  await dialog.getByRole("radio", { name: /^The script/ }).check();
  await dialog.getByRole("button", { name: "Use it" }).click();
  await page.getByText("Answered by the script, offline").waitFor();
  await page
    .locator("playground-servers")
    .getByRole("button", { name: /^tools/ })
    .waitFor();
  const before = model().asked.length;
  await ask(page, "Call tools_picture");
  await lastTurn(page).getByRole("group", { name: "Call of tools.picture" }).getByText("is done").waitFor();
  expect(model().asked.length).toBe(before);
});

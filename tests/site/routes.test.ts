/** What the page shows is in its address: links, Back, and results that a link carries. */
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { serveMcp } from "../package/tools/mcp-serving.js";
import {
  act,
  command,
  connect,
  copyLink,
  during,
  firstResult,
  go,
  pick,
  run,
  SITE_URL,
  visit,
  visitor,
  waitForMemory,
} from "./visit.js";

const seen = visitor({ permissions: ["clipboard-read", "clipboard-write"] });
const hash = (): string => new URL(seen.page.url()).hash;

test("a call is in the address, and so is a view", async () => {
  await seen.page.waitForURL(/#\/try\/run\/demo\.sales_report\?quarter=Q3$/);
  await go(seen.page, "Log");
  await seen.page.waitForURL(/#\/log$/);
  await seen.page.goBack();
  await seen.page.waitForURL(/#\/try\/run\//);
  await seen.page.locator("playground-try").waitFor();
});

test("all elements have an address, which the palette leads to, and tell what is done to them", async () => {
  const { page } = seen;
  await command(page, "Elements");
  await page.waitForURL(/#\/elements$/);
  const view = page.locator("playground-elements");
  await view
    .locator("sluice-artifact")
    .first()
    .getByRole("button", { name: /^Preview/ })
    .click();
  await view.getByText("sluice-preview: sales_chart.png").waitFor();
  await view.getByRole("tab", { name: "Viewer" }).click();
  await view.locator("sluice-viewer").getByText("SO-100001").waitFor();
  await page.goBack();
  await page.locator("playground-try").waitFor();
});

test("Back closes the drawer, then goes to the last view", async () => {
  const { page } = seen;
  await run(page, "sales_chart");
  await act(page.locator("playground-tools sluice-artifact").first(), "Preview");
  await page.locator("playground-drawer").waitFor();
  await page.waitForURL(/\?\.artifact=session%3A/);
  await page.goBack();
  await page.locator("playground-drawer").waitFor({ state: "detached" });
  expect(hash()).toBe("#/tools/demo.sales_chart");
  await page.goBack();
  await page.locator("playground-try").waitFor();
});

test("a drawer that was closed does not come back with Back", async () => {
  const { page } = seen;
  await act(page.locator("playground-try sluice-artifact").first(), "Preview");
  await page.waitForURL(/[?&]\.artifact=/);
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.hash.includes("artifact"));
  await go(page, "Log");
  await page.waitForURL(/#\/log$/);
  await page.goBack();
  await page.locator("playground-try").waitFor();
  expect(await page.locator("playground-drawer").count()).toBe(0);
});

test("a resource that is open is in the address; Back closes it, and its link opens it", async () => {
  const { page } = seen;
  await go(page, "Resources");
  const list = page.locator("sluice-resources");
  await list.getByRole("button", { name: /^Today's note/ }).click();
  await page.waitForURL(/#\/resources\/demo\?uri=note/);
  const link = page.url();
  await list.getByRole("button", { name: /^Live metrics/ }).click();
  await page.waitForURL(/\?uri=metrics/);
  const work = (name: RegExp): Locator => list.getByRole("region", { name });
  await work(/^Live metrics/).waitFor();
  await page.goBack();
  await work(/^Today's note/).waitFor();
  expect(page.url()).toBe(link);
  await page.goBack();
  await list.getByText("Choose a resource to read it.").waitFor();
  expect(hash()).toBe("#/resources/demo");

  await using other = await visit({ url: link, waits: false });
  await other.page.locator("sluice-resources section.work").getByText("Fair at the lake").waitFor();
  // A template has one, too.
  await other.page.getByRole("tab", { name: "Templates" }).click();
  await other.page
    .locator("sluice-resources")
    .getByRole("button", { name: /^A region's sales/ })
    .click();
  await other.page.waitForURL(/\?uri=table/);
  await other.page.reload();
  await other.page.locator("sluice-resources").getByRole("combobox", { name: "year" }).waitFor();
  expect(other.complaints).toEqual([]);
});

test("a small result goes with its link, to somebody who has never been here", async () => {
  const { page } = seen;
  await pick(page, "small.json", JSON.stringify({ content: [{ type: "text", text: "A small result." }] }));
  const link = await copyLink(page, "small.json");
  expect(link).toContain("#/try/result/");
  await using other = await visit({ url: link, waits: false });
  await other.page.locator("playground-try").getByRole("heading", { name: "small.json", exact: true }).waitFor();
  await other.page.locator("sluice-result-model").getByText("A small result.").waitFor();
  expect(other.complaints).toEqual([]);
});

test("a call of the demo has a short link, which makes it again elsewhere", async () => {
  const { page } = seen;
  await run(page, "sales_table", { rows: "30" });
  await go(page, "Try");
  const link = await copyLink(page, "demo.sales_table");
  expect(new URL(link).hash).toBe("#/try/run/demo.sales_table?rows=30");
  await using other = await visit({ url: link, waits: false });
  await other.page.getByRole("heading", { name: "demo.sales_table", exact: true }).waitFor();
  const shown = other.page.locator("playground-try sluice-meter");
  await shown.waitFor();
  expect(await shown.getByRole("heading").innerText()).toBe(
    await page.locator("playground-try sluice-meter").getByRole("heading").innerText(),
  );
  // Nothing else has run beside it, and a reload shows the same call instead of another one.
  const calls = other.page.getByRole("complementary", { name: "Calls" }).getByRole("listitem");
  expect(await calls.count()).toBe(1);
  await waitForMemory(other.page);
  await other.page.reload();
  await shown.waitFor();
  expect(await calls.count()).toBe(1);
  expect(other.complaints).toEqual([]);
});

describe("an address for a tool of a server of one's own", () => {
  const server = during(() => serveMcp());

  test("fills in the call, which waits for its button", async () => {
    await using other = await visit();
    const { page } = other;
    await connect(page, server().url);
    const { port } = new URL(server().url);
    for (const view of ["try/run", "tools"]) {
      await page.goto(`${SITE_URL}#/${view}/local-${port}.write?text=by%20a%20link`);
      await page.locator("p.answer").getByText("Look at it, then run it yourself.").waitFor();
      await page.locator("playground-tools").getByRole("heading", { name: "write", exact: true }).waitFor();
      await page.waitForTimeout(500);
      expect(server().world.note).toBe("nothing yet");
    }
    await page.locator("playground-tools").getByRole("button", { name: "Run", exact: true }).click();
    await expect.poll(() => server().world.note).not.toBe("nothing yet");
  });
});

test("a large result of another server has no link, and is downloaded", async () => {
  const { page } = seen;
  await pick(
    page,
    "large.bin",
    new Uint8Array(2_000_000).map((_, at) => (at * 7919) % 251),
  );
  await page.getByRole("button", { name: "Share large.bin" }).click();
  await page.getByRole("menuitem", { name: "Download the result" }).waitFor();
  expect(await page.getByRole("menuitem", { name: "Copy link" }).count()).toBe(0);
  await page.keyboard.press("Escape");
});

test("guardrails are in the address beside their result, and hold where it is opened", async () => {
  const { page } = seen;
  await run(page, "sales_table", { rows: "30" });
  await go(page, "Guardrails");
  const field = page.getByRole("textbox", { name: /^Store strings longer than/ });
  await field.fill("300");
  await field.press("Tab");
  await page.waitForURL(/#\/guardrails\/run\/demo\.sales_table\?rows=30&\.config=/);
  const said = (view: Page): Promise<string> =>
    view
      .locator("playground-guardrails")
      .getByRole("heading", { name: /^Your model reads/ })
      .innerText();
  await using other = await visit({ url: page.url(), waits: false });
  await expect.poll(() => said(other.page)).toBe(await said(page));
  expect(await other.page.getByRole("textbox", { name: /^Store strings longer than/ }).inputValue()).toBe("300");
  // The visitor's own are those that this browser remembers.
  expect(await other.page.evaluate(() => localStorage.getItem("sluice.config"))).toBeNull();
  expect(other.complaints).toEqual([]);
  await field.fill("");
  await page
    .locator("playground-guardrails")
    .getByRole("button", { name: /^Reset/ })
    .first()
    .click();
});

test("a question of the chat waits in its field", async () => {
  await using other = await visit({ url: `${SITE_URL}#/chat?question=Draw%20the%20chart`, waits: false });
  const field = other.page.getByRole("textbox", { name: "Your question" });
  await expect.poll(() => field.inputValue()).toBe("Draw the chart");
  expect(await other.page.locator("playground-turn").count()).toBe(0);
  await other.page.locator("playground-chat").getByRole("button", { name: "Ask", exact: true }).click();
  await other.page.locator("playground-turn").getByText("Draw the chart").waitFor();
  expect(new URL(other.page.url()).hash).toBe("#/chat");
});

test("a result is a file, named after its tool", async () => {
  await run(seen.page, "sales_chart");
  const downloading = seen.page.waitForEvent("download");
  await seen.page.getByRole("button", { name: "Share demo.sales_chart" }).click();
  await seen.page.getByRole("menuitem", { name: "Download the result" }).click();
  expect((await downloading).suggestedFilename()).toBe("demo.sales_chart.json");
});

test("Ctrl+Enter runs a tool that was chosen in the palette", async () => {
  const { page } = seen;
  await command(page, "demo.export_csv");
  await page.waitForURL(/#\/tools\/demo\.export_csv$/);
  await page.keyboard.press("Control+Enter");
  await page.locator("playground-tools playground-call").getByRole("heading", { name: "demo.export_csv" }).waitFor();
});

test.each([
  ["#/tools/demo.nothing", "playground-tools", "demo has no tool named demo.nothing."],
  ["#/resources/elsewhere", "playground-resources", "elsewhere is not connected here"],
  ["#/resources/demo?uri=note%3A%2F%2Fnone", "playground-resources", "demo does not list the resource in this address"],
  ["#/files?artifact=served:none", "playground-files", "has expired or was deleted"],
  ["#/try/call/none", "playground-try", "is not in this browser any more"],
  ["#/try/run/elsewhere.erase?all=true", "playground-try", "elsewhere is not connected here"],
  ["#/guardrails?.config=%7B%22l1%22%3A1%7D", "playground-guardrails", "The guardrails in this address do not hold"],
  ["#/try/result/!!", "playground-try", "The result in this address is damaged"],
  ["#/chat?artifact=session:none", "playground-chat", "has expired or was deleted"],
])("%s shows its view, and says what is gone", async (address, view, sentence) => {
  await using other = await visit({ url: SITE_URL + address, waits: false });
  await other.page.locator(view).waitFor({ state: "attached" });
  await other.page.locator("p.answer").getByText(sentence).waitFor();
  if (view === "playground-try") await firstResult(other.page);
  expect(other.complaints).toEqual([]);
});

test("nothing of it is complained of", () => {
  expect(seen.complaints).toEqual([]);
});

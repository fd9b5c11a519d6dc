/** What the page shows is in its address: links, Back, and results that a link carries. */
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { act, command, copyLink, firstResult, go, pick, run, SITE_URL, visit, visitor } from "./visit.js";

const seen = visitor({ permissions: ["clipboard-read", "clipboard-write"] });
const hash = (): string => new URL(seen.page.url()).hash;

test("a call is in the address, and so is a view", async () => {
  await seen.page.waitForURL(/#\/try\/call\/[\w-]{36}$/);
  await go(seen.page, "Log");
  await seen.page.waitForURL(/#\/log$/);
  await seen.page.goBack();
  await seen.page.waitForURL(/#\/try\/call\//);
  await seen.page.locator("playground-try").waitFor();
});

test("Back closes the drawer, then goes to the last view", async () => {
  const { page } = seen;
  await run(page, "sales_chart");
  await act(page.locator("playground-tools sluice-artifact").first(), "Preview");
  await page.locator("playground-drawer").waitFor();
  await page.waitForURL(/\?artifact=session%3A/);
  await page.goBack();
  await page.locator("playground-drawer").waitFor({ state: "detached" });
  expect(hash()).toBe("#/tools/demo.sales_chart");
  await page.goBack();
  await page.locator("playground-try").waitFor();
});

test("a drawer that was closed does not come back with Back", async () => {
  const { page } = seen;
  await act(page.locator("playground-try sluice-artifact").first(), "Preview");
  await page.waitForURL(/\?artifact=/);
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

test("a result is a file, named after its tool", async () => {
  await run(seen.page, "sales_chart");
  const downloading = seen.page.waitForEvent("download");
  await seen.page.getByRole("button", { name: "Share demo.sales_chart" }).click();
  await seen.page.getByRole("menuitem", { name: "Download result" }).click();
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

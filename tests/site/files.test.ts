/** My Files: saving, renaming, deleting, all of them as a ZIP, and how much room there is. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { crc32, inflateRawSync } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { PATIENCE, act, controlled, go, run, visitor } from "./visit.js";

const SOON = { timeout: PATIENCE };
const NOTES = "Call the warehouse about the tents.\n";

const seen = visitor();
/** SHA-256 of what was saved, by name. */
const saved = new Map<string, string>();

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
const files = (page: Page): Locator => page.locator("playground-files");
const names = (page: Page): Promise<string[]> =>
  files(page)
    .getByRole("button", { name: /^Rename / })
    .evaluateAll((buttons) => buttons.map((button) => String(button.ariaLabel).replace("Rename ", "")));

beforeAll(() => controlled(seen.page));

/** Runs a tool, keeps the file that it gives, and notes what its original is. */
async function save(page: Page, tool: string, type: string): Promise<void> {
  await run(page, tool);
  const card = page.locator("playground-tools sluice-artifact").filter({ hasText: type }).first();
  await card.waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), act(card, "Download original")]);
  saved.set(download.suggestedFilename(), sha256(await readFile(await download.path())));
  await act(card, "Save to My Files");
  const count = new RegExp(`^My Files ?, ${saved.size} files?`);
  await page.locator("playground-rail").getByRole("button", { name: count }).waitFor();
}

test("before anything is kept, one sentence and one button say what to do", async () => {
  const { page } = seen;
  await go(page, "My Files");
  await files(page).getByText("You have not kept anything yet").waitFor();
  await files(page).getByRole("button", { name: "Find something to keep" }).click();
  await page.locator("playground-try").waitFor();
});

test("what is saved from results is listed, the newest first, and stays when the page is loaded anew", async () => {
  const { page } = seen;
  await save(page, "sales_chart", "image/png");
  await save(page, "export_csv", "text/csv");
  await go(page, "My Files");
  await expect.poll(() => names(page), SOON).toEqual([...saved.keys()].toReversed());
  await page.reload();
  await go(page, "My Files");
  await expect.poll(() => names(page), SOON).toEqual([...saved.keys()].toReversed());
});

test("files of one's own are added as they are", async () => {
  const { page } = seen;
  const file = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from(NOTES) };
  await files(page).locator("input[type=file]").setInputFiles(file);
  saved.set("notes.txt", sha256(NOTES));
  await expect.poll(() => names(page), SOON).toContain("notes.txt");
});

test("a file gets another name", async () => {
  const { page } = seen;
  await files(page).getByRole("button", { name: "Rename notes.txt" }).click();
  const field = files(page).getByRole("textbox", { name: "New name" });
  expect(await field.inputValue()).toBe("notes.txt");
  await field.fill("to do.txt");
  await field.press("Enter");
  await expect.poll(() => names(page), SOON).toContain("to do.txt");
  expect(await names(page)).not.toContain("notes.txt");
  saved.delete("notes.txt");
  saved.set("to do.txt", sha256(NOTES));
});

test("all of them come as a ZIP: their names, and every byte", async () => {
  const { page } = seen;
  const link = files(page).getByRole("link", { name: "Download all as a ZIP" });
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  expect(download.suggestedFilename()).toBe("my-files.zip");
  const entries = unzipped(await readFile(await download.path()));
  expect(new Map([...entries].map(([name, bytes]) => [name, sha256(bytes)]))).toEqual(saved);
});

test("the room that is used is said, and is shown as a meter", async () => {
  const { page } = seen;
  await files(page)
    .getByText(/^[\d.,]+ [KM]B of [\d.,]+ [MGT]B used$/)
    .waitFor();
  const meter = files(page).getByRole("meter", { name: "Storage used" });
  const { value, max } = await meter.evaluate((element) => {
    const { value: filled, max: whole } = element as HTMLMeterElement;
    return { value: filled, max: whole };
  });
  expect(value).toBeGreaterThan(0);
  expect(value).toBeLessThan(max);
});

test("a file that is deleted is gone, and its address opens nothing", async () => {
  const { page } = seen;
  const card = files(page).locator("sluice-artifact").filter({ hasText: "to do.txt" });
  const address = await card
    .getByRole("link", { name: /^Download original/ })
    .evaluate((link) => (link as HTMLAnchorElement).href);
  const status = (): Promise<number> => page.evaluate(async (url) => (await fetch(url)).status, address);
  expect(await status()).toBe(200);
  await act(card, "Delete");
  await card.getByRole("button", { name: "Yes" }).click();
  await expect.poll(() => names(page), SOON).not.toContain("to do.txt");
  expect(await names(page)).toHaveLength(saved.size - 1);
  expect(await status()).toBe(410);
});

test("nothing of it is complained of", () => {
  // What the browser says of the address that opens nothing.
  expect(seen.complaints.filter((text) => !text.includes("status of 410"))).toEqual([]);
});

const [LOCAL, CENTRAL, END] = [0x04034b50, 0x02014b50, 0x06054b50];

/** What is in a ZIP (APPNOTE 4.3), checked against its own sums. */
function unzipped(zip: Buffer): Map<string, Buffer> {
  const entries = new Map<string, Buffer>();
  const end = zip.lastIndexOf(Buffer.from(new Uint32Array([END]).buffer));
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    expect(zip.readUInt32LE(at)).toBe(CENTRAL);
    const [method, sum, size] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 16), zip.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const local = zip.readUInt32LE(at + 42);
    expect(zip.readUInt32LE(local)).toBe(LOCAL);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const bytes = zip.subarray(start, start + size);
    const whole = method === 0 ? bytes : inflateRawSync(bytes);
    expect(crc32(whole)).toBe(sum);
    entries.set(zip.toString("utf8", at + 46, at + 46 + name), whole);
    at += 46 + name + extra + comment;
  }
  return entries;
}

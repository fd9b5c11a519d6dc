/** My Files: saving, renaming, deleting, all of them as a ZIP, and how much room there is. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { crc32, inflateRawSync } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { serveFiles } from "./file-server.js";
import {
  act,
  ask,
  begin,
  connect,
  connectFiles,
  controlled,
  during,
  go,
  openFile,
  PATIENCE,
  run,
  visitor,
  exactly,
} from "./visit.js";

describe("files", () => {
  const SOON = { timeout: PATIENCE };
  const NOTES = "Call the warehouse about the tents.\n";

  const seen = visitor();
  /** SHA-256 of what was saved, by name. */
  const saved = new Map<string, string>();

  const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
  const files = (page: Page): Locator => page.locator("playground-files");
  const names = (page: Page): Promise<string[]> => files(page).locator(".file .name").allTextContents();

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
    await files(page).getByText("You have no files yet").waitFor();
    await files(page).getByRole("button", { name: "Run a tool" }).click();
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
    await openFile(page, "notes.txt");
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
      .getByText(/^This page uses [\d.,]+ [KM]B of [\d.,]+ [MGT]B$/)
      .waitFor();
    const meter = files(page).locator("meter");
    const { value, max } = await meter.evaluate((element) => {
      const { value: filled, max: whole } = element as HTMLMeterElement;
      return { value: filled, max: whole };
    });
    expect(value).toBeGreaterThan(0);
    expect(value).toBeLessThan(max);
  });

  test("a file that is deleted is gone, and its address opens nothing", async () => {
    const { page } = seen;
    await openFile(page, "to do.txt");
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
});

/** Tools that take and make users' files: arguments, My Files, the viewer, and what a model is told. */
describe("a person's files", () => {
  const SOON = { timeout: PATIENCE };
  const TABLE = `id,name\n${Array.from({ length: 40 }, (_, row) => `${row},n${row}\n`).join("")}`;

  const server = during(serveFiles);
  const seen = visitor();

  const tools = (page: Page): Locator => page.locator("playground-tools");
  const files = (page: Page): Locator => page.locator("playground-files");
  const drawer = (page: Page): Locator => page.locator("playground-drawer");
  const open = (page: Page): Locator => drawer(page).locator("sluice-viewer");
  const turn = (page: Page): Locator => page.locator("playground-turn").last();
  const item = (page: Page, name: string): Locator => files(page).locator(".file").filter({ hasText: name });
  const work = (page: Page, name: string): Locator => files(page).getByRole("region", { name });
  const choice = (page: Page): Locator => tools(page).getByRole("combobox", { name: /: My Files$/ });

  /** What the model sees of the call in view. */
  async function observed(page: Page): Promise<unknown> {
    return JSON.parse((await exactly(tools(page))) ?? "");
  }

  async function add(page: Page, name: string, mimeType: string, text: string): Promise<void> {
    await go(page, "My Files");
    const file = { name, mimeType, buffer: Buffer.from(text) };
    await files(page).locator("input[type=file]").setInputFiles(file);
    await item(page, name).waitFor();
  }

  async function close(page: Page): Promise<void> {
    const button = page.getByRole("button", { name: "Close the preview" });
    if ((await button.count()) > 0) await button.click();
  }

  beforeAll(async () => {
    const { page } = seen;
    await controlled(page);
    await add(page, "table.csv", "text/csv", TABLE);
    await add(page, "notes.txt", "text/plain", "Call the warehouse.\n");
    await connectFiles(page);
  });

  describe("a tool that takes files", () => {
    test("is given those that are chosen, by the name alone", async () => {
      const { page } = seen;
      await begin(page, "stay_silent", { seconds: "1" });
      await tools(page)
        .getByRole("button", { name: /^summarize_file/ })
        .click();
      await choice(page).selectOption("table.csv");
      expect(await tools(page).locator("[name=filename]").inputValue()).toBe("table.csv");
      await run(page, "summarize_file", { filename: "table.csv" });
      const results = { type: "text/csv", bytes: TABLE.length, rows: 40, columns: ["id", "name"] };
      expect(await observed(page)).toEqual({ results });
    });

    test("is given several, chosen one after the other", async () => {
      const { page } = seen;
      await tools(page)
        .getByRole("button", { name: /^join_files/ })
        .click();
      for (const name of ["notes.txt", "table.csv"]) await choice(page).selectOption(name);
      expect(await tools(page).locator("[name=filenames]").inputValue()).toBe("notes.txt\ntable.csv");
      await tools(page).getByRole("button", { name: "Run", exact: true }).click();
      await tools(page).getByText("files says: joined.txt is in My Files.").waitFor();
      await tools(page).getByText("Filed under dataset").waitFor();
    });

    test("is not called with a name that there is not: the closest ones are told", async () => {
      const { page } = seen;
      await run(page, "summarize_file", { filename: "tabel.csv" });
      expect(await observed(page)).toMatchObject({
        meta_data: {
          error_code: "E_NOT_FOUND",
          details: { closest: expect.arrayContaining(["table.csv"]) as string[] },
        },
      });
    });

    test("that tells of a path is refused, since a page has no folder", async () => {
      const { page } = seen;
      await run(page, "draft_letter");
      expect(await observed(page)).toMatchObject({ meta_data: { error_code: "E_INVALID_PATH" } });
    });
  });

  describe("My Files", () => {
    test("says where each file comes from, what it is filed under, and what it tells of itself", async () => {
      const { page } = seen;
      await go(page, "My Files");
      await expect.poll(() => item(page, "table.csv").innerText(), SOON).toMatch(/uploaded on .+ · 40 rows/);
      await expect.poll(() => item(page, "joined.txt").innerText(), SOON).toMatch(/generated on/);
      await openFile(page, "joined.txt");
      await expect.poll(() => work(page, "joined.txt").innerText(), SOON).toMatch(/2 files, joined[^]*dataset/);
    });

    test("keeps what was there before as a version, which is opened", async () => {
      const { page } = seen;
      await add(page, "notes.txt", "text/plain", "It was called.\n");
      await expect.poll(() => item(page, "notes.txt").innerText(), SOON).toContain("2 versions");
      await openFile(page, "notes.txt");
      await work(page, "notes.txt").getByRole("button", { name: "Versions of notes.txt" }).click();
      const versions = work(page, "notes.txt").locator("playground-versions li");
      await expect.poll(() => versions.count(), SOON).toBe(2);
      await versions
        .nth(1)
        .getByRole("button", { name: /^Preview/ })
        .click();
      await drawer(page).getByText("Call the warehouse.").waitFor();
      await close(page);
    });

    test("is narrowed by origin, category and words", async () => {
      const { page } = seen;
      const shown = (): Promise<number> => files(page).locator(".file").count();
      expect(await shown()).toBe(3);
      await files(page).getByRole("combobox", { name: "Category" }).selectOption("dataset");
      await expect.poll(shown, SOON).toBe(1);
      await files(page).getByRole("combobox", { name: "Category" }).selectOption("");
      await files(page).getByRole("combobox", { name: "Origin" }).selectOption("uploaded");
      await expect.poll(shown, SOON).toBe(2);
      await files(page).getByRole("searchbox").fill("table");
      await expect.poll(shown, SOON).toBe(1);
      await files(page).getByRole("searchbox").fill("");
      await files(page).getByRole("combobox", { name: "Origin" }).selectOption("");
      await expect.poll(shown, SOON).toBe(3);
    });

    test("gives no name twice", async () => {
      const { page } = seen;
      await openFile(page, "notes.txt");
      await files(page).getByRole("button", { name: "Rename notes.txt" }).click();
      await files(page).getByRole("textbox", { name: "New name" }).fill("table.csv");
      await files(page).getByRole("textbox", { name: "New name" }).press("Enter");
      await page.getByRole("status").getByText('There is already a file "table.csv"').waitFor();
    });
  });

  /** Makes a report, and waits until it is open. */
  async function report(title: string, mode: string): Promise<void> {
    const { page } = seen;
    await run(page, "make_report", { title, mode });
    await drawer(page)
      .getByRole("tablist", { name: new RegExp(title.toLowerCase()) })
      .waitFor();
  }

  describe("the viewer", () => {
    test("shows a report beside its result, half and half, and leaves the focus where it is", async () => {
      const { page } = seen;
      await report("First", "split");
      const [half, main] = await Promise.all([drawer(page).boundingBox(), page.locator("main").boundingBox()]);
      expect(Math.abs((half?.width ?? 0) - (main?.width ?? 0))).toBeLessThan(40);
      expect(await drawer(page).evaluate((element) => element.matches(":focus-within"))).toBe(false);
      const frame = open(page).locator("iframe").contentFrame();
      await frame.getByText("written for visitor").waitFor();
    });

    test("shows another one behind it, or in its place", async () => {
      await report("Second", "append");
      const { page } = seen;
      await expect.poll(() => open(page).count(), SOON).toBe(2);
      await page.getByRole("button", { name: "Close first.html" }).click();
      await expect.poll(() => open(page).count(), SOON).toBe(1);
      await report("Third", "append");
      await report("Fourth", "replace");
      await expect.poll(() => open(page).count(), SOON).toBe(1);
      await close(page);
    });

    test("is told of what is stored by the notices, as plain text", async () => {
      const { page } = seen;
      await page.getByRole("button", { name: /^Notifications/ }).click();
      await page
        .locator("playground-notices")
        .getByText("files says: The report fourth.html is in My Files.")
        .waitFor();
      await page.keyboard.press("Escape");
    });
  });

  describe("a server of another origin that works with my files", () => {
    beforeAll(() => connect(seen.page, server().url, true));

    test("is given bytes in the place of names, and who asks", async () => {
      const { page } = seen;
      await run(page, "given", { filename: "notes.txt", filenames: "notes.txt" });
      const notes = `data:text/plain;base64,${Buffer.from("It was called.\n").toString("base64")}`;
      expect(await observed(page)).toEqual({ results: { filename: notes, filenames: [notes], username: "visitor" } });
    });

    test("says how its file is to be shown", async () => {
      const { page } = seen;
      await run(page, "as_code");
      await drawer(page).getByText("<h1>Page</h1>").waitFor();
      expect(await drawer(page).locator("iframe").count()).toBe(0);
      await close(page);
    });

    test("has what is temporary shown, and not kept", async () => {
      const { page } = seen;
      await run(page, "passing");
      await drawer(page).getByText("for a moment").waitFor();
      await drawer(page).getByText("Stored in this session").waitFor();
      await close(page);
      await go(page, "My Files");
      await item(page, "table.csv").waitFor();
      expect(await item(page, "passing.txt").count()).toBe(0);
    });
  });

  describe("the chat", () => {
    test("tells the model which files there are, as the person sees it did", async () => {
      const { page } = seen;
      await ask(page, "Summarize table.csv");
      await turn(page).getByText("That is all I saw").first().waitFor();
      await turn(page).getByRole("button", { name: "What the model saw" }).click();
      const said = turn(page).locator("playground-trajectory pre");
      await expect
        .poll(() => said.allTextContents(), SOON)
        .toContainEqual(
          expect.stringMatching(
            /^Summarize table\.csv\n\n\[SYSTEM: Available files in current session:\n[^]*\n- table\.csv \(uploaded \d{4}-\d\d-\d\d, [\d.]+B, 40 rows\)\n[^]*End available files\]$/,
          ) as string,
        );
      await expect.poll(async () => (await said.allTextContents()).join("\n"), SOON).toContain('"rows":40');
    });

    test("opens what a tool displays, beside the answer", async () => {
      const { page } = seen;
      await ask(page, "Show the revenue of all regions beside the answer");
      await drawer(page).locator("iframe").contentFrame().getByRole("heading", { name: "Revenue by region" }).waitFor();
      await turn(page).getByText("That is all I saw").first().waitFor();
      await close(page);
    });
  });

  test("a file that a tool made is had again from its card in the result", async () => {
    const { page } = seen;
    await page.locator("playground-servers").getByRole("button").first().click();
    const dialog = page.getByRole("dialog", { name: "Servers" });
    await dialog
      .locator("li")
      .filter({ hasText: /^\s*files/ })
      .getByRole("button", { name: "Show" })
      .click();
    await run(page, "make_report", { title: "Again", mode: "replace" });
    const card = tools(page).locator("sluice-artifact").filter({ hasText: "again.html" }).first();
    const [download] = await Promise.all([page.waitForEvent("download"), act(card, "Download original")]);
    expect(download.suggestedFilename()).toBe("again.html");
  });

  test("nothing of it is complained of", () => expect(seen.complaints).toEqual([]));
});

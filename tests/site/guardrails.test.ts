/** What somebody changes of the guardrails decides at once, or is refused with a reason (check 13). */
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { SluiceConfig } from "../../dist/index.js";
import { gated, inView } from "./in-view.js";
import { firstResult, go, run, visitor, exactly } from "./visit.js";

const seen = visitor();
let view: Locator;

beforeAll(async () => {
  view = seen.page.locator("playground-guardrails");
  await run(seen.page, "source_code");
  await go(seen.page, "Guardrails");
});
beforeEach(async () => {
  await write("{}");
  // What held before is said to hold until this does.
  const wanted = await expected(seen.page, {});
  await vi.waitUntil(async () => (await modelSide()) === wanted, { timeout: 20_000 });
  await view.getByText("The configuration is valid.").waitFor();
});

const editor = (): Locator => view.getByRole("textbox", { name: "Configuration as JSON" });
const problem = (): Locator => view.getByRole("region", { name: "JSON" }).getByRole("alert");
const modelSide = (): Promise<string | null> => exactly(view);
const write = (text: string): Promise<void> => editor().fill(text);

/** What is written in the editor. */
async function written(): Promise<unknown> {
  return JSON.parse(await editor().innerText());
}

/** What the library makes of the result in view, by a configuration. */
async function expected(page: Page, config: SluiceConfig): Promise<string> {
  return gated(await inView(page), config);
}

describe("a change", () => {
  const WIDE: SluiceConfig = { max_inline_size: 60_000 };

  test("in the form gates the result in view anew, and stands in the JSON", async () => {
    const before = await modelSide();
    const field = view.getByRole("textbox", { name: /^Longest text in place/ });
    await field.fill("60000");
    await field.press("Enter");
    await expect.poll(modelSide, { timeout: 20_000 }).toBe(await expected(seen.page, WIDE));
    expect(await modelSide()).not.toBe(before);
    expect(await written()).toEqual(WIDE);
  });

  test("in the JSON does too, and stands in the form", async () => {
    const config = { guardrail: { max_observation_chars: 400 } };
    await write(JSON.stringify(config));
    await expect.poll(modelSide, { timeout: 20_000 }).toBe(await expected(seen.page, config));
    expect(await view.getByRole("textbox", { name: /^Longest observation/ }).inputValue()).toBe("400");
  });

  test("of a choice does too", async () => {
    const box = view.getByRole("checkbox", { name: /^Store large texts/ });
    await box.uncheck();
    await expect.poll(modelSide, { timeout: 20_000 }).toContain("export interface Order");
    expect(await written()).toEqual({ auto_artifact_large_content: false });
    await view.getByRole("combobox", { name: /^When a server sends both/ }).selectOption("content");
    await expect.poll(written, { timeout: 20_000 }).toEqual({ auto_artifact_large_content: false, prefer: "content" });
  });

  test("changes the meter with it", async () => {
    await write(JSON.stringify(WIDE));
    await expect.poll(modelSide, { timeout: 20_000 }).toBe(await expected(seen.page, WIDE));
    const size = Buffer.byteLength((await modelSide()) ?? "").toLocaleString("en");
    expect(await view.locator("sluice-meter .line").textContent()).toContain(`→ ${size} B`);
  });
});

describe("what is wrong", () => {
  const WRONG: readonly (readonly [text: string, path: string, reason: RegExp])[] = [
    ['{ "max_inline_sise": 5 }', "max_inline_sise", /max_inline_size/],
    ['{ "guardrail": { "max_observation_chars": "many" } }', "guardrail.max_observation_chars", /number|integer/],
    ['{ "max_inline_size": -1 }', "max_inline_size", /\d/],
    ['{ "prefer": "neither" }', "prefer", /content|structured/],
    ['{ "retention": { "ttl_seconds": 1 } }', "retention", /not chosen here/],
  ];

  test.each(WRONG)("is refused with where and why, and what held before holds on: %s", async (text, path, reason) => {
    const before = await modelSide();
    await write(text);
    await problem().waitFor();
    const said = await problem().innerText();
    expect(said.startsWith(`${path}:`)).toBe(true);
    expect(said.slice(path.length + 1)).toMatch(reason);
    expect(await modelSide()).toBe(before);
    expect(await editor().innerText()).toBe(text);
  });

  test("in the form is told beside its field", async () => {
    const field = view.getByRole("textbox", { name: /^Longest observation/ });
    await field.fill("plenty");
    await field.press("Enter");
    await problem().waitFor();
    const label = view.locator("label").filter({ hasText: "Longest observation" });
    expect(await label.locator(".wrong").innerText()).toBe((await problem().innerText()).replace(/^[\w.]+: /, ""));
  });

  test.each([
    ['{\n  "max_inline_size": nope\n}', "line 2, column 22"],
    ['{\n  "max_inline_size": 5,\n  "prefer" "content"\n}', "line 3, column 12"],
    ['{ "max_inline_size": 5', "line 1, column 23"],
    ['{\n  "max_inline_size": 5,\n}', "line 3, column 1"],
  ])("as JSON is told with the line and the column: %j", async (text, where) => {
    await write(text);
    await problem().waitFor();
    expect(await problem().innerText()).toContain(`${where}:`);
  });

  test("is gone when it is mended", async () => {
    await write('{ "max_inline_sise": 5 }');
    await problem().waitFor();
    await write('{ "max_inline_size": 5000 }');
    await view.getByText("The configuration is valid.").waitFor();
    expect(await problem().count()).toBe(0);
  });
});

describe("a configuration", () => {
  test("is chosen by the name of a preset", async () => {
    await view.getByRole("combobox", { name: "Preset" }).selectOption("Small context");
    const config = { max_inline_size: 2000, guardrail: { max_observation_chars: 8000, max_field_chars: 1000 } };
    await expect.poll(written, { timeout: 20_000 }).toEqual(config);
    await expect.poll(modelSide, { timeout: 20_000 }).toBe(await expected(seen.page, config));
  });

  test("is exported as the file that the command line reads", async () => {
    const config = { max_inline_size: 5000 };
    await write(JSON.stringify(config));
    await view.getByText("The configuration is valid.").waitFor();
    const [download] = await Promise.all([
      seen.page.waitForEvent("download"),
      view.getByRole("button", { name: "Export" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("sluice.config.json");
    expect(JSON.parse(await readFile(await download.path(), "utf8"))).toEqual(config);
  });

  test("survives that the page is loaded anew", async () => {
    const { page } = seen;
    const config = { guardrail: { max_observation_chars: 300 } };
    await write(JSON.stringify(config));
    await expect.poll(modelSide, { timeout: 20_000 }).toBe(await expected(page, config));
    await page.reload();
    await firstResult(page);
    await run(page, "source_code");
    await go(page, "Guardrails");
    expect(await written()).toEqual(config);
    expect(await modelSide()).toBe(await expected(page, config));
  });

  test("nothing complains", () => {
    expect(seen.complaints).toEqual([]);
  });
});

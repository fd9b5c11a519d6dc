/** What somebody changes of the guardrails decides at once, or is refused with a reason (check 13). */
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { humanSize, type SluiceConfig } from "../../dist/index.js";
import { gated, inView } from "./in-view.js";
import { took } from "./measured.js";
import { go, run, visitor, exactly, reload } from "./visit.js";

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
  await vi.waitUntil(async () => (await modelSide()) === wanted);
  await view.getByText("Valid.", { exact: true }).waitFor();
});

const editor = (): Locator => view.getByRole("textbox", { name: "Configuration as JSON" });
const problem = (): Locator => view.getByRole("region", { name: "JSON" }).getByRole("alert");
const modelSide = (): Promise<string | null> => exactly(view);

async function write(text: string): Promise<void> {
  await open("JSON");
  await editor().fill(text);
}

/** Shows one of the panels. */
const open = (panel: string): Promise<void> => view.getByRole("tab", { name: panel }).click();

/** What is written in the editor. */
async function written(): Promise<unknown> {
  await open("JSON");
  return JSON.parse(await editor().innerText());
}

/** What the library makes of the result in view, by a configuration. */
async function expected(page: Page, config: SluiceConfig): Promise<string> {
  return gated(await inView(page), config);
}

describe("a change", { tags: "check-13" }, () => {
  const WIDE: SluiceConfig = { max_inline_size: 60_000 };

  test("in the form gates the result in view anew, and stands in the JSON", async () => {
    const before = await modelSide();
    await open("Form");
    const shown = await view.locator("sluice-result-model code").elementHandle();
    const wanted = await expected(seen.page, WIDE);
    // Nothing but typing: no Enter, and the focus stays.
    await view.getByRole("textbox", { name: "Store strings longer than characters" }).fill("60000");
    const typed = performance.now();
    await seen.page.waitForFunction(([code, text]) => code.textContent === text, [shown, wanted] as const);
    took("check-13", "the model's view follows after", performance.now() - typed);
    expect(await modelSide()).not.toBe(before);
    expect(await written()).toEqual(WIDE);
  });

  test("in the JSON does too, and stands in the form", async () => {
    const config = { guardrail: { max_observation_chars: 400 } };
    await write(JSON.stringify(config));
    await expect.poll(modelSide).toBe(await expected(seen.page, config));
    await open("Form");
    expect(await view.getByRole("textbox", { name: /^Show the model at most/ }).inputValue()).toBe("400");
  });

  test("of a choice does too", async () => {
    await open("Form");
    const box = view.getByRole("checkbox", { name: "Store long text, not only files" });
    await box.uncheck();
    await expect.poll(modelSide).toContain("export interface Order");
    expect(await written()).toEqual({ auto_artifact_large_content: false });
    await open("Form");
    await view.getByRole("combobox", { name: "If a server says it twice, show" }).selectOption("the content blocks");
    await expect.poll(written).toEqual({ auto_artifact_large_content: false, prefer: "content" });
  });

  test("is told in bytes, before and after", async () => {
    const before = humanSize(Buffer.byteLength(await expected(seen.page, {})));
    await write(JSON.stringify(WIDE));
    await expect.poll(modelSide).toBe(await expected(seen.page, WIDE));
    const after = humanSize(Buffer.byteLength(await expected(seen.page, WIDE)));
    await view.getByRole("heading", { name: `Your model reads ${after}.` }).waitFor();
    await expect
      .poll(() => view.locator(".sizes").textContent())
      .toBe(`${before} with the defaults, ${after} with these rules`);
  });

  test("is marked at its field, and taken back there alone", async () => {
    await write(JSON.stringify({ ...WIDE, prefer: "content" }));
    await expect.poll(modelSide).toBe(await expected(seen.page, { ...WIDE, prefer: "content" }));
    await open("Form");
    expect(await view.getByText("changed", { exact: true }).count()).toBe(2);
    await view.getByRole("button", { name: "Reset: Store strings longer than" }).click();
    await expect.poll(() => view.getByText("changed", { exact: true }).count()).toBe(1);
    expect(await view.getByRole("textbox", { name: /^Store strings longer than/ }).inputValue()).toBe("10,000");
    expect(await written()).toEqual({ prefer: "content" });
  });

  test("stands beside what the model sees from 1100 pixels on, and before it in narrow windows", async () => {
    const { page } = seen;
    const boxes = async (): Promise<readonly [number, number]> => {
      const form = await view.getByRole("region", { name: "Form" }).boundingBox();
      const model = await view.locator("sluice-result").boundingBox();
      return [(form?.x ?? 0) + (form?.width ?? 0), model?.x ?? 0];
    };
    await open("Form");
    for (const width of [1440, 1100]) {
      await page.setViewportSize({ width, height: 900 });
      const [formEnds, modelBegins] = await boxes();
      expect(modelBegins).toBeGreaterThanOrEqual(formEnds);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await open("Model sees");
    await view.locator("sluice-result-model").waitFor();
    expect(await view.getByRole("region", { name: "Form" }).isVisible()).toBe(false);
    await page.setViewportSize({ width: 1440, height: 900 });
    await view.getByRole("region", { name: "Form" }).waitFor();
  });
});

describe("what is wrong", { tags: "check-13" }, () => {
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
    const before = await modelSide();
    await open("Form");
    const field = view.getByRole("textbox", { name: /^Show the model at most/ });
    await field.fill("plenty");
    await field.press("Enter");
    const told = view.locator(".field").filter({ hasText: "Show the model at most" }).getByRole("alert");
    await told.waitFor();
    expect(await told.innerText()).toMatch(/^Between 256 and [\d,]+\.$/);
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await field.inputValue()).toBe("plenty");
    expect(await modelSide()).toBe(before);
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
    await view.getByText("Valid.", { exact: true }).waitFor();
    expect(await problem().count()).toBe(0);
  });
});

describe("a configuration", () => {
  test("is chosen by the name of a preset", async () => {
    await view.getByRole("combobox", { name: "Preset" }).selectOption("A model with a small context");
    const config = { max_inline_size: 2000, guardrail: { max_observation_chars: 8000, max_field_chars: 1000 } };
    await expect.poll(written).toEqual(config);
    await expect.poll(modelSide).toBe(await expected(seen.page, config));
  });

  test("is exported as the file that the command line reads", async () => {
    const config = { max_inline_size: 5000 };
    await write(JSON.stringify(config));
    await view.getByText("Valid.", { exact: true }).waitFor();
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
    await expect.poll(modelSide).toBe(await expected(page, config));
    await reload(page);
    await run(page, "source_code");
    await go(page, "Guardrails");
    expect(await written()).toEqual(config);
    expect(await modelSide()).toBe(await expected(page, config));
  });

  test("nothing complains", () => {
    expect(seen.complaints).toEqual([]);
  });
});

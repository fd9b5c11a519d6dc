/** A result on both sides of the gate: what is on screen is what the library gives, and adds up (checks 3, 4 and 5). */
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { everything, gated, inView } from "./in-view.js";
import { run, visitor } from "./visit.js";

/** Characters of base64 that nobody should have to see; the address of an artifact and a hash are shorter. */
const ENCODED = /[A-Za-z0-9+/_-]{201,}/;
/** Bytes of a line in the raw view. */
const RAW_LINE = 120;

const seen = visitor();

const call = (page: Page): Locator => page.locator("main playground-call");
const modelSide = (page: Page): Promise<string | null> => call(page).locator("sluice-result-model code").textContent();
const view = (page: Page, name: string): Promise<void> =>
  call(page).getByRole("radiogroup", { name: "View" }).getByRole("radio", { name, exact: true }).check();

const TOOLS: readonly (readonly [tool: string, fields: Readonly<Record<string, string>>])[] = [
  ["sales_report", { quarter: "Q1" }],
  ["sales_chart", {}],
  ["jingle", {}],
  ["export_csv", {}],
  ["web_page", {}],
  ["source_code", {}],
  ["archive", { megabytes: "1" }],
  ["sales_table", { rows: "2000" }],
  ["find_reports", {}],
  ["fails", {}],
  ["small_talk", {}],
];

describe.each(TOOLS)("the result of %s", (tool, fields) => {
  beforeAll(async () => {
    await run(seen.page, tool, fields);
    await modelSide(seen.page);
  });

  test("is shown on both sides, one beside the other", async () => {
    const [sent, model] = await Promise.all(
      ["Server sent", "Model sees"].map((name) =>
        call(seen.page).getByRole("region", { name, exact: true }).boundingBox(),
      ),
    );
    expect(sent?.width).toBeGreaterThan(250);
    expect(model?.width).toBeGreaterThan(250);
    expect((sent?.x ?? 0) + (sent?.width ?? 0)).toBeLessThanOrEqual(model?.x ?? 0);
    expect((model?.x ?? 0) + (model?.width ?? 0)).toBeLessThanOrEqual(1440);
    expect(model?.y).toBe(sent?.y);
  });

  test("is to a model, byte for byte, what the library gives", async () => {
    const shown = await inView(seen.page);
    expect(shown.tool).toBe(tool);
    expect(await modelSide(seen.page)).toBe(await gated(shown));
  });

  test("shows no encoded bytes unless they are asked for", async () => {
    const { page } = seen;
    expect(await everything(page)).not.toMatch(ENCODED);
    const pretty = call(page).getByRole("button", { name: "Pretty" });
    await pretty.click();
    expect(await everything(page)).not.toMatch(ENCODED);
    await pretty.click();
    await view(page, "Diff");
    await call(page).locator("sluice-result-diff sluice-result-lines").waitFor();
    expect(await everything(page)).not.toMatch(ENCODED);
    await view(page, "Split");
  });

  test("is measured truthfully", async () => {
    const { page } = seen;
    const shown = await inView(page);
    const [sent, saw] = [Buffer.byteLength(shown.original), Buffer.byteLength((await modelSide(page)) ?? "")];
    const stored = new Set(shown.artifacts.map(({ id }) => id)).size;
    expect(stored).toBe(shown.artifacts.length);
    const decoded = shown.artifacts.reduce((sum, { size_bytes }) => sum + size_bytes, 0);

    const meter = call(page).locator("sluice-meter");
    const words = ((await meter.locator(".line").textContent()) ?? "").replaceAll(/\s+/g, " ").trim();
    expect(words.split(" · ").at(0)).toBe(`${sent.toLocaleString("en")} B → ${saw.toLocaleString("en")} B`);
    expect(words.split(" · ").at(-1)).toBe(change(sent, saw));
    const notes = await meter.locator("small").innerText();
    expect(notes.includes(`Stored: ${decoded.toLocaleString("en")} B decoded`)).toBe(decoded > 0);
    expect(notes).toContain("bytes of JSON divided by 4");
    const shares = await meter
      .locator(".fill")
      .evaluateAll((bars) => bars.map((bar) => bar.clientWidth / (bar.parentElement?.clientWidth ?? 1)));
    expect(shares).toEqual([
      expect.closeTo(sent / Math.max(sent, saw), 2),
      expect.closeTo(saw / Math.max(sent, saw), 2),
    ]);
  });

  test("is measured in the bar above as it is beside it", async () => {
    const { page } = seen;
    expect(await lastPart(page.locator("playground-bar sluice-meter"))).toBe(
      await lastPart(call(page).locator("sluice-meter")),
    );
  });
});

describe("what a server sent", () => {
  test("is there with its encoded bytes in the raw view, and nowhere else", async () => {
    const { page } = seen;
    await run(page, "sales_chart");
    const { original } = await inView(page);
    const { 0: encoded, index } = ENCODED.exec(original) ?? { 0: "", index: 0 };
    expect(encoded.length).toBeGreaterThan(10_000);
    const begin = Math.ceil(index / RAW_LINE) * RAW_LINE;
    const line = original.slice(begin, begin + RAW_LINE);
    expect(await everything(page)).not.toContain(line);

    await view(page, "Raw");
    await call(page).locator("sluice-result-raw").getByText(line).waitFor();
    await view(page, "Split");
  });

  test("has a chip in the place of bytes, which says what they are and which rule acted", async () => {
    const { page } = seen;
    await run(page, "sales_report", { quarter: "Q4" });
    const { artifacts } = await inView(page);
    const chip = call(page)
      .getByRole("region", { name: "Server sent" })
      .getByRole("group", { name: /^Stored: / });
    expect(await chip.count()).toBe(1);
    const words = await chip.innerText();
    expect(words).toContain("application/pdf");
    expect(words).toContain("4.0 MB");
    expect(words).toContain(artifacts[0]?.sha256.slice(0, 8));
    expect(words).toMatch(/L\d/);
  });

  test("lights what the model sees of it where it is pointed at", async () => {
    const { page } = seen;
    const lit = (): Promise<number> =>
      page.evaluate(() => [...(CSS.highlights.get("sluice-counterpart") ?? [])].length);
    await page.mouse.move(0, 0);
    await call(page)
      .getByRole("region", { name: "Server sent" })
      .getByRole("group", { name: /^Stored: / })
      .hover();
    await expect.poll(lit, { timeout: 20_000 }).toBeGreaterThan(0);
  });
});

async function lastPart(meter: Locator): Promise<string | undefined> {
  return (await meter.locator(".line .part").allTextContents()).at(-1);
}

/** What the meter may say of a change: never more than is true. */
function change(sent: number, saw: number): string {
  if (saw > sent) return `grew by ${(saw - sent).toLocaleString("en")} B`;
  if (saw === sent) return "nothing kept out";
  return `${Math.floor(((sent - saw) / sent) * 10_000) / 100} % kept out`;
}

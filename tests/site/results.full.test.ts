/** A result on both sides of the gate: what is on screen is what the library gives, and adds up (checks 3, 4 and 5). */
import { mkdirSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { everything, gated, inView } from "./in-view.js";
import { measured } from "./measured.js";
import { FINGER, targets, tooSmall, tooWide, violations } from "./page-checks.js";
import { leave, PLACES, WINDOWS } from "./places.js";
import {
  ask,
  begin as beginCall,
  connect,
  connectFiles,
  during,
  go,
  PATIENCE,
  run,
  visitor,
  exactly,
} from "./visit.js";

describe("results", () => {
  /** Characters of base64 that nobody should have to see; the address of an artifact and a hash are shorter. */
  const ENCODED = /[A-Za-z0-9+/_-]{201,}/;
  /** The longest run of these characters that is in the document. */
  const longestRun = async (page: Page): Promise<number> =>
    Math.max(...Array.from((await everything(page)).matchAll(/[A-Za-z0-9+/_-]+/g), ([found]) => found.length));
  /** Bytes of a line in the raw view. */
  const RAW_LINE = 120;

  const seen = visitor();

  const call = (page: Page): Locator => page.locator("main playground-call");
  const modelSide = (page: Page): Promise<string | null> => exactly(call(page));
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

    test("is shown on both sides, one beside the other", { tags: "check-3" }, async () => {
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

    test("is to a model, byte for byte, what the library gives", { tags: "check-3" }, async () => {
      const shown = await inView(seen.page);
      expect(shown.tool).toBe(tool);
      const [model, library] = [await modelSide(seen.page), await gated(shown)];
      measured("check-3", "bytes that differ", bytesApart(model ?? "", library), { most: 0, unit: "B" });
      expect(model).toBe(library);
    });

    test("shows no encoded bytes unless they are asked for", { tags: "check-4" }, async () => {
      const { page } = seen;
      const runs = [await longestRun(page)];
      const pretty = call(page).getByRole("button", { name: "Exact" });
      await pretty.click();
      runs.push(await longestRun(page));
      await pretty.click();
      await view(page, "Diff");
      await call(page).locator("sluice-result-diff sluice-result-lines").waitFor();
      runs.push(await longestRun(page));
      await view(page, "Split");
      measured("check-4", "longest run that could be base64", Math.max(...runs), { most: 200, unit: "characters" });
    });

    test("is measured truthfully", { tags: "check-5" }, async () => {
      const { page } = seen;
      const shown = await inView(page);
      const [sent, saw] = [Buffer.byteLength(shown.original), Buffer.byteLength((await modelSide(page)) ?? "")];
      const stored = new Set(shown.artifacts.map(({ id }) => id)).size;
      expect(stored).toBe(shown.artifacts.length);
      const decoded = shown.artifacts.reduce((sum, { size_bytes }) => sum + size_bytes, 0);

      const meter = call(page).locator("sluice-meter");
      const words = ((await meter.locator(".line").textContent()) ?? "").replaceAll(/\s+/g, " ").trim();
      const numbers = Array.from(words.matchAll(/[\d,]+(?= B)/g), ([bytes]) => Number(bytes.replaceAll(",", "")));
      const off = stored === 0 ? [(numbers[0] ?? NaN) - saw] : [(numbers[0] ?? NaN) - sent, (numbers[1] ?? NaN) - saw];
      measured("check-5", "bytes that the meter is off", Math.abs(off[0] ?? NaN) + Math.abs(off[1] ?? 0), {
        most: 0,
        unit: "B",
      });
      // Of a result that is unchanged the meter tells the content, and the JSON around it below.
      const both = `${sent.toLocaleString("en")} B → ${saw.toLocaleString("en")} B`;
      expect(words.split(" · ").at(0)).toBe(stored === 0 ? `${saw.toLocaleString("en")} B` : both);
      expect(words.split(" · ").at(-1)).toBe(stored === 0 ? "unchanged" : change(sent, saw));
      const notes = (await meter.locator("small").textContent()) ?? "";
      expect(notes.includes(`Stored: ${decoded.toLocaleString("en")} B decoded`)).toBe(decoded > 0);
      expect(notes).toContain("bytes of JSON divided by 4");
      const shares = await meter
        .locator(".fill")
        .evaluateAll((bars) => bars.map((bar) => bar.clientWidth / (bar.parentElement?.clientWidth ?? 1)));
      const most = Math.max(sent, saw);
      const expected = stored === 0 ? [] : [sent / most, saw / most];
      expect(shares.map((share) => Math.round(share * 100))).toEqual(expected.map((share) => Math.round(share * 100)));
    });

    test("is in the list of calls with the words of its meter", { tags: "check-5" }, async () => {
      const { page } = seen;
      const words = (await call(page).locator("sluice-meter .line .part").allTextContents()).at(-1)?.trim();
      const shown = page.locator("playground-try aside [aria-current=true] .gain");
      await go(page, "Try");
      expect(await shown.innerText()).toBe(words?.replace(/ kept out$/, ""));
    });
  });

  /** Counts the tokens of the call in view, which is below how they are estimated. */
  async function countTokens(page: Page): Promise<void> {
    await call(page).getByText("How this is counted").click();
    await call(page).getByRole("button", { name: "Count the tokens" }).click();
  }

  test("tokens are counted by a real tokenizer where somebody asks, and money with them", async () => {
    const { page } = seen;
    await run(page, "sales_chart");
    const meter = call(page).locator("sluice-meter");
    const estimated = await meter.locator(".saved").innerText();
    await countTokens(page);
    await meter.locator(".estimator").getByText("o200k_base").waitFor();
    expect(await meter.locator(".estimator").innerText()).toMatch(/^\d{2},\d{3} tokens sent, \d{2,3} seen: o200k_base/);
    expect(await meter.locator(".saved").innerText()).not.toBe(estimated);
    expect(seen.requests.filter((url) => /\/tokenizer-/.test(url))).toHaveLength(1);
  });

  test("a call does not wait for the tokenizer, which takes seconds for 4 MB", async () => {
    const { page } = seen;
    await run(page, "sales_report");
    await countTokens(page);
    await run(page, "sales_chart");
    await go(page, "Try");
    await page
      .locator("playground-try aside")
      .getByRole("button", { name: /^sales_report/ })
      .first()
      .click();
    const counted = call(page).locator("sluice-meter .estimator").getByText("o200k_base");
    expect(await counted.count()).toBe(0);
    await counted.waitFor({ state: "attached", timeout: 60_000 });
  });

  test("money follows the price that a visitor chooses, and is remembered", async () => {
    const { page } = seen;
    await run(page, "sales_chart");
    await call(page).getByRole("combobox", { name: "Price of a million tokens" }).selectOption("");
    await call(page).getByRole("spinbutton", { name: "US dollars for a million tokens" }).fill("100");
    await page.keyboard.press("Tab");
    await expect.poll(() => call(page).locator("sluice-meter .saved dd").innerText()).toBe("≈ $1.42 → $0.0080");
    expect(await page.evaluate(() => localStorage.getItem("sluice.price"))).toBe("100");
    await page.evaluate(() => localStorage.removeItem("sluice.price"));
  });

  describe("what a server sent", () => {
    test("is there with its encoded bytes in the raw view, and nowhere else", { tags: "check-4" }, async () => {
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
      expect(words).toContain("sales_report.pdf");
      // A hash is for those who ask.
      expect(words).not.toContain(artifacts[0]?.sha256.slice(0, 8));
      expect(await chip.locator(".what").getAttribute("title")).toContain(artifacts[0]?.sha256);
      expect(await chip.locator(".badge").innerText()).toMatch(/L\d/);
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
      await expect.poll(lit).toBeGreaterThan(0);
    });
  });

  /** The places at which two texts have another byte, or only one of them has any. */
  function bytesApart(one: string, other: string): number {
    const [long, short] = [Buffer.from(one), Buffer.from(other)].toSorted((a, b) => b.length - a.length);
    return long?.filter((byte, at) => byte !== short?.[at]).length ?? 0;
  }

  /** What the meter may say of a change: never more than is true. */
  function change(sent: number, saw: number): string {
    if (saw > sent) return `grew by ${(saw - sent).toLocaleString("en")} B`;
    if (saw === sent) return "nothing kept out";
    return `${Math.floor(((sent - saw) / sent) * 10_000) / 100} % kept out`;
  }
});

/** Every place of the playground in two widths: what axe finds in both themes, and whether it fits a phone (checks 2 and 14). */
describe("places", () => {
  /** A folder for pictures of all places, for people to look at; undefined takes none. */
  const SHOTS = process.env["SLUICE_SHOTS"];

  describe.each(WINDOWS)("in $width px", ({ width, options }) => {
    const seen = visitor(options);
    const isPhone = width < 500;

    afterEach(() => leave(seen.page));

    async function expectToFit(page: Page): Promise<void> {
      const wide = await tooWide(page);
      measured("check-2", "sideways scroll", Math.max(0, ...wide.map(({ pixels }) => pixels)), { most: 0, unit: "px" });
      expect(wide).toEqual([]);
      const heights = (await targets(page)).map(({ pixels }) => Math.round(pixels));
      measured("check-2", "lowest target of a finger", Math.min(...heights), { least: FINGER, unit: "px" });
      expect(await tooSmall(page)).toEqual([]);
    }

    const tags = isPhone ? ["check-2", "check-14"] : ["check-14"];
    test.each(PLACES)("$name is accessible in either theme, and fits", { tags }, async ({ name, show }) => {
      const { page } = seen;
      await show(page);
      if (isPhone) await expectToFit(page);
      const shoot = async (theme: string): Promise<void> => {
        if (SHOTS === undefined) return;
        mkdirSync(SHOTS, { recursive: true });
        await page.screenshot({ path: `${SHOTS}/${width}-${name.toLowerCase().replaceAll(" ", "-")}-${theme}.png` });
      };
      const found = await violations(page, shoot);
      measured("check-14", "findings of axe", found.length, { most: 0, unit: "" });
      expect(found).toEqual([]);
    });

    test("and the console stays silent", () => {
      expect(seen.complaints).toEqual([]);
    });
  });
});

/** Tools that say nothing for long: what a person is told meanwhile, and what is offered when it is over. */
describe("silence", () => {
  const MESSAGES = [
    "The tool is taking longer than expected. Please wait...",
    "Still processing your request. This may take a few more moments.",
    "Processing continues. The tool will timeout in 5 seconds if no progress.",
    "Tool failed to respond in a reasonable amount of time. Please try again or use a smaller dataset.",
  ];
  /** Of the demo's tool: its limit is 30 s. */
  const SECONDS = "200";

  const server = during(serveMcp);
  const seen = visitor();
  const other = visitor();
  const third = visitor();
  const card = (page: Page): Locator => page.locator("playground-tools playground-call");
  const called = (page: Page): Locator => page.locator("playground-chat playground-tool").last();

  beforeAll(async () => {
    await connectFiles(seen.page);
    await connectFiles(other.page);
    await connect(third.page, server().url);
  });

  /** Waits for the messages one after the other, where they are told politely. */
  async function hear(place: Locator): Promise<void> {
    for (const message of MESSAGES.slice(0, 3)) await place.getByRole("status").getByText(message).waitFor();
    // The status may say it too by then.
    await place
      .getByText(MESSAGES[3] ?? "")
      .first()
      .waitFor();
  }

  // All wait at once: the times are those of the specification.
  test("a call, one of the chat, and one of another server tell what the person should know at 15, 20, 25 and 30 seconds", async () => {
    const { page } = seen;
    await beginCall(third.page, "wait");
    await beginCall(page, "stay_silent", { seconds: SECONDS });
    await ask(other.page, `Stay silent for ${SECONDS} seconds`);
    await card(page)
      .getByText(/^[1-9] s$/)
      .waitFor();
    await Promise.all([hear(card(page)), hear(called(other.page))]);
    for (const place of [card(page), called(other.page)]) {
      await place.getByText("E_TIMEOUT", { exact: true }).waitFor();
      await place.getByText("Last progress: Processing chunk 1/200").waitFor();
      await place.getByText("The limit was 30 s.").waitFor();
    }
    const alert = card(third.page).getByRole("alert");
    await alert.waitFor();
    expect((await alert.innerText()).match(/30 s/g)).toHaveLength(1);
    expect(await alert.innerText()).toContain("Last progress: 1");
  }, 120_000);

  test("a call of another server is made again with twice as much time, and cancelled", async () => {
    const { page } = third;
    await card(page).getByRole("alert").getByRole("button", { name: "Retry with 60 s" }).click();
    await card(page).getByRole("button", { name: "Cancel" }).waitFor();
    expect(await card(page).getByRole("alert").count()).toBe(0);
    await card(page).getByRole("button", { name: "Cancel" }).click();
    await card(page).getByText("Cancelled.").waitFor();
  });

  test("a call that took too long is made again with twice as much time, and cancelled", async () => {
    const { page } = seen;
    await card(page).getByRole("button", { name: "Retry with 60 s" }).click();
    await card(page).getByRole("status").getByText("Processing chunk 1/200").waitFor();
    await card(page).getByRole("button", { name: "Cancel" }).click();
    await card(page).getByText("Cancelled.").waitFor();
  });

  test("a question is asked again with twice as much time, and its call is cancelled", async () => {
    const { page } = other;
    await page.locator("playground-chat").getByRole("button", { name: "Ask", exact: true }).waitFor();
    await called(page).getByRole("button", { name: "Ask again with 60 s" }).click();
    await expect.poll(() => page.locator("playground-turn").count(), { timeout: PATIENCE }).toBe(2);
    await called(page).getByText("Processing chunk 1/200").waitFor();
    await called(page).getByRole("button", { name: "Cancel" }).click();
    await called(page).getByText("was cancelled").waitFor();
    await go(page, "Log");
    await page.locator("playground-log").getByText("files.stay_silent: silent for 30 s").waitFor();
  });

  test("nothing of it is complained of", () =>
    expect([...seen.complaints, ...other.complaints, ...third.complaints]).toEqual([]));
});

/** `<sluice-result>`: its views, the tree by keyboard, and large results. */
import { beforeEach, expect, test, vi } from "vitest";
import { all, base64, begin, choose, lit, MIXED, one, PATIENT, PDF, rows, settled, shown, textOn } from "./fixtures.js";
import { userEvent } from "vitest/browser";

beforeEach(begin);

test("diff shows what stands instead of what was taken out", async () => {
  const element = await shown({ content: [{ type: "text", text: JSON.stringify({ a: 1, pdf: base64(PDF) }) }] });
  await choose(element, "diff");
  await vi.waitFor(() => expect(all(element, "del").length).toBeGreaterThan(0), PATIENT);
  expect(
    all(element, "del")
      .map((line) => line.textContent)
      .join("\n"),
  ).toContain('"pdf": [application/pdf · 39.1 KB');
  expect(
    all(element, "ins")
      .map((line) => line.textContent)
      .join("\n"),
  ).toContain('"mime_type": "application/pdf"');
  expect(
    all(element, "del, ins")
      .map((line) => line.textContent)
      .join("\n"),
  ).not.toContain('"a": 1');
});

test("raw shows the original by lines that are in view", async () => {
  const element = await shown(MIXED);
  await choose(element, "raw");
  await vi.waitFor(() => expect(all(element, ".line").length).toBeGreaterThan(10), PATIENT);
  expect(one(element, ".line").textContent).toBe(`1${JSON.stringify(MIXED).slice(0, 120)}`);
  expect(all(element, ".line").length).toBeLessThan(100);
});

test("raw says when the original cannot be had", async () => {
  const element = await shown(MIXED, { raw: () => Promise.reject(new Error("/home/somebody/secret")) });
  await choose(element, "raw");
  await vi.waitFor(
    () => expect(one(element, "[role=alert]").textContent).toBe("The original could not be read."),
    PATIENT,
  );
});

test("raw stops at what it may hold", async () => {
  const chunk = new Uint8Array(1024 * 1024).fill(97);
  const raw = (): Promise<ReadableStream<Uint8Array>> =>
    Promise.resolve(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }));
  const element = await shown(MIXED, { raw });
  await choose(element, "raw");
  await vi.waitFor(() => expect(textOn(element)).toContain("The first 32.0 MB"), PATIENT);
});

test("at a narrow width one side is shown, and a chip leads to the other", async () => {
  const element = await shown(MIXED);
  element.style.width = "390px";
  await vi.waitFor(() => expect(all(element, "sluice-result-model")).toHaveLength(0), PATIENT);
  await settled(element);
  expect(all<HTMLInputElement>(element, ".segmented input").map(({ value }) => value)).toEqual([
    "sent",
    "model",
    "diff",
    "raw",
  ]);
  expect(element.scrollWidth).toBeLessThanOrEqual(390);
  one(element, '.chip button[aria-label^="Show"]').click();
  await vi.waitFor(() => expect(lit()).toHaveLength(2), PATIENT);
  expect(all(element, "sluice-result-sent")).toHaveLength(0);
});

test("one side may be preferred at any width", async () => {
  const element = await shown(MIXED, { view: "model" });
  expect(all(element, "sluice-result-sent")).toHaveLength(0);
  await choose(element, "split");
  expect(all(element, "sluice-result-sent")).toHaveLength(1);
});

test("is the observation, character for character", async () => {
  const element = await shown(MIXED);
  expect(one(element, "code").textContent).toBe(element.observation);
  const odd = await shown({}, { observation: '"\u202e <b>&amp;\r\n\t\u0000 \ud83d\ude00  "' });
  expect(one(odd, "code").textContent).toBe('"\u202e <b>&amp;\r\n\t\u0000 \ud83d\ude00  "');
});

test("is indented on demand, and back", async () => {
  const element = await shown(MIXED);
  const pretty = one(one(element, "sluice-result-model"), "button[aria-pressed]");
  pretty.click();
  await settled(element);
  expect(one(element, "code").textContent).toMatch(/^\{\n {2}"content": \[\n {4}\{\n/);
  pretty.click();
  await settled(element);
  expect(one(element, "code").textContent).toBe(element.observation);
});

test("says what the guardrail cut", async () => {
  const element = await shown(MIXED, { clamped: { originalChars: 120_000, clampedChars: 50_000 } });
  expect(one(element, ".clamp").textContent).toContain("from 120,000 to 50,000 characters");
});

test("keeps the bytes of an image small on the screen", async () => {
  const observation = `{"content":[{"type":"image","data":"${base64(PDF)}"}]}`;
  const element = await shown({}, { observation });
  expect(one(element, "code").textContent).toBe(observation);
  expect(one(element, ".run").getBoundingClientRect().width).toBeLessThan(200);
});

test("arrows open, move and close", async () => {
  const element = await shown({
    content: [
      { type: "text", text: '{"a": {"b": 1}, "c": 2}' },
      { type: "text", text: "x" },
    ],
  });
  const tree = one(element, "sluice-result-tree");
  const items = (): HTMLElement[] => all(tree, "[role=treeitem]");
  const focused = (): string => (tree.shadowRoot?.activeElement?.textContent ?? "").replace(/\s+/g, " ").trim();
  expect(items().map(({ tabIndex }) => tabIndex)).toEqual([0, -1, -1]);
  items()[0]?.focus();
  await userEvent.keyboard("{ArrowDown}");
  await vi.waitFor(() => expect(focused()).toBe("a: object, 1 member"), PATIENT);
  await userEvent.keyboard("{ArrowRight}");
  await vi.waitFor(() => expect(items()).toHaveLength(4), PATIENT);
  await userEvent.keyboard("{ArrowRight}");
  await vi.waitFor(() => expect(focused()).toBe("b: 1"), PATIENT);
  await userEvent.keyboard("{ArrowLeft}");
  await vi.waitFor(() => expect(focused()).toBe("a: object, 1 member"), PATIENT);
  await userEvent.keyboard("{ArrowLeft}");
  await vi.waitFor(() => expect(items()).toHaveLength(3), PATIENT);
  await userEvent.keyboard("{End}");
  await vi.waitFor(() => expect(focused()).toBe("c: 2"), PATIENT);
});

test("60,000 rows are few elements, and more come when they are asked for", async () => {
  const rowsOf = Array.from({ length: 60_000 }, (_, id) => ({ id, name: `row ${id}`, value: id / 7 }));
  const reduced = JSON.stringify({ content: [{ type: "text", text: JSON.stringify(rowsOf) }] });
  const element = await shown({}, { reduced });
  const tree = one(element, "sluice-result-tree");
  expect(rows(tree)[0]).toBe("array, 60,000 elements");
  expect(rows(tree).at(-1)).toBe("Show 100 more of 59,900");
  expect(all(element, "*").length).toBeLessThan(5_000);
  all(tree, "[role=treeitem]").at(-1)?.click();
  await settled(element);
  expect(rows(tree)).toHaveLength(202);
  await vi.waitFor(() => expect(tree.shadowRoot?.activeElement?.textContent).toContain("100"), PATIENT);
});

test("60,000 blocks are few elements", async () => {
  const content = Array.from({ length: 60_000 }, (_, n) => ({ type: "text", text: `{"row": ${n}}` }));
  const reduced = JSON.stringify({ content });
  const element = await shown({}, { reduced });
  expect(all(element, "li")).toHaveLength(50);
  expect(all(element, "*").length).toBeLessThan(5_000);
  all(element, "button.more")[0]?.click();
  await settled(element);
  expect(all(element, "li")).toHaveLength(100);
});

test("10 MB of text are shown in part, on both sides", async () => {
  const text = "All of it is said in so many words. ".repeat(300_000);
  const reduced = JSON.stringify({ content: [{ type: "text", text }] });
  const element = await shown({}, { reduced, observation: JSON.stringify(text) });
  expect(one(element, "li .text").textContent).toHaveLength(2_001);
  expect(one(element, "code").textContent).toHaveLength(200_000);
  expect(all(element, "*").length).toBeLessThan(5_000);
});

/** `<sluice-result>`: differences, the original, and one side at a time. */
import { beforeEach, expect, test, vi } from "vitest";
import { all, base64, begin, choose, lit, MIXED, one, PATIENT, PDF, settled, shown, textOn } from "./fixtures.js";

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

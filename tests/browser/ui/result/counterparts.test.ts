/** `<sluice-result>`: what belongs together is lit on both sides. */
import { beforeEach, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { all, base64, begin, lit, MIXED, one, PATIENT, PDF, PNG, settled, shown } from "./fixtures.js";

beforeEach(begin);

/** Points there until it holds: what is under the pointer may move while the page is laid out. */
async function pointing(target: HTMLElement, holds: () => void): Promise<void> {
  await vi.waitFor(async () => {
    await userEvent.hover(target, { position: { x: 2, y: 2 } });
    holds();
  }, PATIENT);
}

test("pointing at a chip lights the artifact in the model's text", async () => {
  const element = await shown(MIXED);
  await pointing(one(element, ".chip"), () => expect(lit()).toHaveLength(2));
  expect(lit()[0]).toMatch(/^\{"type":"image","artifact":\{"id":"demo_[0-9a-f]{12}".*"summary":"PNG image[^"]*"\}$/);
  expect(lit()[1]).toMatch(/^artifact:\/\/demo_[0-9a-f]{12}\?type=image\/png/);
  await pointing(one(element, "code"), () => expect(lit()).toEqual([]));
});

test("pointing at what passed lights where it stands", async () => {
  const element = await shown(MIXED);
  await pointing(one(element, "li .text"), () => expect(lit()).toEqual(['"The report is ready."']));
});

test("going from one block to the next lights the next, by pointer and by focus", async () => {
  const element = await shown(MIXED);
  const chips = all(element, ".chip");
  await pointing(one(element, "li .text"), () => expect(lit()).toEqual(['"The report is ready."']));
  await pointing(chips[0]!, () => expect(lit()[0]).toContain("image/png"));
  await pointing(chips[1]!, () => expect(lit()[0]).toContain("application/pdf"));
  const buttons = chips.slice(0, 3).map((chip) => chip.querySelector("button"));
  for (const [at, type] of [
    [0, "image/png"],
    [1, "application/pdf"],
    [0, "image/png"],
  ] as const) {
    buttons[at]?.focus();
    expect(lit()[0]).toContain(type);
  }
});

test("so does going from row to row of a tree", async () => {
  const element = await shown({
    content: [{ type: "text", text: JSON.stringify({ a: base64(PDF), b: base64(PNG) }) }],
  });
  const chips = all(one(element, "sluice-result-tree"), ".chip");
  for (const [at, type] of [
    [0, "application/pdf"],
    [1, "image/png"],
  ] as const) {
    await pointing(chips[at]!, () => expect(lit()[0]).toContain(type));
  }
});

test("pointing at an artifact in the model's text lights its chips", async () => {
  const element = await shown(MIXED);
  const code = one(element, "code");
  const range = document.createRange();
  const node = document.createTreeWalker(code, NodeFilter.SHOW_TEXT).nextNode() as Text;
  const at = node.data.indexOf("image/png");
  range.setStart(node, at);
  range.setEnd(node, at + 3);
  const { left, top } = range.getBoundingClientRect();
  code.dispatchEvent(
    new PointerEvent("pointermove", { clientX: left + 4, clientY: top + 4, bubbles: true, composed: true }),
  );
  await settled(element);
  expect(all(element, ".chip.lit").length).toBe(2);
});

test("the keyboard gets from a chip to where the model sees it", async () => {
  const element = await shown(MIXED);
  const button = one(element, '.chip button[aria-label^="Show"]');
  expect(button.getAttribute("aria-label")).toMatch(/in model view, characters \d+ to \d+, and 1 more$/);
  button.focus();
  expect(lit()).toHaveLength(2);
  await userEvent.keyboard("{Enter}");
  const area = one(element, "pre");
  await vi.waitFor(() => expect((area.getRootNode() as ShadowRoot).activeElement).toBe(area), PATIENT);
  await vi.waitFor(
    () => expect(one(element, ".bar [role=status]").textContent).toMatch(/^Shown at characters/),
    PATIENT,
  );
});

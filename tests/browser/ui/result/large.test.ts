/** `<sluice-result>`: large results are few elements. */
import { beforeEach, expect, test, vi } from "vitest";
import { all, begin, one, PATIENT, rows, settled, shown } from "./fixtures.js";

beforeEach(begin);

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

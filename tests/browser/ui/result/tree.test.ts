/** `<sluice-result>`: JSON as a tree, by keyboard. */
import { beforeEach, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { all, begin, one, PATIENT, shown } from "./fixtures.js";

beforeEach(begin);

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

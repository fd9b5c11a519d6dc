import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ToolClientError } from "../../../../web/src/tools/errors.js";
import { pageOf } from "../../../../web/src/tools/resources/tools.js";

test("pages, one after the other, are the whole list, and none is too long", () => {
  const list = fc.array(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 400, size: "max" });
  fc.assert(
    fc.property(list, fc.integer({ min: 1, max: 900 }), (items, chars) => {
      const pages: (readonly string[])[] = [];
      let cursor: string | undefined;
      do {
        const page = pageOf(items, cursor, chars);
        pages.push(page.items);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(pages.flat()).toEqual(items);
      for (const page of pages) {
        expect(page.length).toBeGreaterThan(0);
        expect(page.length).toBeLessThanOrEqual(100);
        expect(page.length === 1 || JSON.stringify(page).length <= chars + 2).toBe(true);
      }
    }),
  );
});

test("an empty list is one empty page", () => {
  expect(pageOf([], undefined, 100)).toEqual({ items: [], next: undefined });
});

test("a cursor of a list that has changed says so", () => {
  const { next } = pageOf(["a", "b", "c"], undefined, 5);
  expect(() => pageOf(["a", "x", "c"], next, 5)).toThrow(/The list has changed/);
});

test.each(["", "1", "..", "-1.2", "zzzzzzzz.0", "a.b.c", " 1.1", "1.zzzzz"])("%j is no cursor", (cursor) => {
  expect(() => pageOf(["a"], cursor, 100)).toThrow(ToolClientError);
});

test("a cursor behind the end is refused", () => {
  const { next } = pageOf(["a", "b"], undefined, 1);
  const [print] = (next as string).split(".");
  expect(() => pageOf(["a", "b"], `${print}.2`, 1)).toThrow(ToolClientError);
});

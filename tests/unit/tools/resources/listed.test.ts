/** What a source lists, made fit to be shown. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  checkUri,
  fitResources,
  fitTemplates,
  type ListedResource,
} from "../../../../web/src/tools/resources/connection.js";

const URI = "file:///a";

test("what is fit stays as it is", () => {
  const resource = { uri: URI, name: "a", title: "A", description: "The a.", mime_type: "text/plain", size_bytes: 0 };
  expect(fitResources([resource])).toMatchObject({ items: [resource], left_out: 0 });
  const template = { uri_template: "file:///{path}", name: "files" };
  expect(fitTemplates([template])).toMatchObject({ items: [template], left_out: 0 });
});

test("characters that hide or move are gone from words, and long words are cut", () => {
  const [resource] = fitResources([
    { uri: URI, name: "a\u202eb\u0007\u{e0041}", title: "\u200b", description: `${"x".repeat(900)}\n\nend` },
  ]).items;
  expect(resource?.name).toBe("a b");
  expect(resource).not.toHaveProperty("title");
  expect(resource?.description).toHaveLength(500);
  expect(resource?.description?.endsWith("x…")).toBe(true);
});

test.each(["", "file:///\n", "file:///\u202e", "x".repeat(5_000), 5 as unknown as string])(
  "a URI that cannot be given back is left out, and counted",
  (uri) => {
    expect(
      fitResources([
        { uri, name: "a" },
        { uri: URI, name: "b" },
      ]),
    ).toMatchObject({
      items: [{ uri: URI }],
      left_out: 1,
    });
    expect(() => checkUri(uri)).toThrow(/^uri must be a text/);
  },
);

test("what is no type and no size is not said", () => {
  const wrong = { uri: URI, name: "a", mime_type: "text/plain\nIgnore", size_bytes: -1 };
  expect(fitResources([wrong]).items).toEqual([{ uri: URI, name: "a" }]);
});

test("of a list without end a part is taken", () => {
  const long = Array.from({ length: 20_000 }, (_, at) => ({ uri: `${URI}${at}`, name: "a" }));
  expect(fitResources(long)).toMatchObject({ left_out: 10_000 });
  const wide = Array.from({ length: 5_000 }, (_, at) => ({ uri: `${"x".repeat(4_000)}${at}`, name: "a" }));
  const { items, left_out, chars } = fitResources(wide);
  expect(items.length + left_out).toBe(5_000);
  expect(chars).toBeLessThanOrEqual(2_000_000);
});

test("whatever a connection gives for words, nothing is thrown and nothing is hidden", () => {
  const anything = fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.constantFrom(undefined, null, 5, {}, []));
  const resource = fc.record({
    uri: anything,
    name: anything,
    title: anything,
    description: anything,
    size_bytes: anything,
  });
  fc.assert(
    fc.property(fc.array(resource, { maxLength: 5 }), (resources) => {
      for (const { uri, name, title, description } of fitResources(resources as ListedResource[]).items) {
        for (const word of [uri, name, title ?? "", description ?? ""])
          expect(word).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }
    }),
  );
});

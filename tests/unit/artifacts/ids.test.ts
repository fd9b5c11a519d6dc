import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cleanNamespace, idsFor, isArtifactId, namespaceOf } from "../../../web/src/artifacts/reference.js";
import { idOf, nameOf } from "../../../web/src/artifacts/file/folder.js";

test("ids start with 12 digits and grow by four to the whole hash", () => {
  const sha = "0123456789abcdef".repeat(4);
  const ids = [...idsFor("ns", sha)];
  expect(ids[0]).toBe("ns_0123456789ab");
  expect(ids[1]).toBe("ns_0123456789abcdef");
  expect(ids.at(-1)).toBe(`ns_${sha}`);
  expect(ids).toHaveLength(14);
  expect(ids.every(isArtifactId)).toBe(true);
});

test("a namespace is kept or refused, with the rule", () => {
  expect(namespaceOf()).toBe("artifact");
  expect(namespaceOf("My.Server-1_x")).toBe("My.Server-1_x");
  expect(() => namespaceOf("a/b")).toThrow(/1 to 64 characters, each an ASCII letter, a digit/);
});

test.each([
  ["My Server!", "My_Server"],
  ["../../etc", ".._.._etc"],
  ["", "artifact"],
  ["🌊🌊", "artifact"],
  ["x".repeat(100), "x".repeat(64)],
])("cleanNamespace(%j)", (name, cleaned) => {
  expect(cleanNamespace(name)).toBe(cleaned);
});

test("a cleaned name is always a namespace", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      expect(namespaceOf(cleanNamespace(name))).toBe(cleanNamespace(name));
    }),
  );
});

test("names of folders are one to one, and never differ in case only", () => {
  const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,10}_[0-9a-f]{12}$/);
  fc.assert(
    fc.property(id, id, (one, two) => {
      expect(idOf(nameOf(one))).toBe(one);
      expect(nameOf(one)).toBe(nameOf(one).toLowerCase());
      expect(nameOf(one) === nameOf(two)).toBe(one === two);
    }),
  );
});

/** Whether an artifact is stored, and untrusted text made safe to show. */
import { expect, test } from "vitest";
import { isStored, type ShownArtifact } from "../../../web/ui/shown.js";
import { isPlain, plainLines, plainText, shownName } from "../../../web/ui/plain-text.js";

const ID = "demo_6c0e06280000";

test.each<readonly [string, ShownArtifact, boolean]>([
  ["an id alone", { id: ID }, true],
  ["a ref without a hash, which says so", { id: ID, sha256: null }, false],
  ["a ref that is still to be fetched", { id: ID, sha256: null, deferred: true }, true],
  ["a ref that says that its bytes were cut", { id: ID, source: { truncated: true } }, false],
  ["an id of what was not stored", { id: "truncated_0123456789ab" }, false],
])("of %s it is known whether its bytes were kept", (_, artifact, expected) => {
  expect(isStored(artifact)).toBe(expected);
});

// A control, a turn of direction, a joiner, a line separator, a private letter, half of a pair.
test.each(["\u0007", "\u202e", "\u200b", "\u2028", "\ue000", "\ud800"])("%j does not hide", (character) => {
  const text = `a${character}b`;
  expect(isPlain(text)).toBe(false);
  expect(plainText(text)).toBe("a b");
  expect(shownName(text, "")).toBe("a\ufffdb");
});

test("a line has no other space than between words", () => {
  expect(plainText("  a \n\t b ")).toBe("a b");
  expect(plainText("👩‍🚀")).toBe("👩 🚀");
});

test("whole characters are cut, and only as much as needed is looked at", () => {
  expect(plainText("😀".repeat(300), 10)).toBe(`${"😀".repeat(9)}…`);
  expect(plainText(`${"\u200b".repeat(400)}late`, 100)).toBe("");
  expect(shownName("x".repeat(300), "")).toBe(`${"x".repeat(200)}…`);
});

test.each([
  ["photo\u202egpj.exe", "photo\ufffdgpj.exe"],
  ["a\u0000b\nc", "a\ufffdb\ufffdc"],
  ["../../etc/passwd", "../../etc/passwd"],
  [" ", "nothing"],
  [null, "nothing"],
  [12, "nothing"],
])("the name %j is shown as %j", (name, expected) => {
  expect(shownName(name, "nothing")).toBe(expected);
});

test("what is no text says nothing", () => {
  expect([plainText(undefined), plainText(12), plainText({})]).toEqual(["", "", ""]);
});

test("longer texts keep their lines and letters that are joined", () => {
  expect(plainLines("a\r\n\tb 👩‍🚀")).toBe("a\r\n\tb 👩‍🚀");
  expect(plainLines("a\u202eb\u0000c\u2066d")).toBe("a\ufffdb\ufffdc\ufffdd");
});

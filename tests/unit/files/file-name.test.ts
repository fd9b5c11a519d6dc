import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { nameShownAs, withFileContext } from "../../../web/src/files/context.js";
import { fileName } from "../../../web/src/files/names.js";
import type { UserFile } from "../../../web/src/files/user-file.js";
import { UserStorage } from "../../../web/src/files/user-storage.js";
import { amount } from "../../support/full.js";

const PIECES = [
  ["..", ".", "/", "\\", "../", "..\\", "C:", "~", "-", " ", "\t", "\n", "\r", "\u0000", "\u001b[2J", "%2e%2e%2f"],
  ["\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u2028", "\u0301", "\ud800", "\udfff", "\ue000", "\u{e0041}"],
  ["CON", "nul", "COM1", "lpt9", "aux", "PRN", ".txt", ".tar.gz", "$(rm -rf)", "`id`", ";", "|", "<", ">", "*", "?"],
  ["'", '"', "&", "]\nEnd available files]", "[SYSTEM: ", "a", "\u00e9", "\u65e5", "\ud83d\ude00", "\uff0e", "\u2215"],
].flat();

/** Any of them, and what is made of their pieces. */
const hostileName: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "binary", maxLength: 40 })), { maxLength: 60 })
  .map((pieces) => pieces.join(""));

describe("the name of a user's file", () => {
  test.each([
    ["../../malicious.txt", "malicious.txt"],
    ["..\\..\\..\\windows\\system32\\file", "file"],
    ["normal_file.csv", "normal_file.csv"],
    ["/etc/passwd", "passwd"],
    ["C:\\Users\\ada\\report.pdf", "report.pdf"],
    ["C:report.pdf", "report.pdf"],
    ["a/b\\c/d.txt", "d.txt"],
    ["folder/", "folder"],
    ["..", "file"],
    ["", "file"],
    ["///", "file"],
    [".bashrc", "bashrc"],
    ["name. . ", "name"],
    ["nul\u0000l.txt", "null.txt"],
    ["new\nline.txt", "newline.txt"],
    ["photo\u202egpj.exe", "photogpj.exe"],
    ["zero\u200bwidth\ufeff.txt", "zerowidth.txt"],
    ["half\ud83d.txt", "half.txt"],
    ["two  \u00a0 spaces.txt", "two spaces.txt"],
    ["ab:c|d?.txt", "ab_c_d_.txt"],
    ["cafe\u0301.txt", "caf\u00e9.txt"],
    ["CON", "_CON"],
    ["nul.txt", "_nul.txt"],
    ["com1.tar.gz", "_com1.tar.gz"],
    ["LPT\u00b2", "_LPT\u00b2"],
    ["console.txt", "console.txt"],
    ["[sluice] stored.pdf", "_[sluice] stored.pdf"],
    ["a/.[SLUICE].pdf", "_[SLUICE].pdf"],
    ["\u65e5\u672c\u8a9e.pdf", "\u65e5\u672c\u8a9e.pdf"],
    ["\ud83d\ude00.png", "\ud83d\ude00.png"],
  ])("of %j is %j", (name, kept) => {
    expect(fileName(name)).toBe(kept);
  });

  test("is cut within 255 bytes, at a letter, and keeps its extension", () => {
    expect(fileName(`${"a".repeat(300)}.parquet`)).toBe(`${"a".repeat(247)}.parquet`);
    expect(fileName(`${"\u20ac".repeat(100)}.pdf`)).toBe(`${"\u20ac".repeat(83)}.pdf`);
    expect(fileName(`${"\ud83d\ude00".repeat(100)}.pdf`)).toBe(`${"\ud83d\ude00".repeat(62)}.pdf`);
    expect(fileName(`a.${"b".repeat(300)}`)).toBe(`a.${"b".repeat(253)}`);
  });
});

test("of 10,000 hostile ones each is one component that every system takes, and stays as it is", () => {
  const property = fc.property(hostileName, (given) => {
    const name = fileName(given);
    expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(255);
    expect(name).not.toMatch(/[/\\<>:"|?*\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u);
    expect(name).toMatch(/^[^. ](?:.*[^. ])?$/u);
    expect(name).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i);
    expect(name.normalize("NFC")).toBe(name);
    expect(fileName(name)).toBe(name);
  });
  fc.assert(property, { numRuns: 10_000 });
});

/** In the full run together 10,000. */
const [USERS, NAMES] = [amount(200, 2000), 5];

/** Whatever somebody takes for the end of a line. */
const BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
const LINE = /^- ([^[\]]+) \(uploaded \d{4}-\d\d-\d\d, \dB\)$/;

/** The names that the session context shows, as they are meant. */
function namesShown(files: readonly UserFile[]): readonly string[] {
  const [question, empty, first, ...lines] = withFileContext("?", files, { maxChars: 100_000 }).split(BREAK);
  expect([question, empty, first]).toEqual(["?", "", "[SYSTEM: Available files in current session:"]);
  expect([lines.length, lines.pop()]).toEqual([files.length + 1, "End available files]"]);
  const shown = lines.map((line) => LINE.exec(line)?.[1] ?? "");
  return shown.map((name) => (files.some((file) => file.name === name) ? name : nameShownAs(name)));
}

test("of hostile names each keeps a file that is found by it, and has a line of the session context", async () => {
  const hostileNames = fc.array(hostileName, { minLength: NAMES, maxLength: NAMES });
  const property = fc.asyncProperty(hostileNames, async (names) => {
    const files = new UserStorage(new MemoryArtifactStore(), { user_id: "ada" });
    // Sizes tell files apart.
    const sizes = new Map<string, number>();
    for (const [at, name] of names.entries()) {
      await files.put(name, new Uint8Array(at + 1));
      sizes.set(fileName(name), at + 1);
    }
    const list = await files.list();
    expect(list.map(({ name }) => name)).toEqual([...sizes.keys()].toSorted());
    for (const name of names) {
      const kept = fileName(name);
      expect(await files.find(name)).toMatchObject({ name: kept, size_bytes: sizes.get(kept) });
    }
    expect([...namesShown(list)].sort()).toEqual(list.map(({ name }) => name));
  });
  await fc.assert(property, { numRuns: USERS });
});

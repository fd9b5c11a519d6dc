import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileName } from "../../../web/src/files/names.js";
import { hostileName } from "./hostile-names.js";

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

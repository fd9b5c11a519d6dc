import * as fc from "fast-check";
import { expect, test } from "vitest";
import { safeFilename } from "../../../web/src/server/artifacts/headers.js";
import { anyText } from "./any-text.js";

const ID = "web_0123456789ab";
const named = (filename: string | null, mime_type: string | null = "application/pdf"): string =>
  safeFilename({ id: ID, filename, mime_type });

test.each([
  ["report.pdf", "report.pdf"],
  ["Größe 3.pdf", "Größe 3.pdf"],
  ["報告書.pdf", "報告書.pdf"],
  ["Q3 report", "Q3 report.pdf"],
  ["v1.5", "v1.5.pdf"],
  ["archive.tar.gz", "archive.tar.gz"],
  ["song.mp3", "song.mp3"],
  ["../../etc/passwd", "etc_passwd.pdf"],
  ["C:\\Windows\\win.ini", "C__Windows_win.ini"],
  ['a"b\r\nSet-Cookie: x.pdf', "a_bSet-Cookie_ x.pdf"],
  ["invoice\u202efdp.exe", "invoicefdp.exe"],
  ["a\u0000b\u200b\u2066c\u{e0041}.pdf", "abc.pdf"],
  ["half \ud800.pdf", "half.pdf"],
  ["name.pdf. . .", "name.pdf"],
  [".htaccess", "htaccess.pdf"],
  ["con", "_con.pdf"],
  ["NUL.txt", "_NUL.txt"],
  ["com1.tar.gz", "_com1.tar.gz"],
  ["lpt¹", "_lpt¹.pdf"],
  ["console.log", "console.log"],
  ["con air.pdf", "con air.pdf"],
  ["con .pdf", "_con.pdf"],
  ["__init__.py", "__init__.py"],
  ["/etc/passwd", "etc_passwd.pdf"],
  ["AC/DC", "AC_DC.pdf"],
  ["   ", `${ID}.pdf`],
  ["...", `${ID}.pdf`],
  ["..", `${ID}.pdf`],
  [null, `${ID}.pdf`],
])("%j is saved as %j", (filename, saved) => {
  expect(named(filename)).toBe(saved);
});

test.each([
  ["text/plain; charset=utf-8", "txt"],
  ["text/x-unheard-of", "txt"],
  ["application/vnd.api+json", "json"],
  ["application/atom+xml", "xml"],
  ["application/x-unheard-of", "bin"],
  ["no type", "bin"],
  ["constructor", "bin"],
  [null, "bin"],
])("what has no name and the type %j ends in .%s", (type, extension) => {
  expect(named(null, type)).toBe(`${ID}.${extension}`);
});

test("a long name is cut between characters and keeps its extension", () => {
  const name = named(`${"語🌊".repeat(100)}.xlsx`);
  expect(name).toMatch(/^(?:語🌊)+語?\.xlsx$/);
  expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(200);
  expect(new TextEncoder().encode(name).length).toBeGreaterThan(190);
});

test("a cut does not lay bare what was not there", () => {
  expect(named(`${"a".repeat(195)} ${"b".repeat(100)}.pdf`)).toBe(`${"a".repeat(195)}.pdf`);
});

const rude = fc.oneof(
  anyText(),
  fc.string({
    unit: fc.constantFrom("/", "\\", ".", " ", '"', "%", "\r\n", "\u202e", "con", "nul", "é", "🌊", "\ud800"),
  }),
  fc.string({ minLength: 3000, maxLength: 6000 }),
);

test("any name becomes one that any system takes, and stays as it is then", () => {
  fc.assert(
    fc.property(rude, fc.option(fc.string()), (filename, mime_type) => {
      const name = named(filename, mime_type);
      expect(name).toMatch(/^[^\p{Cc}\p{Cf}\p{Co}\p{Cs}/\\:*?"<>|]+$/u);
      expect(name).not.toMatch(/^[. ]|[. ]$|^\.*$/);
      expect(name).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i);
      expect(name).toMatch(/\.[a-z0-9]{1,10}$/i);
      expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(202);
      expect(named(name, mime_type)).toBe(name);
    }),
  );
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { chooseType, contentDisposition, safeFilename } from "../../../../web/src/server/artifacts/headers.js";
import { parseEssence } from "../../../../web/src/server/http/headers.js";
import { anyText } from "../any-text.js";

test.each([
  ["application/pdf", "application/pdf"],
  ["IMAGE/PNG", "image/png"],
  ["application/json; charset=latin1", "application/json"],
  ["text/plain", "text/plain; charset=utf-8"],
  ["text/html; charset=utf-7", "text/html; charset=utf-8"],
  ["text/csv ;header=present", "text/csv; charset=utf-8"],
  ["image/svg+xml", "image/svg+xml"],
])("%s is served as %s", (given, served) => {
  expect(chooseType(given)).toBe(served);
});

test.each([
  null,
  "",
  "pdf",
  "application/",
  "/pdf",
  "a b/c",
  "text/html\r\nSet-Cookie: a=b",
  "text/html, text/plain",
  "text/ht\u0000ml",
  "téxt/plain",
  "multipart/x-mixed-replace; boundary=x",
  `text/${"x".repeat(200)}`,
  "x".repeat(1_000_000),
])("%j is no type to serve anything as", (given) => {
  expect(chooseType(given)).toBe("application/octet-stream");
});

test.each([
  "text/javascript",
  "application/javascript",
  "Application/X-JavaScript",
  "text/ecmascript",
  "application/x-ecmascript",
  "text/javascript1.5",
  "text/jscript",
  "text/livescript",
  "text/css",
])("%s cannot be run or applied by a page", (given) => {
  expect(chooseType(given)).toBe("text/plain; charset=utf-8");
});

test("whatever a type says, what is served is one, on one line", () => {
  fc.assert(
    fc.property(fc.oneof(anyText(), fc.stringMatching(/^[a-z]+\/[ -~]*$/)), (given) => {
      expect(chooseType(given)).toMatch(/^[a-z0-9][!-~]*\/[!-~]+(?:; charset=utf-8)?$/);
      expect(new Headers({ "content-type": chooseType(given) }).get("content-type")).toBe(chooseType(given));
      expect(parseEssence(chooseType(given))).not.toBeNull();
    }),
  );
});

test.each([
  ["report.pdf", 'attachment; filename="report.pdf"'],
  ["Größe.pdf", `attachment; filename="Gro_e.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.pdf`],
  ["100%.pdf", `attachment; filename="100_.pdf"; filename*=UTF-8''100%25.pdf`],
  ["it's (1)é.pdf", `attachment; filename="it's (1)e.pdf"; filename*=UTF-8''it%27s%20%281%29%C3%A9.pdf`],
  ["．．／≮.pdf", `attachment; filename="____.pdf"; filename*=UTF-8''%EF%BC%8E%EF%BC%8E%EF%BC%8F%E2%89%AE.pdf`],
  ["🌊.pdf", `attachment; filename="_.pdf"; filename*=UTF-8''%F0%9F%8C%8A.pdf`],
])("%s", (name, header) => {
  expect(contentDisposition("attachment", name)).toBe(header);
});

/** The grammar of RFC 6266, with a quoted string that needs no escapes. */
const HEADER =
  /^(inline|attachment); filename="([\x20\x21\x23\x24\x26-\x5b\x5d-\x7e]+)"(?:; filename\*=UTF-8''((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})+))?$/;

test("any file name yields a header that can be read back", () => {
  const name = anyText();
  fc.assert(
    fc.property(name, (given) => {
      const filename = safeFilename({ id: "web_0123456789ab", filename: given, mime_type: null });
      const header = contentDisposition("inline", filename);
      const [, , plain = "", extended] = HEADER.exec(header) ?? [];
      expect(extended === undefined ? plain : decodeURIComponent(extended)).toBe(filename);
      expect(new Headers({ "Content-Disposition": header }).get("content-disposition")).toBe(header);
    }),
  );
});

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
  ["application/soap+xml", "xml"],
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

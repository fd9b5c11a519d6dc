import * as fc from "fast-check";
import { expect, test } from "vitest";
import { contentDisposition, safeFilename } from "../../../web/src/server/artifacts/headers.js";
import { anyText } from "./any-text.js";

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

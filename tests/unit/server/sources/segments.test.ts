import * as fc from "fast-check";
import { expect, test } from "vitest";
import { segmentsOf } from "../../../../web/src/server/http/request.js";
import { anyText } from "../any-text.js";

const request = (path: string): Request => new Request(`http://127.0.0.1${path}`);

test("what was encoded as one segment is one, whatever is in it", () => {
  // Dots alone are no segment of a URL, however they are encoded.
  const parts = fc.array(
    anyText()
      // Halves of pairs are no UTF-8, so no address has them.
      .map((text) => text.replaceAll(/\p{Cs}/gu, ""))
      .filter((part) => part !== "." && part !== ".."),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(parts, fc.constantFrom("/", "/sluice/", "/a/b/"), (segments, base) => {
      const path = segments.map(encodeURIComponent).join("/");
      expect(segmentsOf(request(`${base}resources/${path}`), base, "resources")).toEqual(segments);
    }),
  );
});

test("each is decoded once", () => {
  expect(segmentsOf(request("/resources/a%252Fb/c%2Fd"), "/", "resources")).toEqual(["a%2Fb", "c/d"]);
});

test.each(["%", "%zz", "%ff", "%c3%28"])("%s is refused", (path) => {
  expect(() => segmentsOf(request(`/resources/${path}`), "/", "resources")).toThrow(/encodes no UTF-8/);
});

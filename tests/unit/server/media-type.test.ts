import * as fc from "fast-check";
import { expect, test } from "vitest";
import { essenceOf, servedType } from "../../../web/src/server/artifacts/headers.js";
import { anyText } from "./any-text.js";

test.each([
  ["application/pdf", "application/pdf"],
  ["IMAGE/PNG", "image/png"],
  ["application/json; charset=latin1", "application/json"],
  ["text/plain", "text/plain; charset=utf-8"],
  ["text/html; charset=utf-7", "text/html; charset=utf-8"],
  ["text/csv ;header=present", "text/csv; charset=utf-8"],
  ["image/svg+xml", "image/svg+xml"],
])("%s is served as %s", (given, served) => {
  expect(servedType(given)).toBe(served);
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
  expect(servedType(given)).toBe("application/octet-stream");
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
  expect(servedType(given)).toBe("text/plain; charset=utf-8");
});

test("whatever a type says, what is served is one, on one line", () => {
  fc.assert(
    fc.property(fc.oneof(anyText(), fc.stringMatching(/^[a-z]+\/[ -~]*$/)), (given) => {
      expect(servedType(given)).toMatch(/^[a-z0-9][!-~]*\/[!-~]+(?:; charset=utf-8)?$/);
      expect(new Headers({ "content-type": servedType(given) }).get("content-type")).toBe(servedType(given));
      expect(essenceOf(servedType(given))).not.toBeNull();
    }),
  );
});

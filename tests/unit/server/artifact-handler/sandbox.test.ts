/** What could run script does not. */
import { expect, test } from "vitest";
import { serving, TEN } from "./serving.js";

test("a page is served as UTF-8, whatever charset it claims", async () => {
  const { ref, ask } = await serving("<script>alert(1)</script>", { mime_type: "text/html; charset=utf-7" });
  const { headers } = await ask(ref.id);
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test.each(["text/html", "image/svg+xml", "application/pdf", "image/png", "text/javascript", "no type", null])(
  "%s is sandboxed",
  async (mime_type) => {
    const { ref, ask } = await serving(TEN, { mime_type });
    expect((await ask(ref.id)).headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none';/);
  },
);

test.each(["audio/mpeg", "video/mp4"])("%s may play itself, and nothing else", async (mime_type) => {
  const { ref, ask } = await serving(TEN, { mime_type });
  const policy = "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'";
  expect((await ask(ref.id)).headers.get("content-security-policy")).toBe(policy);
});

/** Parts of the bytes, and answers that depend on what somebody has already. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ADA, errorOf, serving, TEN } from "./serving.js";

describe("ranges", () => {
  test.each([
    ["bytes=2-4", "234", "bytes 2-4/10"],
    ["bytes=7-", "789", "bytes 7-9/10"],
    ["bytes=-2", "89", "bytes 8-9/10"],
    ["bytes=0-99", TEN, "bytes 0-9/10"],
  ])("%s", async (range, text, said) => {
    const { ref, ask } = await serving();
    const response = await ask(ref.id, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(said);
    expect(response.headers.get("content-length")).toBe(String(text.length));
    expect(await response.text()).toBe(text);
  });

  test.each(["bytes=0-1,4-5", "items=0-1", "bytes=5-2", "nonsense"])("%s is ignored", async (range) => {
    const { ref, ask } = await serving();
    const response = await ask(ref.id, { headers: { range } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-range")).toBeNull();
    expect(await response.text()).toBe(TEN);
  });

  test("one past the end is refused, with the size", async () => {
    const { ref, ask } = await serving();
    const response = await ask(ref.id, { headers: { range: "bytes=10-" } });
    expect(response.status).toBe(416);
    expect(response.headers.get("content-range")).toBe("bytes */10");
    expect((await errorOf(response)).message).toContain("which has 10");
  });

  test("If-Range counts for these bytes only", async () => {
    const { ref, ask } = await serving();
    const asked = async (condition: string): Promise<number> =>
      (await ask(ref.id, { headers: { range: "bytes=2-4", "if-range": condition } })).status;
    expect(await asked(`"${ref.sha256}"`)).toBe(206);
    expect(await asked(`W/"${ref.sha256}"`)).toBe(200);
    expect(await asked("Wed, 21 Oct 2026 07:28:00 GMT")).toBe(200);
  });

  test("any header gives a part of the bytes, as long as it says, or none", async () => {
    const { ref, ask } = await serving();
    const part = fc.tuple(fc.option(fc.nat(15)), fc.option(fc.nat(15)));
    const range = fc.oneof(
      part.map(([first, last]) => `bytes=${first ?? ""}-${last ?? ""}`),
      fc.stringMatching(/^bytes=[-0-9, ]{0,20}$/),
      fc.stringMatching(/^[ -~]{0,40}$/),
    );
    await fc.assert(
      fc.asyncProperty(range, async (header) => {
        const response = await ask(ref.id, { headers: { range: header } });
        expect([200, 206, 416]).toContain(response.status);
        if (response.status === 416) return;
        const text = await response.text();
        expect(response.headers.get("content-length")).toBe(String(text.length));
        const said = /^bytes (\d+)-(\d+)\/10$/.exec(response.headers.get("content-range") ?? "bytes 0-9/10");
        expect(text).toBe(TEN.slice(Number(said?.[1]), Number(said?.[2]) + 1));
      }),
    );
  });
});

describe("conditions", () => {
  test("304 has no body, and says what may have changed", async () => {
    const { store, ref, ask } = await serving();
    await store.update(ref.id, { filename: "renamed.pdf" }, ADA);
    const response = await ask(ref.id, { headers: { "if-none-match": `"${ref.sha256}"`, range: "bytes=0-1" } });
    expect(response.status).toBe(304);
    expect(response.body).toBeNull();
    expect(response.headers.get("etag")).toBe(`"${ref.sha256}"`);
    expect(response.headers.get("content-disposition")).toBe('inline; filename="renamed.pdf"');
    expect(response.headers.get("content-length")).toBeNull();
  });

  test("412 is for other bytes", async () => {
    const { ref, ask } = await serving();
    const response = await ask(ref.id, { headers: { "if-match": '"other"' } });
    expect(response.status).toBe(412);
    expect((await errorOf(response)).message).toContain("If-Match");
  });
});

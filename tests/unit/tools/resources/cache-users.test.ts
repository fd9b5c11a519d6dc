/** For whom resources are kept. */
import { describe, expect, test } from "vitest";
import { ADA, BOB, cachedSource, MINUTE, stored, text } from "./cached-source.js";

describe("users", () => {
  test.each([{}, { cache_scope: "private" as const }])(
    "get nothing of each other's, if it is %o",
    async (freshness) => {
      const source = cachedSource();
      source.result = text("for Ada", freshness);
      await source.read(ADA);
      source.result = text("for Bob", freshness);
      expect(await source.read(BOB)).toEqual(text("for Bob", freshness));
      expect(await source.read(ADA)).toEqual(text("for Ada", freshness));
      expect(source.fetches).toBe(2);
    },
  );

  test("share what is public", async () => {
    const source = cachedSource();
    source.result = text("for all", { cache_scope: "public" });
    expect(await source.read(ADA)).toBe(await source.read(BOB));
    expect(source.fetches).toBe(1);
  });

  test("share nothing where each has a session of their own", async () => {
    const source = cachedSource({ sharesPublic: false });
    source.result = text("for all", { cache_scope: "public" });
    await source.read(ADA);
    await source.read(BOB);
    await source.read(ADA);
    expect(source.fetches).toBe(2);
  });

  test.each([stored("lib_1", { cache_scope: "public" }), text("artifact://lib_1", { cache_scope: "public" })])(
    "do not share artifacts: those belong to a scope",
    async (result) => {
      const source = cachedSource();
      source.result = result;
      await source.read(ADA);
      await source.read(BOB);
      expect(source.fetches).toBe(2);
      await source.read(ADA);
      expect(source.fetches).toBe(2);
    },
  );

  test("get no more of what is public no longer", async () => {
    const source = cachedSource();
    source.result = text("for all", { cache_scope: "public", ttl_ms: MINUTE });
    await source.read(ADA);
    source.now += MINUTE;
    source.result = text("for Ada", { cache_scope: "private" });
    await source.read(ADA);
    source.result = text("for Bob", { cache_scope: "private" });
    expect(await source.read(BOB)).toEqual(source.result);
  });

  test("wait for their own reads only", async () => {
    const source = cachedSource();
    await Promise.all([source.read(ADA), source.read(ADA), source.read(BOB)]);
    expect(source.fetches).toBe(2);
  });
});

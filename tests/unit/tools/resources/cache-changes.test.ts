/** What a change of resources makes of what is kept of them. */
import { describe, expect, test } from "vitest";
import { ADA, BOB, cachedSource, stored, text, URI } from "./cached-source.js";

describe("a change", () => {
  test("is seen by all users", async () => {
    const source = cachedSource();
    await source.read(ADA);
    await source.read(BOB);
    source.cache.invalidate(URI);
    source.result = text("changed");
    expect(await Promise.all([source.read(ADA), source.read(BOB)])).toEqual([source.result, source.result]);
  });

  test("of one resource leaves others as they are", async () => {
    const source = cachedSource();
    await source.read(ADA, "a");
    source.result = { contents: [] };
    await source.read(ADA, "b");
    source.cache.invalidate("a");
    await source.read(ADA, "b");
    expect(source.fetches).toBe(2);
  });

  test("of one content makes the whole old", async () => {
    const source = cachedSource();
    await source.read(ADA, "file:///folder");
    source.cache.invalidate(URI);
    await source.read(ADA, "file:///folder");
    expect(source.fetches).toBe(2);
  });

  test("during a read makes its result not kept, and not waited for by whoever comes later", async () => {
    const source = cachedSource();
    const before = await source.begin();
    source.cache.invalidate(URI);
    source.result = text("changed");
    const after = source.read();
    await expect.poll(() => source.fetches).toBe(2);
    before.answer();
    expect(await before.reading).toEqual(text("hello"));
    expect(await after).toEqual(text("changed"));
    expect(await source.read()).toEqual(text("changed"));
    expect(source.fetches).toBe(2);
  });

  test("of something else during a read does no harm", async () => {
    const source = cachedSource();
    const { reading, answer } = await source.begin();
    source.cache.invalidate("file:///other");
    answer();
    await reading;
    await source.read();
    expect(source.fetches).toBe(1);
  });

  test("while the store is asked for an artifact counts", async () => {
    let ask: (() => void) | undefined;
    const exists = (): Promise<boolean> =>
      new Promise((resolve) => {
        ask = () => resolve(true);
      });
    const source = cachedSource({ exists });
    source.result = stored("lib_1");
    await source.read();
    source.result = text("changed");
    const reading = source.read();
    source.cache.invalidate(URI);
    ask?.();
    expect(await reading).toEqual(text("changed"));
  });

  test("of anything at all forgets everything, also what is on its way", async () => {
    const source = cachedSource();
    await source.read(ADA, "a");
    const { reading, answer } = await source.begin(ADA, "b");
    source.cache.clear();
    answer();
    await reading;
    await source.read(ADA, "a");
    await source.read(ADA, "b");
    expect(source.fetches).toBe(4);
  });

  test("more of them than are remembered are taken for changes of everything", async () => {
    const source = cachedSource();
    const { reading, answer } = await source.begin();
    for (let at = 0; at < 100; at += 1) source.cache.invalidate(`file:///${at}`);
    answer();
    await reading;
    await source.read();
    expect(source.fetches).toBe(2);
  });
});

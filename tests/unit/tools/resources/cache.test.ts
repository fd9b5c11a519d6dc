/** What is kept of resources, and for how long. */
import { describe, expect, test } from "vitest";
import { ResourceCache } from "../../../../web/src/tools/resources/cache.js";
import { ADA, cachedSource, MINUTE, stored, text, URI } from "./cached-source.js";

describe("a resource that was read", () => {
  test("is read once, and given again", async () => {
    const source = cachedSource();
    expect(await source.read()).toBe(await source.read());
    expect(source.fetches).toBe(1);
  });

  test("is kept with all of its contents", async () => {
    const source = cachedSource();
    const { contents } = text("a");
    source.result = { contents: [...contents, ...stored("lib_1").contents] };
    await source.read();
    expect((await source.read()).contents).toHaveLength(2);
    expect(source.fetches).toBe(1);
  });

  test.each([
    ["the time that the source names", { ttl_ms: 2 * MINUTE }, 2 * MINUTE],
    ["five minutes, where it names none", {}, 5 * MINUTE],
    ["a day at most", { ttl_ms: Number.MAX_VALUE }, 24 * 60 * MINUTE],
  ])("is kept for %s", async (_, freshness, time) => {
    const source = cachedSource();
    source.result = text("hello", freshness);
    await source.read();
    source.now += time - 1;
    await source.read();
    expect(source.fetches).toBe(1);
    source.now += 1;
    await source.read();
    expect(source.fetches).toBe(2);
  });

  test.each([0, -1, Number.NaN])("is not kept for a time of %s", async (ttl_ms) => {
    const source = cachedSource();
    source.result = text("hello", { ttl_ms });
    await source.read();
    await source.read();
    expect(source.fetches).toBe(2);
  });

  test("is not kept where nothing shall be", async () => {
    const source = cachedSource({ keeps: false });
    await source.read();
    await source.read();
    expect(source.fetches).toBe(2);
    await Promise.all([source.read(), source.read()]);
    expect(source.fetches).toBe(3);
  });

  test("is read again when its artifact is gone", async () => {
    const source = cachedSource();
    source.result = stored("lib_1");
    await source.read();
    source.gone.add("lib_1");
    source.result = stored("lib_2");
    expect(await source.read()).toEqual(stored("lib_2"));
    expect(source.fetches).toBe(2);
  });

  test("is read again when an artifact that its text refers to is gone", async () => {
    const source = cachedSource();
    source.result = text("![chart](artifact://lib_1?type=image/png&size=9)");
    await source.read();
    await source.read();
    expect(source.fetches).toBe(1);
    source.gone.add("lib_1");
    await source.read();
    expect(source.fetches).toBe(2);
  });

  test("is read again when the store cannot say whether its artifact is there", async () => {
    const source = cachedSource({ exists: () => Promise.reject(new Error("ENOENT")) });
    source.result = stored("lib_1");
    await source.read();
    await source.read();
    expect(source.fetches).toBe(2);
  });

  test.each([
    ["it is too long", text("x".repeat(300_000))],
    ["it has too many contents", { contents: Array.from({ length: 300 }, () => text("x").contents[0] as never) }],
    ["it refers to too much", text(Array.from({ length: 65 }, (_, at) => `artifact://lib_${at} `).join(""))],
  ])("is not kept when %s", async (_, result) => {
    const source = cachedSource();
    source.result = result;
    expect(await source.read()).toBe(result);
    await source.read();
    expect(source.fetches).toBe(2);
  });

  test("makes room for others when it was unused for longest", async () => {
    const source = cachedSource({ maxKept: 2 });
    for (const uri of ["a", "b", "a", "c", "a", "b"]) await source.read(ADA, uri);
    // a, b, c, and b again.
    expect(source.fetches).toBe(4);
  });
});

test("a failure is not kept", async () => {
  const source = cachedSource();
  source.result = new Error("refused");
  await expect(source.read()).rejects.toThrow("refused");
  source.result = text("fine");
  expect(await source.read()).toEqual(text("fine"));
});

test("whoever gives up is not held by a store that hangs", async () => {
  const cache = new ResourceCache({ exists: () => new Promise(() => undefined) });
  const gone = new AbortController();
  await cache.read(URI, { scope: ADA }, () => Promise.resolve(stored("lib_1")));
  const reading = cache.read(URI, { scope: ADA, signal: gone.signal }, () => Promise.resolve(stored("lib_1")));
  gone.abort(new Error("gone"));
  await expect(reading).rejects.toThrow("gone");
});

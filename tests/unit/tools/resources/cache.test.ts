/** What is kept of resources, for whom, and for how long. */
import { describe, expect, test } from "vitest";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import { ResourceCache, type CacheTerms } from "../../../../web/src/tools/resources/cache.js";
import type { ReadResult } from "../../../../web/src/tools/resources/connection.js";
import { Latch } from "../../core/faulty-store.js";

const ADA: ArtifactScope = { user_id: "ada", session_id: "s1" };
const BOB: ArtifactScope = { user_id: "bob", session_id: "s1" };
const URI = "file:///report";
const MINUTE = 60_000;

const text = (said: string, more: Partial<ReadResult> = {}): ReadResult => ({
  contents: [{ kind: "text", uri: URI, mime_type: "text/plain", text: said }],
  ...more,
});
const stored = (id: string, more: Partial<ReadResult> = {}): ReadResult => ({
  contents: [{ kind: "artifact", uri: URI, mime_type: null, id, size_bytes: 9, filename: null, summary: "9 B" }],
  ...more,
});

interface Desk {
  readonly cache: ResourceCache;
  /** Reads; the source answers with what `result` is then. */
  read(scope?: ArtifactScope, uri?: string): Promise<ReadResult>;
  /** Reads, and settles when the source is being asked; `answer` lets it. */
  begin(
    scope?: ArtifactScope,
    uri?: string,
  ): Promise<{ readonly reading: Promise<ReadResult>; readonly answer: () => void }>;
  result: ReadResult | Error;
  fetches: number;
  now: number;
  readonly gone: Set<string>;
}

function desk(terms: Partial<CacheTerms> = {}): Desk {
  const gone = new Set<string>();
  const clock = (): number => made.now;
  let asked = new Latch();
  let answered: Promise<unknown> = Promise.resolve();
  const cache = new ResourceCache({ exists: (id) => Promise.resolve(!gone.has(id)), clock, ...terms });
  const fetch = async (): Promise<ReadResult> => {
    made.fetches += 1;
    const { result } = made;
    asked.release();
    await answered;
    if (result instanceof Error) throw result;
    return result;
  };
  const made: Desk = {
    cache,
    read: (scope = ADA, uri = URI) => cache.read(uri, { scope }, fetch),
    begin: async (scope = ADA, uri = URI) => {
      asked = new Latch();
      const latch = new Latch();
      answered = latch.released;
      const reading = cache.read(uri, { scope }, fetch);
      await asked.released;
      answered = Promise.resolve();
      return { reading, answer: latch.release };
    },
    result: text("hello"),
    fetches: 0,
    now: 1_000,
    gone,
  };
  return made;
}

describe("a resource that was read", () => {
  test("is read once, and given again", async () => {
    const source = desk();
    expect(await source.read()).toBe(await source.read());
    expect(source.fetches).toBe(1);
  });

  test("is kept with all of its contents", async () => {
    const source = desk();
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
    const source = desk();
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
    const source = desk();
    source.result = text("hello", { ttl_ms });
    await source.read();
    await source.read();
    expect(source.fetches).toBe(2);
  });

  test("is not kept where nothing shall be", async () => {
    const source = desk({ keeps: false });
    await source.read();
    await source.read();
    expect(source.fetches).toBe(2);
    await Promise.all([source.read(), source.read()]);
    expect(source.fetches).toBe(3);
  });

  test("is read again when its artifact is gone", async () => {
    const source = desk();
    source.result = stored("lib_1");
    await source.read();
    source.gone.add("lib_1");
    source.result = stored("lib_2");
    expect(await source.read()).toEqual(stored("lib_2"));
    expect(source.fetches).toBe(2);
  });

  test("is read again when an artifact that its text refers to is gone", async () => {
    const source = desk();
    source.result = text("![chart](artifact://lib_1?type=image/png&size=9)");
    await source.read();
    await source.read();
    expect(source.fetches).toBe(1);
    source.gone.add("lib_1");
    await source.read();
    expect(source.fetches).toBe(2);
  });

  test("is read again when the store cannot say whether its artifact is there", async () => {
    const source = desk({ exists: () => Promise.reject(new Error("ENOENT")) });
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
    const source = desk();
    source.result = result;
    expect(await source.read()).toBe(result);
    await source.read();
    expect(source.fetches).toBe(2);
  });

  test("makes room for others when it was unused for longest", async () => {
    const source = desk({ maxKept: 2 });
    for (const uri of ["a", "b", "a", "c", "a", "b"]) await source.read(ADA, uri);
    // a, b, c, and b again.
    expect(source.fetches).toBe(4);
  });
});

describe("users", () => {
  test.each([{}, { cache_scope: "private" as const }])(
    "get nothing of each other's, if it is %o",
    async (freshness) => {
      const source = desk();
      source.result = text("for Ada", freshness);
      await source.read(ADA);
      source.result = text("for Bob", freshness);
      expect(await source.read(BOB)).toEqual(text("for Bob", freshness));
      expect(await source.read(ADA)).toEqual(text("for Ada", freshness));
      expect(source.fetches).toBe(2);
    },
  );

  test("share what is public", async () => {
    const source = desk();
    source.result = text("for all", { cache_scope: "public" });
    expect(await source.read(ADA)).toBe(await source.read(BOB));
    expect(source.fetches).toBe(1);
  });

  test("share nothing where each has a session of their own", async () => {
    const source = desk({ sharesPublic: false });
    source.result = text("for all", { cache_scope: "public" });
    await source.read(ADA);
    await source.read(BOB);
    await source.read(ADA);
    expect(source.fetches).toBe(2);
  });

  test.each([stored("lib_1", { cache_scope: "public" }), text("artifact://lib_1", { cache_scope: "public" })])(
    "do not share artifacts: those belong to a scope",
    async (result) => {
      const source = desk();
      source.result = result;
      await source.read(ADA);
      await source.read(BOB);
      expect(source.fetches).toBe(2);
      await source.read(ADA);
      expect(source.fetches).toBe(2);
    },
  );

  test("get no more of what is public no longer", async () => {
    const source = desk();
    source.result = text("for all", { cache_scope: "public", ttl_ms: MINUTE });
    await source.read(ADA);
    source.now += MINUTE;
    source.result = text("for Ada", { cache_scope: "private" });
    await source.read(ADA);
    source.result = text("for Bob", { cache_scope: "private" });
    expect(await source.read(BOB)).toEqual(source.result);
  });

  test("wait for their own reads only", async () => {
    const source = desk();
    await Promise.all([source.read(ADA), source.read(ADA), source.read(BOB)]);
    expect(source.fetches).toBe(2);
  });
});

describe("a change", () => {
  test("is seen by all users", async () => {
    const source = desk();
    await source.read(ADA);
    await source.read(BOB);
    source.cache.invalidate(URI);
    source.result = text("changed");
    expect(await Promise.all([source.read(ADA), source.read(BOB)])).toEqual([source.result, source.result]);
  });

  test("of one resource leaves others as they are", async () => {
    const source = desk();
    await source.read(ADA, "a");
    source.result = { contents: [] };
    await source.read(ADA, "b");
    source.cache.invalidate("a");
    await source.read(ADA, "b");
    expect(source.fetches).toBe(2);
  });

  test("of one content makes the whole old", async () => {
    const source = desk();
    await source.read(ADA, "file:///folder");
    source.cache.invalidate(URI);
    await source.read(ADA, "file:///folder");
    expect(source.fetches).toBe(2);
  });

  test("during a read makes its result not kept, and not waited for by whoever comes later", async () => {
    const source = desk();
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
    const source = desk();
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
    const source = desk({ exists });
    source.result = stored("lib_1");
    await source.read();
    source.result = text("changed");
    const reading = source.read();
    source.cache.invalidate(URI);
    ask?.();
    expect(await reading).toEqual(text("changed"));
  });

  test("of anything at all forgets everything, also what is on its way", async () => {
    const source = desk();
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
    const source = desk();
    const { reading, answer } = await source.begin();
    for (let at = 0; at < 100; at += 1) source.cache.invalidate(`file:///${at}`);
    answer();
    await reading;
    await source.read();
    expect(source.fetches).toBe(2);
  });
});

test("a failure is not kept", async () => {
  const source = desk();
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

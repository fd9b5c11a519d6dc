import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import { ResourceCache, Shelf } from "../../../../web/src/tools/resources/cache.js";
import type { ReadResult } from "../../../../web/src/tools/source-features.js";
import { ADA, BOB, cachedSource, MINUTE, stored, text, URI } from "./cached-source.js";

describe("the cache", () => {
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

  test("a caller that gives up is not held by a store that hangs", async () => {
    const cache = new ResourceCache({ exists: () => new Promise(() => undefined) });
    const gone = new AbortController();
    await cache.read(URI, { scope: ADA }, () => Promise.resolve(stored("lib_1")));
    const reading = cache.read(URI, { scope: ADA, signal: gone.signal }, () => Promise.resolve(stored("lib_1")));
    gone.abort(new Error("gone"));
    await expect(reading).rejects.toThrow("gone");
  });

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

  const LIMITS = { count: 3, size: 10 };
  const FOREVER = { ttl: 1_000_000 };

  test("what is too large for the whole shelf is not put there, and takes no other's place", () => {
    const shelf = new Shelf<string>(LIMITS, () => 0);
    shelf.set("a", "a", { size: 5, ...FOREVER });
    shelf.set("b", "b", { size: 11, ...FOREVER });
    expect([shelf.get("a"), shelf.get("b")]).toEqual(["a", undefined]);
  });

  test("what is used stays, and what is asked about only does not", () => {
    const shelf = new Shelf<string>(LIMITS, () => 0);
    for (const key of ["a", "b", "c"]) shelf.set(key, key, { size: 1, ...FOREVER });
    shelf.get("a");
    expect(shelf.has("b", "b")).toBe(true);
    shelf.set("d", "d", { size: 1, ...FOREVER });
    expect([shelf.get("a"), shelf.get("b"), shelf.get("c"), shelf.get("d")]).toEqual(["a", undefined, "c", "d"]);
  });

  test("a shelf holds what fits, the latest used, until its time is over", () => {
    const step = fc.record({
      do: fc.constantFrom("set", "set", "get", "delete", "forget", "clear", "wait"),
      key: fc.constantFrom("a", "b", "c", "d", "e"),
      size: fc.integer({ min: 0, max: 6 }),
      ttl: fc.constantFrom(-1, 0, 2, 5, Number.NaN),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
        let now = 0;
        /** Numbers of steps that gave what they should not have. */
        const wrong: number[] = [];
        let known: { readonly key: string; readonly size: number; readonly value: number; readonly expires: number }[] =
          [];
        const shelf = new Shelf<number>(LIMITS, () => now);
        for (const [value, { do: what, key, size, ttl }] of steps.entries()) {
          const there = known.find((each) => each.key === key);
          const others = known.filter((each) => each.key !== key);
          if (what === "set") {
            shelf.set(key, value, { size, ttl });
            known = ttl > 0 ? [...others, { key, size, value, expires: now + ttl }] : others;
            while (known.length > 3 || known.reduce((sum, each) => sum + each.size, 0) > 10) known = known.slice(1);
          } else if (what === "get") {
            const isFresh = there !== undefined && now < there.expires;
            if (shelf.get(key) !== (isFresh ? there.value : undefined)) wrong.push(value);
            known = isFresh ? [...others, there] : others;
          } else if (what === "delete") {
            shelf.delete(key);
            known = others;
          } else if (what === "forget") {
            shelf.forget((each) => each % 2 === 0);
            known = known.filter((each) => each.value % 2 === 1);
          } else if (what === "clear") {
            shelf.clear();
            known = [];
          } else now += 1;
        }
        expect(wrong).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

/** Random reads, changes, losses and time, held against what a cache may give at all. */
describe("a model of it", () => {
  const SCOPES: readonly ArtifactScope[] = [{ user_id: "ada" }, { user_id: "bob" }, { user_id: "bob", trace_id: "1" }];
  const URIS = ["a", "b", "c"];
  const MAX_KEPT = 4;

  type Step =
    | { readonly do: "read"; readonly scope: number; readonly uri: number; readonly updates: readonly number[] }
    | { readonly do: "update"; readonly uri: number }
    | { readonly do: "clear" }
    | { readonly do: "wait"; readonly time: number }
    | { readonly do: "lose"; readonly scope: number; readonly uri: number };

  interface Nature {
    readonly kind: "text" | "artifact";
    readonly ttl: number;
    readonly isPublic: boolean;
    /** A content beside it, by the number of its URI. */
    readonly beside: number | undefined;
  }

  /** What the model keeps: the version, when it was read, and what it is stored as. */
  interface Known {
    readonly key: string;
    readonly version: number;
    readonly expires: number;
    readonly id: string | undefined;
    readonly uris: readonly number[];
  }

  const index = fc.nat({ max: 2 });
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("read" as const),
        scope: index,
        uri: index,
        updates: fc.constantFrom([], [], [], [0], [1], [0, 2]),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("update" as const), uri: index }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), time: fc.constantFrom(1, 9, 10) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const), scope: index, uri: index }) },
    { weight: 1, arbitrary: fc.constant({ do: "clear" as const }) },
  );
  const nature: fc.Arbitrary<Nature> = fc.record({
    kind: fc.constantFrom("text" as const, "artifact" as const),
    ttl: fc.constantFrom(0, 10, 20),
    isPublic: fc.boolean(),
    beside: fc.option(index, { nil: undefined }),
  });

  /** A cache, a source whose every answer has a new version, and a list of what may be kept. */
  class World {
    /** What was read other than it should have been. */
    readonly differences: string[] = [];
    readonly #natures: readonly Nature[];
    readonly #sharesPublic: boolean;
    readonly #cache: ResourceCache;
    readonly #gone = new Set<string>();
    #known: Known[] = [];
    #now = 0;
    #version = 0;

    constructor(natures: readonly Nature[], sharesPublic: boolean) {
      this.#natures = natures;
      this.#sharesPublic = sharesPublic;
      this.#cache = new ResourceCache({
        exists: (id, scope) => Promise.resolve(id.startsWith(`s${SCOPES.indexOf(scope)}`) && !this.#gone.has(id)),
        clock: () => this.#now,
        maxKept: MAX_KEPT,
        sharesPublic,
      });
    }

    async take(made: Step): Promise<void> {
      switch (made.do) {
        case "read":
          await this.#read(made);
          return;
        case "update":
          this.#update(made.uri);
          return;
        case "clear":
          this.#cache.clear();
          this.#known = [];
          return;
        case "wait":
          this.#now += made.time;
          return;
        case "lose":
          for (const { key, id } of this.#known) {
            if (key === `${made.scope} ${made.uri}` && id !== undefined) this.#gone.add(id);
          }
      }
    }

    async #read({ scope, uri, updates }: Step & { readonly do: "read" }): Promise<void> {
      const expected = this.#expected(scope, uri);
      let fetched = 0;
      const result = await this.#cache.read(
        URIS[uri] as string,
        { scope: SCOPES[scope] as ArtifactScope },
        async () => {
          fetched += 1;
          const answer = this.#answer(scope, uri);
          await Promise.resolve();
          for (const each of updates) this.#update(each);
          return answer;
        },
      );
      const wanted = { fetched: expected === undefined ? 1 : 0, version: expected?.version ?? this.#version };
      this.differences.push(...differencesOf({ fetched, version: versionOf(result) }, wanted));
      if (expected === undefined) this.#learn(scope, uri, updates);
    }

    #update(uri: number): void {
      this.#cache.invalidate(URIS[uri] as string);
      this.#known = this.#known.filter(({ uris }) => !uris.includes(uri));
    }

    /** What may be given without asking, counted as used. */
    #expected(scope: number, uri: number): Known | undefined {
      for (const key of [`${scope} ${uri}`, ...(this.#sharesPublic ? [`public ${uri}`] : [])]) {
        const known = this.#known.find((each) => each.key === key);
        if (known === undefined) continue;
        this.#known = this.#known.filter((each) => each !== known);
        if (this.#now >= known.expires || (known.id !== undefined && this.#gone.has(known.id))) continue;
        this.#known.push(known);
        return known;
      }
      return undefined;
    }

    #learn(scope: number, uri: number, updates: readonly number[]): void {
      const { kind, ttl, isPublic, beside } = this.#natures[uri] as Nature;
      const own = `${scope} ${uri}`;
      const shared = `public ${uri}`;
      this.#known = this.#known.filter(({ key }) => key !== own && key !== shared);
      const uris = beside === undefined ? [uri] : [uri, beside];
      if (ttl === 0 || uris.some((each) => updates.includes(each))) return;
      const key = isPublic && this.#sharesPublic && kind === "text" ? shared : own;
      const id = kind === "text" ? undefined : idOf(scope, this.#version);
      this.#known.push({ key, version: this.#version, expires: this.#now + ttl, id, uris });
      this.#known = this.#known.slice(-MAX_KEPT);
    }

    #answer(scope: number, at: number): ReadResult {
      this.#version += 1;
      const { kind, ttl, isPublic, beside } = this.#natures[at] as Nature;
      const uri = URIS[at] as string;
      const summary = String(this.#version);
      const first =
        kind === "text"
          ? { kind, uri, mime_type: null, text: summary }
          : { kind, uri, mime_type: null, id: idOf(scope, this.#version), size_bytes: 1, filename: null, summary };
      const second = { kind: "text" as const, uri: URIS[beside ?? 0] as string, mime_type: null, text: "beside" };
      const contents = beside === undefined ? [first] : [first, second];
      return { contents, ttl_ms: ttl, cache_scope: isPublic ? "public" : "private" };
    }
  }

  interface Seen {
    readonly fetched: number;
    readonly version: number;
  }

  function differencesOf(seen: Seen, wanted: Seen): string[] {
    const [left, right] = [JSON.stringify(seen), JSON.stringify(wanted)];
    return left === right ? [] : [`${left} instead of ${right}`];
  }

  const idOf = (scope: number, version: number): string => `s${scope}_${version}`;

  function versionOf({ contents: [first] }: ReadResult): number {
    return Number(first?.kind === "text" ? first.text : first?.summary);
  }

  test("the cache gives what a list of everything it may keep would give, and asks the source else", async () => {
    const natures = fc.tuple(nature, nature, nature);
    await fc.assert(
      fc.asyncProperty(
        natures,
        fc.boolean(),
        fc.array(step, { maxLength: 40, size: "max" }),
        async (three, sharesPublic, steps) => {
          const world = new World(three, sharesPublic);
          for (const made of steps) await world.take(made);
          expect(world.differences).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

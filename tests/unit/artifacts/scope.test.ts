import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toSpan } from "../../../web/src/artifacts/bytes.js";
import { BareMemoryStore, MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { toStamp, Stamps } from "../../../web/src/artifacts/reference.js";
import { fullScope, sameScope, scopeKey } from "../../../web/src/artifacts/scope.js";
import { ScopedArtifacts } from "../../../web/src/artifacts/scoped.js";
import type { ArtifactScope, ArtifactStore } from "../../../web/src/artifacts/store.js";
import { listed } from "./bytes.js";

describe("scopes", () => {
  const field = fc.constantFrom(null, "", "a", "null", '"', ",", "a,b", '","', "\0", "\ud800");
  const scope = fc.record({ tenant_id: field, user_id: field, session_id: field, trace_id: field });

  test("missing is null, and null is nothing else", () => {
    expect(fullScope()).toEqual({ tenant_id: null, user_id: null, session_id: null, trace_id: null });
    expect(sameScope(undefined, { user_id: null })).toBe(true);
    expect(sameScope({ user_id: null }, { user_id: "null" })).toBe(false);
    expect(sameScope({ user_id: "" }, {})).toBe(false);
    expect(sameScope({ user_id: "a" }, { tenant_id: "a" })).toBe(false);
  });

  test("two scopes have one key only when all four fields are equal", () => {
    fc.assert(
      fc.property(scope, scope, (one, two) => {
        const equal = (["tenant_id", "user_id", "session_id", "trace_id"] as const).every((at) => one[at] === two[at]);
        expect(scopeKey(one) === scopeKey(two)).toBe(equal);
      }),
      { numRuns: 500 },
    );
  });

  test("a field must be a string", () => {
    const wrong = { session_id: 3 } as unknown as { session_id: string };
    expect(() => scopeKey(wrong)).toThrow(
      expect.objectContaining({ code: "E_INVALID_ARGUMENT", path: "scope.session_id" }),
    );
  });

  test("a span lies within the size, and is what slice gives", () => {
    const bytes = Uint8Array.from({ length: 20 }, (_, at) => at);
    fc.assert(
      fc.property(fc.nat(30), fc.option(fc.nat(30), { nil: undefined }), fc.nat(20), (start, more, size) => {
        const end = more === undefined ? undefined : start + more;
        const span = toSpan(end === undefined ? { start } : { start, end }, size);
        expect(0 <= span.start && span.start <= span.end && span.end <= size).toBe(true);
        expect(bytes.slice(span.start, span.end)).toEqual(bytes.subarray(0, size).slice(start, end));
      }),
    );
  });

  test("stamps grow where the clock stands still or goes back", () => {
    let now = 1_000;
    const stamps = new Stamps(() => now);
    const given = [stamps.next(), stamps.next()];
    now = 10;
    given.push(stamps.next());
    now = 2_000;
    given.push(stamps.next());
    expect(given).toEqual([1_000_000, 1_000_001, 1_000_002, 2_000_000]);
  });

  test.each([Number.NaN, Infinity, -Infinity, 1e300, 9e15, "x", undefined])(
    "a clock that says %s gives no time, and spoils no later one",
    (reading) => {
      let now: unknown = 1_000;
      const stamps = new Stamps(() => now as number);
      stamps.next();
      now = reading;
      expect(stamps.now()).toBeNaN();
      expect(stamps.next()).toBe(1_000_001);
      now = 5_000;
      expect(stamps.next()).toBe(5_000_000);
    },
  );

  test("a stamp of someone else's is passed, unless it is none", () => {
    const stamps = new Stamps(() => 1);
    stamps.after(7_000);
    expect(stamps.next()).toBe(7_001);
    for (const none of [Number.NaN, Infinity, toStamp(1e14)]) stamps.after(none);
    expect(stamps.next()).toBe(7_002);
  });
});

describe("artifacts of one scope", () => {
  const ADA: ArtifactScope = { tenant_id: "acme", user_id: "ada", session_id: "s1" };
  const BOB: ArtifactScope = { ...ADA, user_id: "bob" };
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  /** A store that records whose an artifact is and asks nobody for it. */
  function careless(): ArtifactStore {
    const store = new BareMemoryStore();
    const scopes = new Map<string, ArtifactScope>();
    const where = (id: string): ArtifactScope | undefined => scopes.get(id);
    return {
      putBytes: async (data, info) => noted(await store.putBytes(data, info)),
      putText: async (text, info) => noted(await store.putText(text, info)),
      get: (id) => store.get(id, where(id)),
      delete: (id) => store.delete(id, where(id)),
      exists: (id) => store.exists(id, where(id)),
      stat: (id) => store.stat(id, where(id)),
      update: (id, patch) => store.update(id, patch, where(id)),
      list: () => store.list(),
      openWriter: (info) => store.openWriter(info),
      openReader: (id, options) => store.openReader(id, { ...options, scope: where(id) ?? {} }),
      evict: (seen) => store.evict(seen),
    };
    function noted<T extends { readonly id: string; readonly scope: ArtifactScope }>(ref: T): T {
      scopes.set(ref.id, ref.scope);
      return ref;
    }
  }

  async function* failing(): AsyncIterable<Uint8Array> {
    yield bytes("half");
    throw new Error("the line went dead");
  }

  test("what is uploaded gets the scope, whatever the caller says, and comes back", async () => {
    const store = new MemoryArtifactStore();
    const artifacts = new ScopedArtifacts(store, ADA);
    const info = { filename: "a.txt", scope: BOB };
    const ref = await artifacts.upload("hello", info);
    expect(ref).toMatchObject({
      filename: "a.txt",
      mime_type: "text/plain",
      scope: { user_id: "ada", trace_id: null },
    });
    expect(await artifacts.download(ref.id)).toEqual(bytes("hello"));
    expect(await artifacts.download(ref.id, { range: { start: 1, end: 3 } })).toEqual(bytes("el"));
    expect(await new Response(await artifacts.open(ref.id)).text()).toBe("hello");
    expect(await artifacts.stat(ref.id)).toMatchObject({ id: ref.id, size_bytes: 5 });
    expect(await listed(artifacts.list())).toEqual([ref]);
  });

  test("an upload that fails leaves nothing", async () => {
    const store = new MemoryArtifactStore();
    const artifacts = new ScopedArtifacts(store, ADA);
    await expect(artifacts.upload(failing())).rejects.toThrow("the line went dead");
    await expect(artifacts.upload("x", { namespace: "a/b" })).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    expect(await listed(store.list())).toEqual([]);
  });

  test.each([
    ["that keeps scopes apart", () => new MemoryArtifactStore()],
    ["that only records scopes", careless],
  ])("over a store %s, another scope's id opens nothing, in the words of an unknown one", async (_, opening) => {
    const store = opening();
    const { id } = await new ScopedArtifacts(store, ADA).upload("secret", { filename: "salaries.txt" });
    const unknown = id.replace(/.{4}$/, "0000");
    for (const scope of [BOB, {}, { ...ADA, trace_id: "t" }, { ...ADA, session_id: null }]) {
      const theirs = new ScopedArtifacts(store, scope);
      const asks: readonly ((of: string) => Promise<unknown>)[] = [
        (of) => theirs.download(of),
        (of) => theirs.open(of),
        (of) => theirs.stat(of),
      ];
      for (const ask of asks) {
        const refused = await ask(id).catch((error: unknown) => error);
        const absent = await ask(unknown).catch((error: unknown) => error);
        expect(refused).toMatchObject({
          code: "E_NOT_FOUND",
          message: String(absent).replace("SluiceError: ", "").replace(unknown, id),
        });
        expect(String(refused)).not.toMatch(/ada|acme|s1|salaries/);
      }
      expect(await theirs.delete(id)).toBe(false);
      expect(await listed(theirs.list())).toEqual([]);
    }
    expect(await new ScopedArtifacts(store, ADA).delete(id)).toBe(true);
  });

  test("strange ids are not repeated in errors", async () => {
    const artifacts = new ScopedArtifacts(new MemoryArtifactStore(), ADA);
    for (const id of ["../../etc/passwd", "\u001b[2J", "x".repeat(100_000), "<script>"]) {
      const error = await artifacts.download(id).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "E_NOT_FOUND" });
      expect(String(error).length).toBeLessThan(200);
      expect(String(error)).not.toContain(id);
    }
  });

  test("an expired artifact says so, and not to retry", async () => {
    let now = 0;
    const artifacts = new ScopedArtifacts(new MemoryArtifactStore({ clock: () => now }), ADA);
    const { id } = await artifacts.upload("old");
    now = 3_600_000;
    const error = await artifacts.download(id).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "E_EXPIRED", message: expect.stringContaining("Do not retry") as unknown });
  });

  test.each([null, "ada", { user_id: 7 }])("scope %j is refused", (scope) => {
    expect(() => new ScopedArtifacts(new MemoryArtifactStore(), scope as ArtifactScope)).toThrow(
      expect.objectContaining({ code: "E_INVALID_ARGUMENT" }),
    );
  });

  /** One user's view is what it is when nobody else is there. */
  test("whatever others do in their scopes, a scope holds what was done in it", async () => {
    expect.hasAssertions();
    const field = fc.constantFrom(undefined, null, "", "a", "b");
    const scope = fc.record({
      tenant_id: field,
      user_id: field,
      session_id: field,
      trace_id: field,
    }) as fc.Arbitrary<ArtifactScope>;
    const act = fc.record({
      scope: fc.nat(5),
      do: fc.constantFrom("upload", "upload", "delete", "steal", "rename"),
      text: fc.constantFrom("x", "y", "z"),
      filename: fc.constantFrom("one", "two", null),
    });
    const holds = async (
      scopes: readonly ArtifactScope[],
      acts: readonly (typeof act extends fc.Arbitrary<infer A> ? A : never)[],
    ): Promise<void> => {
      const shared = new MemoryArtifactStore();
      const alone = new Map<string, MemoryArtifactStore>();
      for (const made of acts) {
        const own = scopes[made.scope % scopes.length] ?? {};
        const key = scopeKey(own);
        const mine = alone.get(key) ?? new MemoryArtifactStore();
        alone.set(key, mine);
        const outcomes = [];
        for (const store of [shared, mine])
          outcomes.push(await done(new ScopedArtifacts(store, own), store, own, made));
        expect(outcomes[0]).toEqual(outcomes[1]);
      }
      for (const own of scopes) {
        const mine = alone.get(scopeKey(own)) ?? new MemoryArtifactStore();
        expect(await listed(new ScopedArtifacts(shared, own).list())).toEqual(await listed(mine.list(own)));
      }
      for await (const { scope: of } of shared.list()) expect(scopes.some((each) => sameScope(each, of))).toBe(true);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(scope, { minLength: 2, maxLength: 6 }), fc.array(act, { maxLength: 30 }), holds),
      {
        numRuns: 200,
      },
    );
  });

  interface Act {
    readonly do: string;
    readonly text: string;
    readonly filename: string | null;
  }

  async function done(
    artifacts: ScopedArtifacts,
    store: ArtifactStore,
    scope: ArtifactScope,
    act: Act,
  ): Promise<unknown> {
    const id = (await new BareMemoryStore().putText(act.text)).id;
    switch (act.do) {
      case "upload":
        return artifacts.upload(act.text, { filename: act.filename });
      case "delete":
        return artifacts.delete(id);
      case "rename":
        return store.update(id, { filename: act.filename }, scope);
      default:
        return artifacts.download(id).catch((error: unknown) => String(error));
    }
  }
});

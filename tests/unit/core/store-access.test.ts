/** A store that never answers holds nobody for long, and nobody at all who can say that it is enough. */
import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import type { RetentionConfig } from "../../../web/src/config/types.js";
import { STORE_SILENCE, StoreAccess, StoreSilentError, limitStoreTime } from "../../../web/src/core/store-access.js";
import { createSluice, type Sluice } from "../../../web/src/index.js";
import { type Call, faulty, Latch, type Watched } from "./faulty-store.js";
import { base64, longestRun, opened as openedSluice, PDF, PNG, prose, refsIn } from "./samples.js";

describe("access to a store", () => {
  const ENOUGH = new Error("the user left");
  const INPUT = {
    content: [
      { type: "text", text: `${prose(12_000)} ${base64(PDF)}` },
      { type: "image", data: "ACGT".repeat(20_000), mimeType: "image/png" },
      { type: "resource_link", uri: "file:///a.txt", name: "a", size: 500 },
    ],
  };
  const never = (): Promise<never> => new Promise(() => undefined);

  interface Hanging extends Watched {
    readonly sluice: Sluice;
    /** Lets go of what hangs. */
    release(): void;
    /** Settles when something hangs. */
    readonly hung: Promise<void>;
  }

  const config = { resources: { auto_read_if_size_under_bytes: 1_000_000 } };
  const readResource = (uri: string): Promise<unknown> => Promise.resolve({ contents: [{ uri, text: "short" }] });

  /** Hangs at the first of one kind of call. */
  async function hangingAt(kind: Call): Promise<Hanging> {
    const [held, hung] = [new Latch(), new Latch()];
    let hangs = true;
    const watched = faulty(new MemoryArtifactStore(), (call) => {
      if (!hangs || call !== kind) return undefined;
      hangs = false;
      hung.release();
      return held.released;
    });
    const sluice = await createSluice({ store: watched.store, config });
    return { ...watched, sluice, hung: hung.released, release: held.release };
  }

  /** Aborts once something hangs, and tells how long the end took from then on, in milliseconds. */
  async function ended(all: Hanging, work: (signal: AbortSignal) => Promise<unknown>): Promise<number> {
    const control = new AbortController();
    const working = work(control.signal).catch((error: unknown) => error);
    await all.hung;
    const from = performance.now();
    control.abort(ENOUGH);
    expect(await working).toBe(ENOUGH);
    return performance.now() - from;
  }

  describe.each(["openWriter", "write", "close", "update", "openReader", "read", "putText"] as const)(
    "a store that hangs at %s",
    (kind) => {
      test("is left when the signal says so, and the next result is none the worse", async () => {
        const all = await hangingAt(kind);
        const took = await ended(all, (signal) => all.sluice.transform(INPUT, { signal, readResource }));
        expect(took).toBeLessThan(1_500);
        const next = await all.sluice.transform(INPUT, { readResource });
        expect(next.failures).toEqual([]);
        const alone = await createSluice({ store: new MemoryArtifactStore(), config });
        expect(next.text).toBe((await alone.transform(INPUT, { readResource })).text);
      });

      test("leaves nothing half-written once it wakes up", async () => {
        const all = await hangingAt(kind);
        await ended(all, (signal) => all.sluice.transform(INPUT, { signal, readResource }));
        all.release();
        // whatever it does then, it does not take long
        await setTimeout(30);
        await expect.poll(() => all.open.size).toBe(0);
      });
    },
  );

  test("bytes that a hanging store was given stay what they were", async () => {
    const memory = new MemoryArtifactStore();
    const held = new Latch();
    let given: Uint8Array | undefined;
    const { store } = faulty(memory, () => undefined);
    const openWriter = store.openWriter.bind(store);
    store.openWriter = async (info) => {
      const writer = await openWriter(info);
      if (given !== undefined) return writer;
      return Object.assign(Object.create(writer) as typeof writer, {
        abort: never,
        write: async (chunk: Uint8Array): Promise<void> => {
          given ??= chunk;
          await held.released;
        },
      });
    };
    const sluice = await createSluice({ store });
    const control = new AbortController();
    const working = sluice.transform({ pdf: base64(PDF) }, { signal: control.signal });
    await expect.poll(() => given).toBeDefined();
    const before = Buffer.from(given ?? []);
    control.abort(ENOUGH);
    await expect(working).rejects.toBe(ENOUGH);
    for (let n = 0; n < 5; n++) await sluice.transform({ png: base64(PNG), log: prose(40_000) });
    expect(Buffer.from(given ?? []).equals(before)).toBe(true);
    held.release();
  });

  test("what was cleaned up in time is not given up later", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const access = new StoreAccess({ store: new MemoryArtifactStore(), onFailure: "answer" }, undefined);
    await access.clear(() => Promise.resolve());
    await vi.advanceTimersByTimeAsync(2 * STORE_SILENCE.look);
    expect([access.isAbandoned, await access.call("read", () => Promise.resolve("answered"))]).toEqual([
      false,
      "answered",
    ]);
  });

  test("a resource that never comes is left as well", async () => {
    const all = await hangingAt("delete");
    const control = new AbortController();
    const working = all.sluice.transform(INPUT, { signal: control.signal, readResource: never });
    await setTimeout(30);
    control.abort(ENOUGH);
    await expect(working).rejects.toBe(ENOUGH);
    expect(all.open.size).toBe(0);
  });

  test("a stream ends while it is closed", async () => {
    const all = await hangingAt("close");
    await ended(all, async (signal) => {
      await using stream = all.sluice.open({ signal });
      await stream.write(Buffer.from(JSON.stringify(INPUT)));
      await stream.close();
    });
    all.release();
    await expect.poll(() => all.open.size).toBe(0);
  });

  test("a signal that is aborted late is nothing to an answer that came", async () => {
    const control = new AbortController();
    const { store, sluice } = await openedSluice();
    const { artifacts } = await sluice.transform(INPUT, { signal: control.signal });
    control.abort(ENOUGH);
    expect((await refsIn(store)).length).toBeGreaterThanOrEqual(artifacts.length);
  });

  /** From the first call of a kind on it never answers; what else fails is said by `fails`. */
  async function hanging(kind: Call, onStoreFailure: "answer" | "throw" = "answer", fails?: Call): Promise<Sluice> {
    Object.assign(STORE_SILENCE, { bytes: 200, look: 100 });
    const { store } = faulty(new MemoryArtifactStore(), (call) => {
      if (call === fails) throw new Error("EIO");
      return call === kind ? never() : undefined;
    });
    return createSluice({ store, config, onStoreFailure });
  }

  describe("a store that hangs where nobody can say that it is enough", () => {
    const patient = { ...STORE_SILENCE };
    afterEach(() => void Object.assign(STORE_SILENCE, patient));

    const late = { message: expect.stringContaining("did not answer in time") };

    test.each(["openWriter", "write", "close", "update", "openReader", "read", "putText"] as const)(
      "at %s: it is waited for once, then it is one that fails",
      async (kind) => {
        const sluice = await hanging(kind);
        const from = performance.now();
        const answer = await sluice.transform(INPUT, { readResource });
        expect(performance.now() - from).toBeLessThan(2_000);
        expect(answer.text).toContain("short");
        expect(longestRun(answer.text)).toBeLessThan(500);
        expect(answer.failures).toMatchObject([late]);
      },
    );

    test.each(["openWriter", "write", "close", "update"] as const)(
      "at %s, and failures are thrown: a coded error is",
      async (kind) => {
        const sluice = await hanging(kind, "throw");
        const told = { code: "E_STORE_WRITE", ...late };
        await expect(sluice.transform(INPUT, { readResource })).rejects.toMatchObject(told);
      },
    );

    test("at a last look at what is stored: that says nothing of it", async () => {
      const sluice = await hanging("stat");
      const { artifacts, failures } = await sluice.transform({ pdf: base64(PDF), png: base64(PNG) });
      expect(artifacts.map(({ source }) => source["truncated"])).toEqual([undefined, undefined]);
      expect(failures).toEqual([]);
    });

    test("while it throws away what it failed to write: the answer does not wait for that", async () => {
      const sluice = await hanging("abort", "answer", "write");
      const { artifacts, failures } = await sluice.transform({ pdf: base64(PDF), png: base64(PNG) });
      expect(artifacts.map(({ source }) => source["truncated"])).toEqual([true, true]);
      expect(failures).toHaveLength(2);
    });

    test("and a slow one, which answers each time, is waited for", async () => {
      Object.assign(STORE_SILENCE, { bytes: 200, look: 200 });
      const { store } = faulty(new MemoryArtifactStore(), () => setTimeout(40));
      const sluice = await createSluice({ store, config });
      const from = performance.now();
      expect((await sluice.transform(INPUT, { readResource })).failures).toEqual([]);
      expect(performance.now() - from).toBeGreaterThan(200);
    });
  });

  // `limitStoreTime` alone: every call ends, and what comes too late is let go.

  const LIMITS = { bytes: 50, look: 50 };
  const BYTES = new TextEncoder().encode("bytes");

  async function listed(store: ArtifactStore): Promise<readonly unknown[]> {
    const all: unknown[] = [];
    for await (const each of store.list()) all.push(each);
    return all;
  }

  async function written(store: ArtifactStore): Promise<unknown> {
    await using writer = await store.openWriter();
    await writer.write(BYTES);
    return await writer.close();
  }

  async function read(store: ArtifactStore, id: string): Promise<string> {
    return new Response(await store.openReader(id)).text();
  }

  const CALLS: readonly [Call, (store: ArtifactStore, id: string) => Promise<unknown>][] = [
    ["putBytes", (store) => store.putBytes(BYTES)],
    ["putText", (store) => store.putText("text")],
    ["get", (store, id) => store.get(id)],
    ["stat", (store, id) => store.stat(id)],
    ["exists", (store, id) => store.exists(id)],
    ["update", (store, id) => store.update(id, { filename: "a.txt" })],
    ["delete", (store, id) => store.delete(id)],
    ["openWriter", written],
    ["write", written],
    ["close", written],
    ["openReader", read],
    ["read", read],
    ["list", listed],
  ];

  describe("a store", () => {
    test.each(CALLS)("that hangs at %s fails in time", async (call, work) => {
      const inner = new MemoryArtifactStore();
      const { id } = await inner.putBytes(BYTES);
      const silent = faulty(inner, (each) => (each === call ? new Promise(() => undefined) : undefined));
      await expect(work(limitStoreTime(silent.store, LIMITS), id)).rejects.toBeInstanceOf(StoreSilentError);
    });

    test.each(CALLS)("that answers is not changed: %s", async (_, work) => {
      const stores = [new MemoryArtifactStore(), new MemoryArtifactStore()].map((inner) =>
        faulty(inner, () => undefined),
      );
      const plain = stores[0]?.store as ArtifactStore;
      const timed = limitStoreTime(stores[1]?.store as ArtifactStore, LIMITS);
      const results = [plain, timed].map(async (store) => {
        const { id } = await store.putBytes(BYTES);
        const result = (await work(store, id)) as { readonly stored_at?: number; readonly used_at?: number } | string;
        return JSON.stringify(result, (key, value: unknown) => (/_at$|^id$/.test(key) ? "" : value));
      });
      expect(await results[1]).toBe(await results[0]);
    });

    test("fails with whatever its own failure is", async () => {
      const { store } = faulty(new MemoryArtifactStore(), () => {
        throw Object.assign(new Error("full"), { code: "ENOSPC" });
      });
      await expect(limitStoreTime(store, LIMITS).putBytes(BYTES)).rejects.toMatchObject({ code: "E_STORE_FULL" });
    });
  });

  test("a writer that comes too late is aborted", async () => {
    const latch = new Latch();
    const silent = faulty(new MemoryArtifactStore(), (call) => (call === "openWriter" ? latch.released : undefined));
    await expect(limitStoreTime(silent.store, LIMITS).openWriter()).rejects.toBeInstanceOf(StoreSilentError);
    latch.release();
    await vi.waitFor(() => expect(silent.calls).toContain("abort"));
    expect(silent.open.size).toBe(0);
  });
});

/** The limits of a store: each that a configuration names is kept, and what a result loses by them is said. */
describe("retention", () => {
  const scope = { session_id: "s", trace_id: "t" };
  const FIVE = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`part${n}`, `${n}${prose(19_999)}`]));

  async function opened(retention: RetentionConfig): Promise<{ store: MemoryArtifactStore; sluice: Sluice }> {
    const store = new MemoryArtifactStore();
    return { store, sluice: await createSluice({ store, config: { retention } }) };
  }

  describe.each(["observation", "mcp"] as const)("in the %s dialect", (dialect) => {
    test.each<[string, RetentionConfig, boolean[]]>([
      ["a limit of artifacts", { max_artifacts_per_trace: 2 }, [true, true, true, false, false]],
      ["a limit of bytes", { max_trace_bytes: 45_000 }, [true, true, true, false, false]],
      [
        "a limit that makes no room",
        { max_trace_bytes: 45_000, cleanup_strategy: "none" },
        [false, false, true, true, true],
      ],
      ["no limit", {}, [false, false, false, false, false]],
    ])("five artifacts meet %s at the third", async (_, retention, truncated) => {
      const { store, sluice } = await opened(retention);
      const { artifacts, failures, value, text } = await sluice.transform(FIVE, { dialect, scope });
      expect(artifacts.map(({ source }) => source["truncated"] === true)).toEqual(truncated);
      const kept = await Promise.all(artifacts.map(({ id }) => store.exists(id, scope)));
      expect(kept).toEqual(truncated.map((is) => !is));
      const isFull = truncated.includes(true);
      expect(failures).toMatchObject(isFull ? [{ code: "E_STORE_FULL" }] : []);
      expect(text.includes("truncated_")).toBe(isFull);
      const restored = await sluice.restore(value, { scope }).catch((error: unknown) => error);
      const outcome = isFull ? { code: "E_NOT_FOUND" } : FIVE;
      expect(restored).toMatchObject(dialect === "mcp" ? outcome : (value as object));
    });
  });

  test("where failures are thrown, this one is", async () => {
    const config = { retention: { max_artifacts_per_trace: 2 } };
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config, onStoreFailure: "throw" });
    await expect(sluice.transform(FIVE, { scope })).rejects.toMatchObject({ code: "E_STORE_FULL" });
  });

  test("the hash and the size of what is gone are those it had, and where its references stood is not told", async () => {
    const { sluice } = await opened({ max_artifacts_per_trace: 1 });
    const { artifacts } = await sluice.transform(FIVE, { scope });
    const [gone] = artifacts;
    const size = Buffer.byteLength(String(FIVE["part1"]));
    expect(gone).toMatchObject({ size_bytes: size, source: { truncated: true, original_size: size } });
    expect(gone?.id).toBe(`truncated_${gone?.sha256?.slice(0, 12)}`);
    expect(gone?.source["warning"]).toMatch(/^Content not stored\. .*\(E_STORE_FULL\)/);
  });

  test("an artifact that is gone before its next answer is not referred to, though it is the only one", async () => {
    const inner = new MemoryArtifactStore();
    const { store } = faulty(inner, async (call) => {
      if (call !== "update") return;
      for await (const { id } of inner.list(scope)) await inner.delete(id, scope);
    });
    const sluice = await createSluice({ store });
    const block = {
      type: "resource",
      resource: { uri: "file:///report.pdf", blob: base64(PDF), mimeType: "application/pdf" },
    };
    await using stream = sluice.open({ scope, tool: "report" });
    await stream.write(new TextEncoder().encode(JSON.stringify({ content: [block] })));
    await using gated = await stream.end();
    const first = await gated.answer();
    expect(first).toMatchObject({ artifacts: [{ filename: "report.pdf" }], failures: [] });
    const { artifacts, failures } = await gated.answer({ tool: "reports" });
    expect(artifacts.map(({ source }) => source["truncated"])).toEqual([true]);
    expect(failures).toMatchObject([{ code: "E_STORE_FULL" }]);
  });

  const ADA = { tenant_id: "acme", user_id: "ada", session_id: "s", trace_id: "t" };

  /** Texts of about these lengths. */
  const parts = (sizes: readonly number[]): unknown => sizes.map((size, at) => `${at}${prose(size)}`);

  describe("limits that a configuration names are kept", () => {
    test.each<[keyof RetentionConfig, RetentionConfig]>([
      ["max_artifact_bytes", { max_artifact_bytes: 20_000 }],
      ["max_trace_bytes", { max_trace_bytes: 50_000 }],
      ["max_session_bytes", { max_session_bytes: 50_000 }],
      ["max_artifacts_per_trace", { max_artifacts_per_trace: 2 }],
      ["max_artifacts_per_session", { max_artifacts_per_session: 2 }],
      ["max_namespace_bytes", { max_namespace_bytes: 50_000 }],
      ["max_total_bytes", { max_total_bytes: 50_000 }],
    ])("%s", async (key, limit) => {
      const config = { retention: { ...limit, cleanup_strategy: "none" } } as const;
      const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
      const { artifacts, failures } = await sluice.transform(parts([15_000, 15_000, 25_000]), { scope: ADA });
      expect(artifacts.map(({ source }) => source["truncated"] === true)).toEqual([false, false, true]);
      expect(failures).toMatchObject([{ path: `retention.${key}` }]);
    });

    test.each(["stored", "used"] as const)("ttl_seconds and ttl_from: %s", async (ttl_from) => {
      let now = 0;
      const store = new MemoryArtifactStore({ clock: () => now });
      const sluice = await createSluice({ store, config: { retention: { ttl_seconds: 60, ttl_from } } });
      const original = { log: prose(30_000) };
      const { value } = await sluice.transform(original, { dialect: "mcp", scope: ADA });
      now = 59_999;
      expect(await sluice.restore(value, { scope: ADA })).toEqual(original);
      now = 60_000;
      const later = await sluice.restore(value, { scope: ADA }).catch((error: unknown) => error);
      const expired: unknown = expect.objectContaining({ code: "E_EXPIRED" });
      expect(later).toEqual(ttl_from === "used" ? original : expired);
    });
  });
});

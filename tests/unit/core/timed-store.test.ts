/** A store that hangs, behind limits of time: every call ends, and what comes too late is let go. */
import { describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { StoreSilentError, timedStore } from "../../../web/src/core/store-access.js";
import { faulty, Latch, type Call } from "./faulty-store.js";

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
    const hanging = faulty(inner, (each) => (each === call ? new Promise(() => undefined) : undefined));
    await expect(work(timedStore(hanging.store, LIMITS), id)).rejects.toBeInstanceOf(StoreSilentError);
  });

  test.each(CALLS)("that answers is not changed: %s", async (_, work) => {
    const stores = [new MemoryArtifactStore(), new MemoryArtifactStore()].map((inner) =>
      faulty(inner, () => undefined),
    );
    const plain = stores[0]?.store as ArtifactStore;
    const timed = timedStore(stores[1]?.store as ArtifactStore, LIMITS);
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
    await expect(timedStore(store, LIMITS).putBytes(BYTES)).rejects.toMatchObject({ code: "E_STORE_FULL" });
  });
});

test("a writer that comes too late is aborted", async () => {
  const latch = new Latch();
  const hanging = faulty(new MemoryArtifactStore(), (call) => (call === "openWriter" ? latch.released : undefined));
  await expect(timedStore(hanging.store, LIMITS).openWriter()).rejects.toBeInstanceOf(StoreSilentError);
  latch.release();
  await vi.waitFor(() => expect(hanging.calls).toContain("abort"));
  expect(hanging.open.size).toBe(0);
});

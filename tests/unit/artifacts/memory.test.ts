import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BareMemoryStore, MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import { ScopedArtifacts } from "../../../web/src/artifacts/scoped.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { listed, streamed, noise } from "./bytes.js";
import { holds, step } from "./contract/model.js";
import { describeStore, type Subject } from "./store-contract.js";

function subjectOf(store: ArtifactStore): Subject {
  return {
    store,
    contents: async () => new Set((await listed(store.list())).map((ref) => ref.sha256)).size,
    dispose: async () => undefined,
  };
}

describeStore("MemoryArtifactStore", async (options = {}) => subjectOf(new MemoryArtifactStore(options)));
describeStore("MemoryArtifactStore without limits", async (options = {}) => subjectOf(new BareMemoryStore(options)));

test("a memory store has the default limits unless it is told otherwise", async () => {
  const large = new Uint8Array(50 * 1024 * 1024 + 1);
  await expect(new MemoryArtifactStore().putBytes(large)).rejects.toMatchObject({ code: "E_TOO_LARGE" });
  expect((await new MemoryArtifactStore().putBytes(large.subarray(1))).size_bytes).toBe(50 * 1024 * 1024);
  expect((await new MemoryArtifactStore({ retention: null }).putBytes(large)).size_bytes).toBe(large.byteLength);
});

test("an hour later it is gone", async () => {
  let now = 0;
  const store = new MemoryArtifactStore({ clock: () => now });
  const { id } = await store.putText("x");
  now = 3_599_999;
  expect(await store.exists(id)).toBe(true);
  now = 3_600_000;
  expect(await store.exists(id)).toBe(false);
  expect(await listed(store.list())).toEqual([]);
});

test("the memory store does what the model does", async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) => holds(new MemoryArtifactStore(), steps)),
    { numRuns: 100 },
  );
});

const quiet = { warn: (): void => undefined };

test("a put says that nothing was stored, once aloud and always in the ref", async () => {
  const warnings: string[] = [];
  const store = new NoOpArtifactStore({ warn: (message) => void warnings.push(message) });
  const data = noise(5000);
  const sha = createHash("sha256").update(data).digest("hex");
  const ref = await store.putBytes(data, { mime_type: "application/pdf", namespace: "tableau", source: { tool: "t" } });
  expect(ref).toMatchObject({
    id: `truncated_${sha.slice(0, 12)}`,
    mime_type: "application/pdf",
    size_bytes: 5000,
    sha256: sha,
    namespace: "tableau",
  });
  expect(ref.source).toEqual({
    tool: "t",
    warning: "Content not stored (no ArtifactStore configured)",
    truncated: true,
    original_size: 5000,
  });
  await store.putText("more");
  await streamed(store, data, [100]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/createSluice/);
});

test("a writer gives the ref that a put gives", async () => {
  const store = new NoOpArtifactStore(quiet);
  const data = noise(100_000);
  expect(await streamed(store, data, [999, 1, 30_000])).toEqual(await store.putBytes(data));
  const writer = await store.openWriter({ filename: "a" });
  expect(await writer.close({ filename: "b" })).toMatchObject({ filename: "b", size_bytes: 0 });
  await expect(writer.write(data)).rejects.toMatchObject({ code: "E_STORE_CLOSED" });
  await writer[Symbol.asyncDispose]();
});

test("text has its type, and nothing is ever found", async () => {
  const store = new NoOpArtifactStore(quiet);
  const { id, mime_type, size_bytes } = await store.putText("grün");
  expect({ mime_type, size_bytes }).toEqual({ mime_type: "text/plain", size_bytes: 5 });
  expect(id).toMatch(/^truncated_/);
  expect(await store.get()).toBeNull();
  expect(await store.stat()).toBeNull();
  expect(await store.exists()).toBe(false);
  expect(await store.delete()).toBe(false);
  expect(await store.update()).toBeNull();
  expect(await store.openReader()).toBeNull();
  expect(await listed(store.list())).toEqual([]);
});

test("what no store can take is refused here too", async () => {
  const store = new NoOpArtifactStore(quiet);
  const refused = { code: "E_INVALID_ARGUMENT" };
  await expect(store.putText("x", { namespace: "../x" })).rejects.toMatchObject(refused);
  await expect(store.openWriter({ namespace: "a b" })).rejects.toMatchObject(refused);
});

/** What no store stands behind is refused as any store would refuse it. */
const REFUSED = { code: "E_INVALID_ARGUMENT" };

test("a store that keeps nothing refuses the same bytes and texts, before it warns", async () => {
  const warnings: string[] = [];
  const store = new NoOpArtifactStore({ warn: (message) => void warnings.push(message) });
  for (const value of ["hello", null, new Uint16Array(2), new ArrayBuffer(2)] as unknown as Uint8Array[]) {
    await expect(store.putBytes(value)).rejects.toMatchObject({ ...REFUSED, path: "data" });
  }
  await expect(store.putText(5 as unknown as string)).rejects.toMatchObject({ ...REFUSED, path: "text" });
  expect(warnings).toEqual([]);
  const writer = await store.openWriter();
  await expect(writer.write("x" as unknown as Uint8Array)).rejects.toMatchObject({ ...REFUSED, path: "chunk" });
});

test("limits and scopes are put around stores only", () => {
  for (const none of [null, undefined, {}, 5] as unknown as ArtifactStore[]) {
    expect(() => new RetainingArtifactStore(none)).toThrow(expect.objectContaining({ ...REFUSED, path: "store" }));
    expect(() => new ScopedArtifacts(none, {})).toThrow(expect.objectContaining({ ...REFUSED, path: "store" }));
  }
});

test("an upload is bytes, a text or a stream of bytes", async () => {
  const store = new MemoryArtifactStore();
  const artifacts = new ScopedArtifacts(store, { user_id: "ada" });
  for (const value of [5, null, undefined, {}, new ArrayBuffer(2)] as unknown as Uint8Array[]) {
    await expect(artifacts.upload(value)).rejects.toMatchObject({ ...REFUSED, path: "data" });
  }
  for (const chunks of [[1, 2], ["a", "b"], new Response("x").body?.pipeThrough(new TextDecoderStream())]) {
    const upload = artifacts.upload(chunks as unknown as ReadableStream<Uint8Array>);
    await expect(upload).rejects.toMatchObject({ ...REFUSED, path: "chunk" });
  }
  await expect(artifacts.upload("x", null as unknown as {})).rejects.toMatchObject({ ...REFUSED, path: "info" });
  expect(await listed(store.list())).toEqual([]);
});

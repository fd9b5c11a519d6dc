/** What no store stands behind is refused as any store would refuse it. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import { ScopedArtifacts } from "../../../web/src/artifacts/scoped.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { listed } from "./bytes.js";

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

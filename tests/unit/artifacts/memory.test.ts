import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BareMemoryStore, MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { listed } from "./bytes.js";
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

import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import { listed, streamed } from "./bytes.js";
import { noise } from "./noise.js";

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

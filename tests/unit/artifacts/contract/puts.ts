/** Contract: bytes in and out, and what is said of them. */
import { describe, expect, test } from "vitest";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { drained, hashOf, listed, same, undated, noise } from "../bytes.js";
import type { Subject } from "../store-contract.js";

const A: ArtifactScope = { session_id: "a" };
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

export function contractOfPutting(subject: () => Subject): void {
  const store = (): ArtifactStore => subject().store;

  describe("put and get", () => {
    test("bytes come back, and the ref says what they are", async () => {
      const data = noise(1000);
      const ref = await store().putBytes(data, {
        mime_type: "application/pdf",
        filename: "a.pdf",
        namespace: "tableau",
        scope: A,
        source: { tool: "download", depth: [1, { two: null }] },
      });
      const sha = await hashOf(data);
      expect(ref).toEqual({
        id: `tableau_${sha.slice(0, 12)}`,
        mime_type: "application/pdf",
        size_bytes: 1000,
        filename: "a.pdf",
        sha256: sha,
        scope: { tenant_id: null, user_id: null, session_id: "a", trace_id: null },
        namespace: "tableau",
        source: { tool: "download", depth: [1, { two: null }] },
      });
      expect(same(await store().get(ref.id, A), data)).toBe(true);
      expect(undated(await store().stat(ref.id, A))).toEqual(ref);
      expect(await store().exists(ref.id, A)).toBe(true);
    });

    test("what is not said has a default", async () => {
      const ref = await store().putBytes(text("x"));
      expect(ref).toMatchObject({ mime_type: null, filename: null, namespace: "artifact", source: {} });
      expect(ref.id).toMatch(/^artifact_[0-9a-f]{12}$/);
    });

    test("text is UTF-8", async () => {
      const ref = await store().putText("grüße 🌊\0");
      expect(ref).toMatchObject({ mime_type: "text/plain", size_bytes: text("grüße 🌊\0").byteLength });
      expect(await store().get(ref.id)).toEqual(text("grüße 🌊\0"));
      expect((await store().putText("{}", { mime_type: "application/json" })).mime_type).toBe("application/json");
    });

    test("an empty artifact is an artifact", async () => {
      const ref = await store().putBytes(new Uint8Array());
      expect(ref).toMatchObject({ size_bytes: 0, sha256: await hashOf(new Uint8Array()) });
      expect(await store().get(ref.id)).toEqual(new Uint8Array());
      expect(await drained(await store().openReader(ref.id))).toEqual(new Uint8Array());
      expect(await (await store().openWriter({ namespace: "w" })).close()).toMatchObject({ size_bytes: 0 });
    });

    test("callers cannot change what is stored", async () => {
      const data = noise(70_000);
      const source = { tool: "t" };
      const ref = await store().putBytes(data, { source });
      const kept = data.slice();
      data.fill(0);
      source.tool = "changed";
      (await store().get(ref.id))?.fill(0);
      Object.assign(ref.source, { tool: "changed" });
      Object.assign(ref.scope, { user_id: "changed" });
      expect(same(await store().get(ref.id), kept)).toBe(true);
      expect(await store().stat(ref.id)).toMatchObject({ source: { tool: "t" }, scope: { user_id: null } });
    });

    test("the same content again is the same artifact, and the newer name wins", async () => {
      const first = await store().putText("same", { filename: "one.txt", source: { tool: "t" } });
      expect(await store().putText("same")).toEqual(first);
      expect(await store().putText("same", { filename: "two.txt" })).toEqual({ ...first, filename: "two.txt" });
      expect(await listed(store().list())).toEqual([{ ...first, filename: "two.txt" }]);
    });

    test("namespaces keep refs to one content apart", async () => {
      const [one, two] = [
        await store().putText("x", { namespace: "Ab" }),
        await store().putText("x", { namespace: "ab" }),
      ];
      expect(one.id).not.toBe(two.id);
      expect(await store().delete(one.id)).toBe(true);
      expect(await store().stat(one.id)).toBeNull();
      expect(undated(await store().stat(two.id))).toEqual(two);
    });
  });

  describe("update and delete", () => {
    test("a patch changes what it names and nothing else", async () => {
      const ref = await store().putText("x", { filename: "a", source: { a: 1 } });
      expect(await store().update(ref.id, { filename: null })).toEqual({ ...ref, filename: null });
      expect(await store().update(ref.id, { source: { b: 2 } })).toEqual({ ...ref, filename: null, source: { b: 2 } });
      expect(undated(await store().stat(ref.id))).toEqual({ ...ref, filename: null, source: { b: 2 } });
      expect(await store().get(ref.id)).toEqual(text("x"));
      expect(await store().update("artifact_000000000000", { filename: "x" })).toBeNull();
    });

    test("deleting is once, and storing again brings it back", async () => {
      const ref = await store().putText("x");
      const outcomes = await Promise.all([store().delete(ref.id), store().delete(ref.id)]);
      expect(outcomes.toSorted()).toEqual([false, true]);
      expect(await store().exists(ref.id)).toBe(false);
      expect(await store().openReader(ref.id)).toBeNull();
      expect(await listed(store().list())).toEqual([]);
      expect(await store().putText("x")).toEqual(ref);
      expect(await store().get(ref.id)).toEqual(text("x"));
    });
  });
}

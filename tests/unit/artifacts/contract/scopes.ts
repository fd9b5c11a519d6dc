/** Contract: whose an artifact is, and what it is called. */
import { describe, expect, test } from "vitest";
import { sha256 } from "#hash";
import type { Hashing } from "../../../../web/src/artifacts/hash.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { listed, undated } from "../bytes.js";
import type { OpenSubject, Subject } from "../store-contract.js";

const A: ArtifactScope = { session_id: "a" };
const B: ArtifactScope = { session_id: "b" };
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** A hash under which the first 12 digits of all contents collide. */
const colliding: Hashing = {
  whole: async (data) => blunt(await sha256.whole(data)),
  stream: async () => {
    const hash = await sha256.stream();
    return { update: (chunk) => hash.update(chunk), digest: () => blunt(hash.digest()) };
  },
};
const blunt = (digest: string): string => "0".repeat(12) + digest.slice(12);

export function contractOfScoping(subject: () => Subject): void {
  const store = (): ArtifactStore => subject().store;

  describe("scopes", () => {
    test("the same content in two scopes is stored once, and neither sees the other", async () => {
      const mine = await store().putText("shared", { scope: A, filename: "mine.txt" });
      const theirs = await store().putText("shared", { scope: B, filename: "theirs.txt" });
      expect(mine.id).toBe(theirs.id);
      expect(await subject().contents()).toBe(1);

      await store().update(mine.id, { filename: "renamed.txt", mime_type: null }, A);
      expect(undated(await store().stat(theirs.id, B))).toEqual(theirs);
      expect(await store().delete(mine.id, A)).toBe(true);
      expect(await store().get(mine.id, A)).toBeNull();
      expect(await store().get(theirs.id, B)).toEqual(text("shared"));
      expect(await store().delete(theirs.id, B)).toBe(true);
      expect(await subject().contents()).toBe(0);
    });

    test("null matches only null", async () => {
      const ref = await store().putText("x", { scope: A });
      const others: (ArtifactScope | undefined)[] = [
        undefined,
        {},
        { session_id: null },
        { user_id: "a" },
        { ...A, trace_id: "t" },
        { session_id: "" },
      ];
      for (const scope of others) {
        expect(await store().get(ref.id, scope)).toBeNull();
        expect(await store().exists(ref.id, scope)).toBe(false);
        expect(await store().stat(ref.id, scope)).toBeNull();
        expect(await store().update(ref.id, { filename: "x" }, scope)).toBeNull();
        expect(await store().openReader(ref.id, scope === undefined ? {} : { scope })).toBeNull();
        expect(await store().delete(ref.id, scope)).toBe(false);
      }
      const open = await store().putText("y");
      expect(await store().get(open.id, { tenant_id: null, user_id: null })).toEqual(text("y"));
      expect(await store().get(open.id, A)).toBeNull();
      expect(undated(await store().stat(ref.id, { ...A, tenant_id: null }))).toEqual(ref);
    });

    test("list gives one scope or all, oldest first", async () => {
      const refs: ArtifactRef[] = [];
      for (let turn = 0; turn < 12; turn++)
        refs.push(await store().putText(`text ${turn}`, { scope: turn % 2 ? A : B }));
      expect(await listed(store().list())).toEqual(refs);
      expect(await listed(store().list(B))).toEqual(refs.filter((_, turn) => turn % 2 === 0));
      expect(await listed(store().list({}))).toEqual([]);
    });
  });
}

export function contractOfIds(opening: OpenSubject): void {
  describe("ids", () => {
    test("are longer where two contents in one scope would share one", async () => {
      const other = await opening({ hashing: colliding });
      try {
        const [one, two, far] = [
          await other.store.putText("1"),
          await other.store.putText("2"),
          await other.store.putText("2", { scope: A }),
        ];
        expect(one.id).toBe(`artifact_${"0".repeat(12)}`);
        expect(two.id).toBe(`artifact_${two.sha256.slice(0, 16)}`);
        expect(far.id).toBe(one.id);
        expect(await other.store.get(one.id)).toEqual(text("1"));
        expect(await other.store.get(two.id)).toEqual(text("2"));
        expect(await other.store.get(far.id, A)).toEqual(text("2"));
        expect(await other.store.putText("2")).toEqual(two);
        const many = await Promise.all(Array.from({ length: 8 }, (_, turn) => other.store.putText(`many ${turn}`)));
        for (const [turn, ref] of many.entries()) expect(await other.store.get(ref.id)).toEqual(text(`many ${turn}`));
      } finally {
        await other.dispose();
      }
    });
  });
}

/** Contract: the times of artifacts, and what is taken away by them. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../../../../web/src/artifacts/store.js";
import { dated, drained } from "../bytes.js";
import type { OpenSubject, Subject } from "../store-contract.js";

const A: ArtifactScope = { session_id: "a" };
const B: ArtifactScope = { session_id: "b" };
const START = Date.UTC(2026, 0, 1, 12, 0, 0, 123);

export function contractOfEvicting(opening: OpenSubject): void {
  describe("times and eviction", () => {
    let now: number;
    let subject: Subject;
    beforeEach(async () => {
      now = START;
      subject = await opening({ clock: () => now });
    });
    afterEach(() => subject.dispose());
    const store = (): ArtifactStore => subject.store;
    const seen = async (id: string, scope?: ArtifactScope): Promise<StoredArtifact> => {
      const artifact = await store().stat(id, scope);
      if (artifact === null) throw new Error("nothing is there");
      return artifact;
    };
    const times = async (id: string): Promise<readonly number[]> => {
      const { stored_at, used_at } = await seen(id);
      return [Math.floor(stored_at - START), Math.floor(used_at - START)];
    };

    test("an artifact has the time when it was stored, and when it was stored or read last", async () => {
      const { id } = await store().putText("x");
      expect(await times(id)).toEqual([0, 0]);
      now += 1;
      await store().get(id);
      expect(await times(id)).toEqual([0, 1]);
      now += 1000;
      await drained(await store().openReader(id, { range: { start: 0, end: 1 } }));
      expect(await times(id)).toEqual([0, 1001]);
      now += 5;
      await store().putText("x", { filename: "again.txt" });
      expect(await times(id)).toEqual([1006, 1006]);
    });

    test("looking at an artifact and renaming it do not count as use", async () => {
      const { id } = await store().putText("x");
      now += 10;
      await store().stat(id);
      await store().exists(id);
      await dated(store().list());
      await store().update(id, { filename: "renamed" });
      expect(await times(id)).toEqual([0, 0]);
    });

    test("what happened in one millisecond is still in order", async () => {
      const ids: string[] = [];
      for (const text of ["a", "b", "c"]) ids.push((await store().putText(text)).id);
      await store().get(ids[0] ?? "");
      const byUse = (await dated(store().list())).toSorted((left, right) => left.used_at - right.used_at);
      expect(byUse.map(({ id }) => ids.indexOf(id))).toEqual([1, 2, 0]);
    });

    test("an artifact that nobody used since it was seen is evicted, once", async () => {
      const { id } = await store().putText("x");
      const artifact = await seen(id);
      expect(await store().evict(artifact)).toBe(true);
      expect(await store().exists(id)).toBe(false);
      expect(await subject.contents()).toBe(0);
      expect(await store().evict(artifact)).toBe(false);
    });

    test.each([
      [
        "stored again",
        (id: string) =>
          store()
            .putText("x")
            .then((ref) => expect(ref.id).toBe(id)),
      ],
      ["read", (id: string) => store().get(id)],
      ["opened", async (id: string) => (await store().openReader(id))?.cancel()],
      [
        "deleted and stored anew",
        (id: string) =>
          store()
            .delete(id)
            .then(() => store().putText("x")),
      ],
    ])("one that was %s since then stays", async (_, use) => {
      const { id } = await store().putText("x");
      const artifact = await seen(id);
      await use(id);
      expect(await store().evict(artifact)).toBe(false);
      expect(await store().get(id)).toEqual(new TextEncoder().encode("x"));
    });

    test("eviction ends at the scope", async () => {
      const { id } = await store().putText("shared", { scope: A });
      await store().putText("shared", { scope: B });
      const mine = await seen(id, A);
      expect(await store().evict({ ...mine, scope: {} })).toBe(false);
      expect(await store().evict(mine)).toBe(true);
      expect(await store().exists(id, A)).toBe(false);
      expect(await store().get(id, B)).toEqual(new TextEncoder().encode("shared"));
      expect(await subject.contents()).toBe(1);
    });

    test("of evictions at once, one is true", async () => {
      const artifact = await seen((await store().putText("x")).id);
      const outcomes = await Promise.all([1, 2, 3].map(() => store().evict(artifact)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });

    test("puts that race with evictions of the same are never lost", async () => {
      for (let round = 0; round < 30; round++) {
        const { id } = await store().putText("raced");
        const artifact = await seen(id);
        const [ref] = await Promise.all([store().putText("raced"), store().evict(artifact)]);
        expect(await store().get(ref.id)).toEqual(new TextEncoder().encode("raced"));
      }
    });

    test("exclusive work is done by one at a time, where a store is shared", async () => {
      await store().putText("x");
      const shared = store();
      const exclusively = <T>(work: () => Promise<T>): Promise<T | null> => shared.exclusively?.(work) ?? work();
      const outcome = await exclusively(() => exclusively(async () => "inner"));
      expect(outcome).toBe(shared.exclusively ? null : "inner");
      expect(await exclusively(async () => "after")).toBe("after");
      await expect(exclusively(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
      expect(await exclusively(async () => "after a failure")).toBe("after a failure");
    });
  });
}

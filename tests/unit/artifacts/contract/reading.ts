/** Contract: streams out. */
import { describe, expect, test } from "vitest";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { drained, same } from "../bytes.js";
import { noise } from "../noise.js";
import type { Subject } from "../store-contract.js";

const A: ArtifactScope = { session_id: "a" };

export function contractOfReading(subject: () => Subject): void {
  const store = (): ArtifactStore => subject().store;

  describe("readers", () => {
    const data = noise(600_000);
    test.each([
      [{ start: 0 }, 0, 600_000],
      [{ start: 0, end: 1 }, 0, 1],
      [{ start: 599_999 }, 599_999, 600_000],
      [{ start: 100_000, end: 500_001 }, 100_000, 500_001],
      [{ start: 7, end: 7 }, 7, 7],
      [{ start: 600_000 }, 0, 0],
      [{ start: 599_000, end: 10_000_000 }, 599_000, 600_000],
      [{ start: 10_000_000, end: 10_000_001 }, 0, 0],
    ])("range %j", async (range, from, to) => {
      const ref = await store().putBytes(data, { scope: A });
      expect(same(await drained(await store().openReader(ref.id, { scope: A, range })), data.slice(from, to))).toBe(
        true,
      );
    });

    test.each([
      { start: -1 },
      { start: 0.5 },
      { start: Number.NaN },
      { start: 2, end: 1 },
      { start: 0, end: Infinity },
    ])("range %j is refused", async (range) => {
      const ref = await store().putBytes(data);
      await expect(store().openReader(ref.id, { range })).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    });

    test("outlive their artifact, come in pieces, and can be left early", async () => {
      const ref = await store().putBytes(data);
      const left = (await store().openReader(ref.id))?.getReader();
      const first = await left?.read();
      expect(first?.value?.byteLength).toBeLessThan(data.byteLength);
      await left?.cancel();
      const stream = await store().openReader(ref.id);
      await store().delete(ref.id);
      expect(same(await drained(stream), data)).toBe(true);
    });
  });
}

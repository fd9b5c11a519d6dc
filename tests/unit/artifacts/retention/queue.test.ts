import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Queue } from "../../../../web/src/artifacts/retention/retention-index.js";
import type { StoredArtifact } from "../../../../web/src/artifacts/store.js";

const artifact = (used_at: number): StoredArtifact => ({ used_at, stored_at: -used_at }) as StoredArtifact;
const times = (queue: Queue): number[] => Array.from(queue.entries(), ([, { used_at }]) => used_at);

test("whatever comes and goes in whatever order, the earliest is first", () => {
  const steps = fc.array(fc.record({ key: fc.nat(9), time: fc.option(fc.nat(50), { nil: null }), look: fc.boolean() }));
  fc.assert(
    fc.property(steps, (all) => {
      const queue = new Queue("used_at");
      const model = new Map<string, number>();
      for (const { key, time, look } of all) {
        queue.remove(`${key}`);
        model.delete(`${key}`);
        if (time !== null) {
          queue.add(`${key}`, artifact(time));
          model.set(`${key}`, time);
        }
        if (!look) continue;
        expect(times(queue)).toEqual([...model.values()].toSorted((left, right) => left - right));
      }
      expect(queue.size).toBe(model.size);
    }),
  );
});

test("the time that orders is the one it was made for", () => {
  const queue = new Queue("stored_at");
  for (const time of [1, 3, 2]) queue.add(`${time}`, artifact(time));
  expect(times(queue)).toEqual([3, 2, 1]);
});

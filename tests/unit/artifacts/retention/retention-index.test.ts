/** Making room looks at those who have to go, however much is kept. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { planEviction } from "../../../../web/src/artifacts/retention/eviction.js";
import { listLimits, readRetention, type CleanupStrategy } from "../../../../web/src/artifacts/retention/policy.js";
import { toArtifactKey, RetentionIndex, Queue } from "../../../../web/src/artifacts/retention/retention-index.js";
import { fullScope } from "../../../../web/src/artifacts/scope.js";
import type { StoredArtifact } from "../../../../web/src/artifacts/store.js";

const KEPT = 5_000;
const NOW = 1_000_000;

/** An artifact of one byte in a session of its own; `look` is told of every property that is asked for. */
function artifact(turn: number, look: () => void): StoredArtifact {
  const made: StoredArtifact = {
    id: `artifact_${String(turn).padStart(12, "0")}`,
    mime_type: null,
    size_bytes: 1,
    filename: null,
    sha256: String(turn),
    scope: fullScope({ session_id: `s${turn}` }),
    namespace: "artifact",
    source: {},
    stored_at: turn,
    used_at: turn,
  };
  return new Proxy(made, {
    get(target, name): unknown {
      look();
      return Reflect.get(target, name);
    },
  });
}

/** A full store of `KEPT` bytes, and how often its artifacts were looked at since it was filled. */
function full(cleanup_strategy: CleanupStrategy): {
  room: (size_bytes: number) => string[] | null;
  looks: () => number;
} {
  const retention = readRetention({ max_total_bytes: KEPT, cleanup_strategy });
  const index = new RetentionIndex(listLimits(retention), retention);
  let looks = 0;
  for (let turn = 0; turn < KEPT; turn++) index.enter(artifact(turn, () => (looks += 1)));
  looks = 0;
  const coming = { scope: {}, namespace: "artifact", sha256: null };
  return {
    room: (size_bytes) => {
      const { leaving, full: limit } = planEviction({ index, retention, now: NOW, coming: { ...coming, size_bytes } });
      return limit === null ? leaving.map(({ id }) => id) : null;
    },
    looks: () => looks,
  };
}

test.each<CleanupStrategy>(["lru", "fifo"])("%s: three who leave, and nobody else is asked", (strategy) => {
  const { room, looks } = full(strategy);
  expect(room(3)).toEqual([0, 1, 2].map((turn) => artifact(turn, () => undefined).id));
  expect(looks()).toBeLessThan(100);
});

test("none: nobody is asked at all", () => {
  const { room, looks } = full("none");
  expect(room(1)).toBeNull();
  expect(looks()).toBe(0);
});

test("where there is room nothing is evicted", () => {
  const { room, looks } = full("lru");
  expect(room(0)).toEqual([]);
  expect(looks()).toBe(0);
});

test("what expires first is found without looking at the rest", () => {
  const retention = readRetention({});
  const index = new RetentionIndex(listLimits(retention), retention);
  let looks = 0;
  for (let turn = 0; turn < KEPT; turn++) index.enter(artifact(turn, () => (looks += 1)));
  looks = 0;
  const [first] = index.expiring.entries();
  expect(first?.[0]).toBe(toArtifactKey(artifact(0, () => undefined)));
  expect(looks).toBeLessThan(10);
});

const usedAt = (used_at: number): StoredArtifact => ({ used_at, stored_at: -used_at }) as StoredArtifact;
const times = (queue: Queue): number[] => Array.from(queue.entries(), ([, { used_at }]) => used_at);

test("whatever comes and goes in whatever order, the earliest is first", () => {
  const steps = fc.array(fc.record({ key: fc.nat(9), time: fc.option(fc.nat(50), { nil: null }), look: fc.boolean() }));
  fc.assert(
    fc.property(steps, (all) => {
      const queue = new Queue("used_at");
      const model = new Map<string, number>();
      for (const { key, time, look } of all) {
        queue.delete(`${key}`);
        model.delete(`${key}`);
        if (time !== null) {
          queue.set(`${key}`, usedAt(time));
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
  for (const time of [1, 3, 2]) queue.set(`${time}`, usedAt(time));
  expect(times(queue)).toEqual([3, 2, 1]);
});

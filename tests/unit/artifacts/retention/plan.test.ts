/** Making room looks at those who have to go, however much is kept. */
import { expect, test } from "vitest";
import { keyOf, RetentionIndex } from "../../../../web/src/artifacts/retention/retention-index.js";
import { limitsOf, readRetention, type CleanupStrategy } from "../../../../web/src/artifacts/retention/policy.js";
import { planEviction } from "../../../../web/src/artifacts/retention/eviction.js";
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
  const index = new RetentionIndex(limitsOf(retention), retention);
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

test("where there is room nobody is asked", () => {
  const { room, looks } = full("lru");
  expect(room(0)).toEqual([]);
  expect(looks()).toBe(0);
});

test("what expires first is found without looking at the rest", () => {
  const retention = readRetention({});
  const index = new RetentionIndex(limitsOf(retention), retention);
  let looks = 0;
  for (let turn = 0; turn < KEPT; turn++) index.enter(artifact(turn, () => (looks += 1)));
  looks = 0;
  const [first] = index.expiring.entries();
  expect(first?.[0]).toBe(keyOf(artifact(0, () => undefined)));
  expect(looks).toBeLessThan(10);
});

/** What a put costs does not grow with what is kept. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { SluiceError } from "../../../../web/src/errors/error.js";
import type { RetentionConfig } from "../../../../web/src/artifacts/retention/policy.js";

/** Milliseconds; looking at everything at every put takes minutes. */
const SOON = 15_000;
const KEPT = 10_000;

test.each<[string, RetentionConfig]>([
  ["below all limits", {}],
  ["at a limit that each of them makes room for", { ttl_seconds: null, max_total_bytes: 10 * KEPT }],
  ["at a limit of first come, first gone", { max_total_bytes: 10 * KEPT, cleanup_strategy: "fifo" }],
  ["at a limit that refuses them", { max_total_bytes: 10 * KEPT, cleanup_strategy: "none" }],
])("ten thousand sessions and two thousand more, %s", async (_, retention) => {
  const store = new MemoryArtifactStore({ retention });
  const begun = performance.now();
  const refusals = new Set<string>();
  for (let turn = 0; turn < KEPT + 2_000; turn++) {
    const put = store.putText(String(turn).padStart(10), { scope: { session_id: `s${turn}` } });
    await put.catch(({ code }: SluiceError) => refusals.add(code));
  }
  expect([...refusals]).toEqual(retention.cleanup_strategy === "none" ? ["E_STORE_FULL"] : []);
  expect(performance.now() - begun).toBeLessThan(SOON);
});

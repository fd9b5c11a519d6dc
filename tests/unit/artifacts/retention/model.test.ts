/** Random puts, reads and hours, held against a model that is nothing but a list. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { readRetention } from "../../../../web/src/artifacts/retention/policy.js";
import type { RetentionConfig } from "../../../../web/src/config/types.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import { listed } from "../bytes.js";
import { contentOf, Model, type Put } from "./model.js";
import { amount } from "../../../support/full.js";

type Step =
  | Put
  | { readonly do: "get" | "delete"; readonly which: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "collect" };

async function held(retention: RetentionConfig, steps: readonly Step[]): Promise<void> {
  const model = new Model(readRetention(retention));
  const clock = (): number => model.now;
  const store = new RetainingArtifactStore(new BareMemoryStore({ clock }), retention, { clock });
  for (const step of steps) {
    await take(step, model, store);
    model.expire();
    const names = (await listed(store.list())).map(({ id, scope }) => `${id} ${JSON.stringify(scope)}`);
    const expected = model.kept.map(({ id, what }) => `${id} ${JSON.stringify({ ...NOBODY, ...what.scope })}`);
    expect(names.toSorted()).toEqual(expected.toSorted());
  }
}

const NOBODY = { tenant_id: null, user_id: null, session_id: null, trace_id: null };

async function take(step: Step, model: Model, store: RetainingArtifactStore): Promise<void> {
  switch (step.do) {
    case "wait":
      model.now += step.ms;
      return;
    case "collect":
      await store.collect();
      return;
    case "put":
      return putting(step, model, store);
    default: {
      const each = model.kept[step.which % Math.max(model.kept.length, 1)];
      if (each === undefined) return;
      if (step.do === "get") {
        expect(await store.get(each.id, each.what.scope)).toEqual(new TextEncoder().encode(contentOf(each.what)));
        model.use(each);
      } else {
        expect(await store.delete(each.id, each.what.scope)).toBe(true);
        model.kept.splice(model.kept.indexOf(each), 1);
      }
    }
  }
}

async function putting(step: Put, model: Model, store: RetainingArtifactStore): Promise<void> {
  const outcome = model.outcome(step);
  const outcomeOfStore = store.putText(contentOf(step), { scope: step.scope, namespace: step.namespace });
  if (outcome === "too large" || outcome === "full") {
    await expect(outcomeOfStore).rejects.toMatchObject({ code: outcome === "full" ? "E_STORE_FULL" : "E_TOO_LARGE" });
    return;
  }
  const { id } = await outcomeOfStore;
  const isNew = model.find(step) === undefined;
  model.enter(step, id);
  if (!isNew) return;
  for (const each of outcome) {
    model.kept.splice(model.kept.indexOf(each), 1);
    await expect(store.get(each.id, each.what.scope)).rejects.toMatchObject({ code: "E_EXPIRED" });
  }
}

const scope = fc.constantFrom<ArtifactScope>(
  {},
  { session_id: "s" },
  { session_id: "s", trace_id: "t" },
  { session_id: "s", trace_id: "u" },
  { tenant_id: "x", session_id: "s" },
  { trace_id: "t" },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      letter: fc.constantFrom("a", "b", "c"),
      size: fc.integer({ min: 1, max: 6 }),
      scope,
      namespace: fc.constantFrom("one", "two"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom("get" as const, "get" as const, "delete" as const), which: fc.nat(20) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(0, 1, 999, 1000, 2500) }) },
  { weight: 1, arbitrary: fc.constant({ do: "collect" as const }) },
);
const some = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null, freq: 2 });
const retention: fc.Arbitrary<RetentionConfig> = fc.record({
  ttl_seconds: some(fc.constantFrom(1, 2, 5)),
  ttl_from: fc.constantFrom("stored" as const, "used" as const),
  max_artifact_bytes: some(fc.integer({ min: 1, max: 12 })),
  max_session_bytes: some(fc.integer({ min: 1, max: 20 })),
  max_trace_bytes: some(fc.integer({ min: 1, max: 15 })),
  max_artifacts_per_trace: some(fc.integer({ min: 1, max: 4 })),
  max_artifacts_per_session: some(fc.integer({ min: 1, max: 6 })),
  max_namespace_bytes: some(fc.integer({ min: 1, max: 25 })),
  max_total_bytes: some(fc.integer({ min: 1, max: 25 })),
  min_age_seconds: fc.constantFrom(0, 0, 1),
  cleanup_strategy: fc.constantFrom("lru" as const, "fifo" as const, "none" as const),
});

test("a retaining store keeps what the model keeps, to the byte, the artifact and the millisecond", async () => {
  expect.hasAssertions();
  await fc.assert(fc.asyncProperty(retention, fc.array(step, { maxLength: 40 }), held), { numRuns: amount(100, 400) });
}, 60_000);

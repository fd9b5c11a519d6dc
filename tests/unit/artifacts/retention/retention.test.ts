import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { NO_LIMITS, readRetention, type Retention } from "../../../../web/src/artifacts/retention/policy.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import { sameScope } from "../../../../web/src/artifacts/scope.js";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import type { RetentionConfig } from "../../../../web/src/config/types.js";
import { amount } from "../../../support/full.js";
import { listed } from "../bytes.js";

test("what is given takes the place of a default, null of a limit", () => {
  const given = { ttl_seconds: null, max_trace_bytes: 1, cleanup_strategy: "fifo", ttl_from: "used" };
  expect(readRetention(given)).toEqual({ ...readRetention({}), ...given });
});

test("no limits are no limits", () => {
  const { cleanup_strategy, ttl_from, min_age_seconds, min_free_disk, ...limits } = readRetention(NO_LIMITS);
  expect(Object.values(limits).every((limit) => limit === null)).toBe(true);
  expect([cleanup_strategy, ttl_from, min_age_seconds, min_free_disk]).toEqual(["none", "stored", 0, 0]);
});

test.each([
  [{ ttl_second: 1 }, "E_CONFIG_KEY", "retention.ttl_second"],
  [{ __proto__: null, constructor: 1 }, "E_CONFIG_KEY", "retention.constructor"],
  [{ ttl_seconds: 0 }, "E_CONFIG_VALUE", "retention.ttl_seconds"],
  [{ ttl_seconds: 1.5 }, "E_CONFIG_VALUE", "retention.ttl_seconds"],
  [{ ttl_seconds: "60" }, "E_CONFIG_VALUE", "retention.ttl_seconds"],
  [{ max_artifact_bytes: -1 }, "E_CONFIG_VALUE", "retention.max_artifact_bytes"],
  [{ max_session_bytes: Infinity }, "E_CONFIG_VALUE", "retention.max_session_bytes"],
  [{ min_age_seconds: null }, "E_CONFIG_VALUE", "retention.min_age_seconds"],
  [{ min_free_disk: null }, "E_CONFIG_VALUE", "retention.min_free_disk"],
  [{ min_free_disk: 0.91 }, "E_CONFIG_VALUE", "retention.min_free_disk"],
  [{ min_free_disk: -0.1 }, "E_CONFIG_VALUE", "retention.min_free_disk"],
  [{ min_free_disk: Number.NaN }, "E_CONFIG_VALUE", "retention.min_free_disk"],
  [{ cleanup_strategy: "LRU" }, "E_CONFIG_VALUE", "retention.cleanup_strategy"],
  [{ ttl_from: null }, "E_CONFIG_VALUE", "retention.ttl_from"],
  [[], "E_CONFIG_VALUE", "retention"],
  [null, "E_CONFIG_VALUE", "retention"],
  ["lru", "E_CONFIG_VALUE", "retention"],
])("%j is refused with its path", (config, code, path) => {
  expect(() => readRetention(config)).toThrow(expect.objectContaining({ code, path }));
});

/** Random puts, reads and hours, held against a model that is nothing but a list. */
/** `content` is a letter, said `size` times. */
interface Put {
  readonly do: "put";
  readonly letter: string;
  readonly size: number;
  readonly scope: ArtifactScope;
  readonly namespace: string;
}
/** The text that is put. */
const contentOf = ({ letter, size }: Put): string => letter.repeat(size);
/** Whether two puts name one artifact. */
const isSame = (one: Put, two: Put): boolean =>
  contentOf(one) === contentOf(two) && one.namespace === two.namespace && sameScope(one.scope, two.scope);

/** One that is kept. */
interface Kept {
  readonly what: Put;
  readonly id: string;
  storedAt: number;
  usedAt: number;
  /** Orders what happened in one millisecond. */
  stored: number;
  used: number;
}

class Model {
  readonly retention: Retention;
  kept: Kept[] = [];
  now = 0;
  #turn = 0;

  constructor(retention: Retention) {
    this.retention = retention;
  }

  expire(): void {
    const { ttl_seconds, ttl_from } = this.retention;
    if (ttl_seconds === null) return;
    this.kept = this.kept.filter(
      (each) => this.now < (ttl_from === "used" ? each.usedAt : each.storedAt) + ttl_seconds * 1000,
    );
  }

  use(each: Kept): void {
    each.usedAt = this.now;
    each.used = ++this.#turn;
  }

  find(what: Put): Kept | undefined {
    return this.kept.find((each) => isSame(each.what, what));
  }

  /** What must leave for a newcomer, or why it cannot come. */
  outcome(what: Put): "too large" | "full" | readonly Kept[] {
    const { max_artifact_bytes } = this.retention;
    if (max_artifact_bytes !== null && what.size > max_artifact_bytes) return "too large";
    if (this.#isTooLarge(what)) return "too large";
    // Whether its content is there already is known when it is stored: until then it counts as new.
    if (this.#leaving(what, true) === "full") return "full";
    return this.#leaving(what, false);
  }

  #leaving(what: Put, asNew: boolean): "full" | readonly Kept[] {
    const { cleanup_strategy, min_age_seconds } = this.retention;
    const coming = asNew ? { ...what, letter: "?" } : what;
    const exempt = [...this.kept];
    const leaving: Kept[] = [];
    const order = exempt
      .filter(({ usedAt }) => this.now - usedAt >= min_age_seconds * 1000)
      .toSorted((one, two) => (cleanup_strategy === "lru" ? one.used - two.used : one.stored - two.stored));
    // From narrow to wide, as few as can be.
    for (const { most, of, sum } of this.#limits()) {
      const group = of(what);
      if (most === null || group === null) continue;
      const total = (): number =>
        sum([...exempt.map((each) => each.what), coming].filter((each) => of(each) === group));
      while (total() > most) {
        const next = cleanup_strategy === "none" ? undefined : order.find((each) => of(each.what) === group);
        if (next === undefined) return "full";
        order.splice(order.indexOf(next), 1);
        exempt.splice(exempt.indexOf(next), 1);
        leaving.push(next);
      }
    }
    return leaving;
  }

  enter(what: Put, id: string): void {
    const there = this.find(what) ?? { what, id, storedAt: 0, usedAt: 0, stored: 0, used: 0 };
    if (!this.kept.includes(there)) this.kept.push(there);
    there.storedAt = this.now;
    there.stored = ++this.#turn;
    this.use(there);
  }

  #isTooLarge(what: Put): boolean {
    return this.#limits().some(
      ({ most, of, sum }) => most !== null && sum !== count && of(what) !== null && sum([what]) > most,
    );
  }

  #limits(): readonly Rule[] {
    const { retention } = this;
    return [
      { most: retention.max_trace_bytes, of: traceOf, sum: bytes },
      { most: retention.max_artifacts_per_trace, of: traceOf, sum: count },
      { most: retention.max_session_bytes, of: sessionOf, sum: bytes },
      { most: retention.max_artifacts_per_session, of: sessionOf, sum: count },
      { most: retention.max_namespace_bytes, of: ({ namespace }) => namespace, sum: bytes },
      { most: retention.max_total_bytes, of: () => "", sum: bytesOnce },
    ];
  }
}

/** Most of what, and which count together. */
interface Rule {
  readonly most: number | null;
  readonly of: (what: Put) => string | null;
  readonly sum: (all: readonly Put[]) => number;
}

const sessionOf = ({ scope }: Put): string | null =>
  scope.session_id == null ? null : `${scope.tenant_id}/${scope.session_id}`;
const traceOf = ({ scope }: Put): string | null =>
  scope.trace_id == null ? null : `${scope.tenant_id}/${scope.session_id}/${scope.trace_id}`;
const bytes = (all: readonly Put[]): number => all.reduce((total, { size }) => total + size, 0);
const bytesOnce = (all: readonly Put[]): number => [...new Set(all.map(contentOf))].join("").length;
const count = (all: readonly Put[]): number => all.length;

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

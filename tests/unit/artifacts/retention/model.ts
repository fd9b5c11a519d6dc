/** Retention, as a list with rules: what the store is held against. */
import { sameScope } from "../../../../web/src/artifacts/scope.js";
import type { Retention } from "../../../../web/src/artifacts/retention/policy.js";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";

/** `content` is a letter, said `size` times. */
export interface Put {
  readonly do: "put";
  readonly letter: string;
  readonly size: number;
  readonly scope: ArtifactScope;
  readonly namespace: string;
}
/** The text that is put. */
export const contentOf = ({ letter, size }: Put): string => letter.repeat(size);
/** Whether two puts name one artifact. */
export const isSame = (one: Put, two: Put): boolean =>
  contentOf(one) === contentOf(two) && one.namespace === two.namespace && sameScope(one.scope, two.scope);

/** One that is kept. */
export interface Kept {
  readonly what: Put;
  readonly id: string;
  storedAt: number;
  usedAt: number;
  /** Orders what happened in one millisecond. */
  stored: number;
  used: number;
}

export class Model {
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

/**
 * Who has to go: what is kept, a retention and a time in; names out. Changes nothing.
 * @module
 */
import type { StoredArtifact } from "../store.js";
import type { Ledger } from "./ledger.js";
import type { Limit } from "./limits.js";
import type { Retention } from "./policy.js";
import type { Counted, Passed } from "./tally.js";

/**
 * Who would have to go, in order; and the limit that is passed even then, for nobody else may leave: where someone is
 * coming, only one that binds there, and where one limit is asked about, only that.
 */
export interface Room {
  readonly leaving: readonly StoredArtifact[];
  readonly full: Limit | null;
}

/** Whether an artifact's time is over at `now`, in milliseconds: at the very millisecond it is. */
export function isExpired(artifact: StoredArtifact, { ttl_seconds, ttl_from }: Retention, now: number): boolean {
  if (ttl_seconds === null) return false;
  const since = ttl_from === "used" ? artifact.used_at : artifact.stored_at;
  return now - Math.floor(since) >= ttl_seconds * 1000;
}

/** What room is made in, and for whom. */
export interface Case {
  readonly ledger: Ledger;
  readonly retention: Retention;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Counted as if it were there already. */
  readonly coming?: Counted;
  /** The one limit that matters where nobody is coming; all of them when left out. */
  readonly asked?: Limit;
  /** Names (`keyOf`) of those that must not leave. */
  readonly staying?: ReadonlySet<string>;
}

/** Makes every limit hold again with as few departures as there can be in the order of the strategy. */
export function makeRoom({ ledger, retention, now, coming, asked, staying }: Case): Room {
  const { tally } = ledger;
  const candidates = new Candidates(ledger, retention, now, staying);
  const leaving: StoredArtifact[] = [];
  const hopeless = new Set<string>();
  let full: Limit | null = null;
  if (coming) tally.add(coming);
  for (let passed = tally.passed(); passed !== null; passed = tally.passed(hopeless)) {
    const next = candidates.next(passed);
    if (next === undefined) {
      const isAsked = coming ? passed.limit.groupOf(coming) === passed.group : passed.limit === (asked ?? passed.limit);
      if (isAsked) full ??= passed.limit;
      hopeless.add(passed.name);
      continue;
    }
    tally.remove(next);
    leaving.push(next);
  }
  for (const artifact of leaving) tally.add(artifact);
  if (coming) tally.remove(coming);
  return { leaving, full };
}

/** Those that may leave, each once, however many limits they count for. */
class Candidates {
  readonly #case: Pick<Case, "ledger" | "retention" | "now" | "staying">;
  readonly #taken = new Set<string>();
  readonly #walks = new Map<string, Iterator<[string, StoredArtifact]>>();

  constructor(ledger: Ledger, retention: Retention, now: number, staying: ReadonlySet<string> | undefined) {
    this.#case = { ledger, retention, now, ...(staying && { staying }) };
  }

  /** The next in a group to go. */
  next({ limit, group, name }: Passed): StoredArtifact | undefined {
    if (this.#case.retention.cleanup_strategy === "none") return undefined;
    const walk = this.#walks.get(name) ?? this.#case.ledger.members(limit, group);
    this.#walks.set(name, walk);
    for (let step = walk.next(); step.done !== true; step = walk.next()) {
      const [key, artifact] = step.value;
      if (this.#taken.has(key) || !this.#mayLeave(key, artifact)) continue;
      this.#taken.add(key);
      return artifact;
    }
    return undefined;
  }

  #mayLeave(key: string, { used_at }: StoredArtifact): boolean {
    const { retention, now, staying } = this.#case;
    if (staying?.has(key) === true) return false;
    // A time that lies ahead by more is none: the clock was put back since, or is wrong. It must not hold the store up.
    return !(Math.abs(now - Math.floor(used_at)) < retention.min_age_seconds * 1000);
  }
}

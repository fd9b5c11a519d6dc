/**
 * Who has to go. Pure: what is kept, a retention and a time in; names out.
 * @module
 */
import type { StoredArtifact } from "../store.js";
import type { Limit } from "./limits.js";
import type { Retention } from "./policy.js";
import { Tally, type Counted } from "./tally.js";

/**
 * Who would have to go, in order; and the limit that is passed even then, for nobody else may leave: where someone is
 * coming, only one that binds there.
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
  /** All artifacts. */
  readonly kept: Iterable<StoredArtifact>;
  /** Of the same. */
  readonly tally: Tally;
  readonly retention: Retention;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Counted as if it were there already. */
  readonly coming?: Counted;
  /** One of `kept` that must not leave. */
  readonly staying?: StoredArtifact | undefined;
}

/** Makes every limit hold again with as few departures as there can be in the order of the strategy. */
export function makeRoom({ kept, tally, retention, now, coming, staying }: Case): Room {
  if (fits(tally, coming)) return { leaving: [], full: null };
  const all = [...kept];
  const trial = Tally.of(coming ? [...all, coming] : all, tally.limits);
  const candidates = inOrder(all, retention, now).filter((artifact) => artifact !== staying);
  const leaving: StoredArtifact[] = [];
  let full: Limit | null = null;
  for (let passed = trial.passed(); passed !== null; passed = trial.passed()) {
    const { limit, group } = passed;
    const at = candidates.findIndex((artifact) => limit.groupOf(artifact) === group);
    const [next] = at < 0 ? [] : candidates.splice(at, 1);
    if (next === undefined) {
      if (coming === undefined || limit.groupOf(coming) === group) full ??= limit;
      trial.lift(passed);
      continue;
    }
    trial.remove(next);
    leaving.push(next);
  }
  return { leaving, full };
}

function fits(tally: Tally, coming: Counted | undefined): boolean {
  if (coming) tally.add(coming);
  const passed = tally.passed();
  if (coming) tally.remove(coming);
  return passed === null;
}

/** Those that may leave, the first to go first. */
function inOrder(kept: readonly StoredArtifact[], retention: Retention, now: number): StoredArtifact[] {
  const { cleanup_strategy, min_age_seconds } = retention;
  if (cleanup_strategy === "none") return [];
  const time = cleanup_strategy === "lru" ? "used_at" : "stored_at";
  return kept
    .filter(({ used_at }) => now - Math.floor(used_at) >= min_age_seconds * 1000)
    .toSorted((left, right) => left[time] - right[time]);
}

/**
 * Which artifacts have to go, and their removal, one after the other, however the store behaves.
 * @module
 */
import type { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import { record } from "../../telemetry/metrics.js";
import type { Stamps } from "../reference.js";
import type { ArtifactStore, StoredArtifact } from "../store.js";
import { toArtifactKey, type Counted, type RetentionIndex, type ExceededLimit } from "./retention-index.js";
import { nameGroup, isExpired, type Limit, type Retention } from "./policy.js";

/** Eviction is given up until the next time after so many artifacts that could not be removed. */
const MOST_REFUSALS = 16;

/** The outcome of one eviction: removed; changed since it was indexed; or not removable. */
type EvictionOutcome = "gone" | "changed" | "stuck";

/** What was removed, and the first error. */
interface EvictionResult {
  readonly gone: StoredArtifact[];
  /** The store's first error. */
  failure: SluiceError | undefined;
}

/** An empty result. */
export function nothingEvicted(): EvictionResult {
  return { gone: [], failure: undefined };
}

/** Why an artifact was removed: it had expired, or others needed its place. */
const AGE = { "sluice.reason": "age" };
const ROOM = { "sluice.reason": "room" };

/** Removes artifacts from one store and its index. */
export class Eviction {
  readonly #store: ArtifactStore;
  readonly #retention: Retention;
  readonly #index: RetentionIndex;
  readonly #stamps: Stamps;

  constructor(store: ArtifactStore, retention: Retention, index: RetentionIndex, stamps: Stamps) {
    this.#store = store;
    this.#retention = retention;
    this.#index = index;
    this.#stamps = stamps;
  }

  /** Which artifacts would have to go. */
  plan(more: Pick<EvictionCase, "coming" | "asked" | "exempt"> = {}): EvictionPlan {
    return planEviction({ ...more, index: this.#index, retention: this.#retention, now: this.#stamps.now() });
  }

  /** Removes an artifact that has not been used since it was seen. */
  async evict(seen: StoredArtifact): Promise<boolean> {
    if (!(await this.#store.evict(seen))) return false;
    this.#index.depart(seen);
    const isOld = isExpired(seen, this.#retention, this.#stamps.now());
    record("sluice.artifact.expired", seen.size_bytes, isOld ? AGE : ROOM);
    return true;
  }

  /** Removes expired artifacts, at most `most`. Whether that was all that can be removed. */
  async expire(all: EvictionResult, most = Infinity): Promise<boolean> {
    if (this.#retention.ttl_seconds === null) return true;
    const now = this.#stamps.now();
    const isOver = (artifact: StoredArtifact): boolean => isExpired(artifact, this.#retention, now);
    const over: StoredArtifact[] = [];
    for (const [, artifact] of this.#index.expiring.entries()) {
      if (!isOver(artifact) || over.length > most) break;
      over.push(artifact);
    }
    let stuck = 0;
    for (const artifact of over.slice(0, most)) {
      if ((await this.#takeAway(artifact, isOver, all)) === "stuck") stuck += 1;
      if (stuck === MOST_REFUSALS) return true;
    }
    return over.length <= most;
  }

  /** Evicts until every limit holds. `keep` stays. */
  async evictExcess(all: EvictionResult, keep?: string): Promise<void> {
    const exempt = new Set(keep === undefined ? [] : [keep]);
    const moved = new Set<string>();
    for (let stuck = 0; stuck < MOST_REFUSALS;) {
      const outcome = await this.#evictThese(this.plan({ exempt }).leaving, all);
      if (outcome === null) return;
      const { key, came } = outcome;
      // An artifact that changes each time would be tried for ever.
      if (came === "stuck" || moved.has(key)) {
        exempt.add(key);
        stuck += 1;
      }
      moved.add(key);
    }
  }

  /** Ends at the first that is not removed: the plan is out of date then. */
  async #evictThese(
    leaving: readonly StoredArtifact[],
    all: EvictionResult,
  ): Promise<{ readonly key: string; readonly came: EvictionOutcome } | null> {
    for (const known of leaving) {
      const came = await this.#takeAway(known, (seen) => !isLater(seen, known), all);
      if (came !== "gone") return { key: toArtifactKey(known), came };
    }
    return null;
  }

  /** Removes an artifact if the reason for it still holds. */
  async #takeAway(
    known: StoredArtifact,
    hasToGo: (seen: StoredArtifact) => boolean,
    all: EvictionResult,
  ): Promise<EvictionOutcome> {
    try {
      const seen = await this.#look(known);
      if (seen === null || !hasToGo(seen)) return "changed";
      if (!(await this.evict(seen))) return "stuck";
      all.gone.push(seen);
      return "gone";
    } catch (error) {
      all.failure ??= storageError(error, "write");
      return "stuck";
    }
  }

  /** Reads an artifact from the store and updates the index. Null if it is gone. */
  async #look(known: StoredArtifact): Promise<StoredArtifact | null> {
    const seen = await this.#store.stat(known.id, known.scope);
    if (seen === null) this.#index.strike(known.id, known.scope);
    else if (isLater(seen, known)) this.#index.enter(seen);
    return seen;
  }
}

/** Whether another object or process has used the artifact since. The index may be off by microseconds. */
function isLater(seen: StoredArtifact, known: StoredArtifact): boolean {
  return seen.used_at - known.used_at >= 1;
}

/**
 * The artifacts to evict, in order, and the limit that would still be exceeded since nothing else may go. With a `coming` artifact
 * only limits on it count, with an `asked` limit only that one.
 */
export interface EvictionPlan {
  readonly leaving: readonly StoredArtifact[];
  readonly full: Limit | null;
}

/** The input of a plan. */
export interface EvictionCase {
  readonly index: RetentionIndex;
  readonly retention: Retention;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Counted as if it were there already. */
  readonly coming?: Counted;
  /** The one limit that counts if nothing is coming. Defaults to all. */
  readonly asked?: Limit;
  /** Keys (`toArtifactKey`) of artifacts that must stay. */
  readonly exempt?: ReadonlySet<string>;
}

/** Plans as few evictions as possible, in the order of the strategy, until every limit holds. */
export function planEviction({ index, retention, now, coming, asked, exempt }: EvictionCase): EvictionPlan {
  const { usage } = index;
  const candidates = new Candidates(index, retention, now, exempt);
  const leaving: StoredArtifact[] = [];
  const hopeless = new Set<string>();
  let full: Limit | null = null;
  if (coming) usage.count(coming, 1);
  for (let exceeded = usage.exceeded(); exceeded !== null; exceeded = usage.exceeded(hopeless)) {
    const next = candidates.next(exceeded);
    if (next === undefined) {
      const isAsked = coming
        ? nameGroup(exceeded.limit.within, coming) === exceeded.group
        : exceeded.limit === (asked ?? exceeded.limit);
      if (isAsked) full ??= exceeded.limit;
      hopeless.add(exceeded.name);
      continue;
    }
    usage.count(next, -1);
    leaving.push(next);
  }
  for (const artifact of leaving) usage.count(artifact, 1);
  if (coming) usage.count(coming, -1);
  return { leaving, full };
}

/** The artifacts that may go, each once, however many limits count it. */
class Candidates {
  readonly #case: Pick<EvictionCase, "index" | "retention" | "now" | "exempt">;
  readonly #taken = new Set<string>();
  readonly #walks = new Map<string, Iterator<[string, StoredArtifact]>>();

  constructor(index: RetentionIndex, retention: Retention, now: number, exempt: ReadonlySet<string> | undefined) {
    this.#case = { index, retention, now, ...(exempt && { exempt }) };
  }

  /** The next in a group to go. */
  next({ limit, group, name }: ExceededLimit): StoredArtifact | undefined {
    if (this.#case.retention.cleanup_strategy === "none") return undefined;
    const walk = this.#walks.get(name) ?? this.#case.index.members(limit, group);
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
    const { retention, now, exempt } = this.#case;
    if (exempt?.has(key) === true) return false;
    // A time further ahead is wrong: the clock was put back. It must not block the store.
    return !(Math.abs(now - Math.floor(used_at)) < retention.min_age_seconds * 1000);
  }
}

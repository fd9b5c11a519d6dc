/**
 * Who has to go, and taking artifacts away, one after the other, however the store behaves.
 * @module
 */
import type { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import type { Stamps } from "../stamps.js";
import type { ArtifactStore, StoredArtifact } from "../store.js";
import { keyOf, type Counted, type RetentionIndex, type ExceededLimit } from "./retention-index.js";
import { isExpired, type Limit, type Retention } from "./policy.js";

/** Artifacts that would not leave, before making room is given up until the next time. */
const MOST_REFUSALS = 16;

/** What came of an artifact that had to go: it went; it is not as it was noted, which now is; or it would not. */
type EvictionOutcome = "gone" | "changed" | "stuck";

/** What was taken away in one go, and why not more. */
interface EvictionResult {
  readonly gone: StoredArtifact[];
  /** What the store failed at first. */
  failure: SluiceError | undefined;
}

/** Nobody yet. */
export function nothingEvicted(): EvictionResult {
  return { gone: [], failure: undefined };
}

/** Takes away from one store, and strikes out of its books. */
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

  /** Who would have to go. */
  plan(more: Pick<EvictionCase, "coming" | "asked" | "exempt"> = {}): EvictionPlan {
    return planEviction({ ...more, index: this.#index, retention: this.#retention, now: this.#stamps.now() });
  }

  /** Takes away one that is still as it was seen. */
  async evict(seen: StoredArtifact): Promise<boolean> {
    if (!(await this.#store.evict(seen))) return false;
    this.#index.depart(seen);
    return true;
  }

  /** Takes away what has expired, or so many of it. Whether that was all that would go. */
  async expire(all: EvictionResult, most = Infinity): Promise<boolean> {
    if (this.#retention.ttl_seconds === null) return true;
    const now = this.#stamps.now();
    const isOver = (artifact: StoredArtifact): boolean => isExpired(artifact, this.#retention, now);
    const over: StoredArtifact[] = [];
    for (const [, artifact] of this.#index.expiring()) {
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

  /** Evicts until every limit holds; `keep` is never among those who leave. */
  async evictExcess(all: EvictionResult, keep?: string): Promise<void> {
    const exempt = new Set(keep === undefined ? [] : [keep]);
    const moved = new Set<string>();
    for (let stuck = 0; stuck < MOST_REFUSALS;) {
      const outcome = await this.#evictThese(this.plan({ exempt }).leaving, all);
      if (outcome === null) return;
      const { key, came } = outcome;
      // One that never is as it was noted would be tried for ever.
      if (came === "stuck" || moved.has(key)) {
        exempt.add(key);
        stuck += 1;
      }
      moved.add(key);
    }
  }

  /** Ends at the first that does not go: then who has to leave is another question. */
  async #evictThese(
    leaving: readonly StoredArtifact[],
    all: EvictionResult,
  ): Promise<{ readonly key: string; readonly came: EvictionOutcome } | null> {
    for (const known of leaving) {
      const came = await this.#takeAway(known, (seen) => !isLater(seen, known), all);
      if (came !== "gone") return { key: keyOf(known), came };
    }
    return null;
  }

  /** Takes away one that is still what it has to go for. */
  async #takeAway(
    known: StoredArtifact,
    hasToGo: (seen: StoredArtifact) => boolean,
    all: EvictionResult,
  ): Promise<EvictionOutcome> {
    try {
      const seen = await this.#seen(known);
      if (seen === null || !hasToGo(seen)) return "changed";
      if (!(await this.evict(seen))) return "stuck";
      all.gone.push(seen);
      return "gone";
    } catch (error) {
      all.failure ??= storageError(error, "write");
      return "stuck";
    }
  }

  /** What the store itself says of an artifact now, noted; null, and struck out, when it is gone. */
  async #seen(known: StoredArtifact): Promise<StoredArtifact | null> {
    const seen = await this.#store.stat(known.id, known.scope);
    if (seen === null) this.#index.strike(known.id, known.scope);
    else if (isLater(seen, known)) this.#index.enter(seen);
    return seen;
  }
}

/** Whether another object or process used an artifact since; one's own notes are off by microseconds. */
function isLater(seen: StoredArtifact, known: StoredArtifact): boolean {
  return seen.used_at - known.used_at >= 1;
}

/**
 * Who would have to go, in order; and the limit that is exceeded even then, for nobody else may leave: where someone is
 * coming, only one that binds there, and where one limit is asked about, only that.
 */
export interface EvictionPlan {
  readonly leaving: readonly StoredArtifact[];
  readonly full: Limit | null;
}

/** What room is made in, and for whom. */
export interface EvictionCase {
  readonly index: RetentionIndex;
  readonly retention: Retention;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Counted as if it were there already. */
  readonly coming?: Counted;
  /** The one limit that matters where nobody is coming; all of them when left out. */
  readonly asked?: Limit;
  /** Names (`keyOf`) of those that must not leave. */
  readonly exempt?: ReadonlySet<string>;
}

/** Makes every limit hold again with as few leaving as there can be in the order of the strategy. */
export function planEviction({ index, retention, now, coming, asked, exempt }: EvictionCase): EvictionPlan {
  const { usage } = index;
  const candidates = new Candidates(index, retention, now, exempt);
  const leaving: StoredArtifact[] = [];
  const hopeless = new Set<string>();
  let full: Limit | null = null;
  if (coming) usage.add(coming);
  for (let exceeded = usage.exceeded(); exceeded !== null; exceeded = usage.exceeded(hopeless)) {
    const next = candidates.next(exceeded);
    if (next === undefined) {
      const isAsked = coming
        ? exceeded.limit.groupOf(coming) === exceeded.group
        : exceeded.limit === (asked ?? exceeded.limit);
      if (isAsked) full ??= exceeded.limit;
      hopeless.add(exceeded.name);
      continue;
    }
    usage.remove(next);
    leaving.push(next);
  }
  for (const artifact of leaving) usage.add(artifact);
  if (coming) usage.remove(coming);
  return { leaving, full };
}

/** Those that may leave, each once, however many limits they count for. */
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
    // A time that lies ahead by more is none: the clock was put back since, or is wrong. It must not hold the store up.
    return !(Math.abs(now - Math.floor(used_at)) < retention.min_age_seconds * 1000);
  }
}

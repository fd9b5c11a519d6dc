/**
 * The known artifacts of a store, in the order of eviction, and their use of each limit.
 * @module
 */
import { scopeKey } from "../scope.js";
import type { ArtifactRef, ArtifactScope, StoredArtifact } from "../store.js";
import type { GroupOf, Limit, Measured, Retention } from "./policy.js";

/** Most removed artifacts that are remembered, to answer `expired` and not `unknown`. */
const MAX_DEPARTED = 10_000;

const NOBODY: ReadonlyMap<string, StoredArtifact> = new Map();

/** A key for an artifact that is unique over all scopes. */
export function keyOf({ id, scope }: Pick<Partial<ArtifactRef>, "scope"> & Pick<ArtifactRef, "id">): string {
  return `${id} ${scopeKey(scope)}`;
}

/** The index of one retaining store. Holds no bytes and does no I/O. */
export class RetentionIndex {
  readonly #limits: readonly Limit[];
  readonly #leavingBy: QueueTime;
  readonly #expiringBy: QueueTime;
  readonly #kept = new Map<string, StoredArtifact>();
  readonly #departed = new Set<string>();
  /** Artifacts that count together, by grouping function, then by group. */
  readonly #groups = new Map<GroupOf, Map<string, Queue>>();
  /** Keys of artifacts that changed, for each reading of the store in progress. */
  readonly #watches = new Set<Set<string>>();
  #expiring: Queue;
  #usage: RetentionUsage;

  constructor(limits: readonly Limit[], { cleanup_strategy, ttl_from }: Retention) {
    this.#limits = limits;
    this.#leavingBy = cleanup_strategy === "fifo" ? "stored_at" : "used_at";
    this.#expiringBy = ttl_from === "used" ? "used_at" : "stored_at";
    this.#expiring = new Queue(this.#expiringBy);
    this.#usage = new RetentionUsage(limits);
    for (const { groupOf } of limits) this.#groups.set(groupOf, new Map());
  }

  get usage(): RetentionUsage {
    return this.#usage;
  }

  /** All artifacts, the first to expire first. */
  expiring(): Iterable<[key: string, artifact: StoredArtifact]> {
    return this.#expiring.entries();
  }

  /** The first to expire. Undefined if the index is empty. */
  get next(): StoredArtifact | undefined {
    const { value } = this.#expiring.entries().next();
    return value?.[1];
  }

  /** The artifacts of a group, the first to evict first. */
  members({ groupOf }: Limit, group: string): Iterator<[key: string, artifact: StoredArtifact]> {
    return (this.#groups.get(groupOf)?.get(group) ?? NOBODY).entries();
  }

  /** Records the keys of what changes until {@link unwatch}: a reading in progress is out of date for those. */
  watch(): ReadonlySet<string> {
    const changed = new Set<string>();
    this.#watches.add(changed);
    return changed;
  }

  /** Ends a watch. */
  unwatch(changed: ReadonlySet<string>): void {
    this.#watches.delete(changed as Set<string>);
  }

  /** Rebuilds the index from a reading of the store, except for what changed meanwhile. */
  reset(artifacts: Iterable<StoredArtifact>, changed: ReadonlySet<string> = new Set()): void {
    const known = [...changed].flatMap((key) => this.#kept.get(key) ?? []);
    this.#kept.clear();
    this.#expiring = new Queue(this.#expiringBy);
    this.#usage = new RetentionUsage(this.#limits);
    for (const groups of this.#groups.values()) groups.clear();
    for (const artifact of artifacts) if (!changed.has(keyOf(artifact))) this.#enter(keyOf(artifact), artifact);
    for (const artifact of known) this.#enter(keyOf(artifact), artifact);
  }

  find(id: string, scope: ArtifactScope | undefined): StoredArtifact | undefined {
    return this.#kept.get(keyOf({ id, scope: scope ?? {} }));
  }

  /** Adds or replaces an artifact. */
  enter(artifact: StoredArtifact): void {
    const key = keyOf(artifact);
    this.#change(key);
    this.#enter(key, artifact);
  }

  #enter(key: string, artifact: StoredArtifact): void {
    this.#remove(key);
    this.#kept.set(key, artifact);
    this.#usage.add(artifact);
    this.#expiring.add(key, artifact);
    for (const [groupOf, groups] of this.#groups) {
      const group = groupOf(artifact);
      if (group === null) continue;
      const members = groups.get(group) ?? new Queue(this.#leavingBy);
      members.add(key, artifact);
      groups.set(group, members);
    }
    this.#departed.delete(key);
  }

  /** Removes an artifact. */
  strike(id: string, scope: ArtifactScope | undefined): void {
    const key = keyOf({ id, scope: scope ?? {} });
    this.#change(key);
    this.#remove(key);
  }

  /** Removes an artifact that retention took away, and remembers it. */
  depart({ id, scope }: ArtifactRef): void {
    const key = keyOf({ id, scope });
    this.#change(key);
    this.#remove(key);
    this.#departed.add(key);
    if (this.#departed.size <= MAX_DEPARTED) return;
    for (const oldest of this.#departed) {
      this.#departed.delete(oldest);
      return;
    }
  }

  hasDeparted(id: string, scope: ArtifactScope | undefined): boolean {
    return this.#departed.has(keyOf({ id, scope: scope ?? {} }));
  }

  #change(key: string): void {
    for (const changed of this.#watches) changed.add(key);
  }

  #remove(key: string): void {
    const artifact = this.#kept.get(key);
    if (!artifact) return;
    this.#kept.delete(key);
    this.#usage.remove(artifact);
    this.#expiring.remove(key);
    for (const [groupOf, groups] of this.#groups) {
      const group = groupOf(artifact);
      const members = group === null ? undefined : groups.get(group);
      members?.remove(key);
      // Groups come and go with sessions: empty ones are dropped.
      if (group !== null && members?.size === 0) groups.delete(group);
    }
  }
}

type QueueTime = "stored_at" | "used_at";

/**
 * A queue by time, the earliest first. Times usually grow, so adding at the end is constant time. After an earlier time the whole
 * queue is sorted on the next read.
 */
export class Queue {
  readonly #time: QueueTime;
  #artifacts = new Map<string, StoredArtifact>();
  #latest = -Infinity;
  #sorted = true;

  constructor(time: QueueTime) {
    this.#time = time;
  }

  get size(): number {
    return this.#artifacts.size;
  }

  /** Adds an artifact that is not in the queue. */
  add(key: string, artifact: StoredArtifact): void {
    const time = artifact[this.#time];
    if (time < this.#latest) this.#sorted = false;
    else this.#latest = time;
    this.#artifacts.set(key, artifact);
  }

  remove(key: string): void {
    this.#artifacts.delete(key);
  }

  /** Keys and artifacts. Changes during the walk may be seen or not. */
  entries(): IterableIterator<[key: string, artifact: StoredArtifact]> {
    if (!this.#sorted) {
      const time = this.#time;
      this.#artifacts = new Map([...this.#artifacts].toSorted(([, left], [, right]) => left[time] - right[time]));
      this.#sorted = true;
    }
    return this.#artifacts.entries();
  }
}

/** What is counted of an artifact. Equal `sha256` means shared content. */
export type Counted = Measured & { readonly sha256: string | null };

/** A limit and the group that exceeds it. */
export interface ExceededLimit {
  readonly limit: Limit;
  readonly group: string;
  /** A key for both. */
  readonly name: string;
}

/** Sums over the artifacts in the index. */
class RetentionUsage {
  readonly #limits: readonly Limit[];
  /** The current value of each limit. */
  readonly #most: number[];
  /** Sums by limit, then by group. */
  readonly #sums: readonly Map<string, number>[];
  /** The groups that exceed their limit, by limit. */
  readonly #over: readonly Set<string>[];
  /** How many artifacts share a content, for limits that count content once. */
  readonly #sharing = new Map<string, number>();

  constructor(limits: readonly Limit[]) {
    this.#limits = limits;
    this.#most = limits.map(({ most }) => most);
    this.#sums = limits.map(() => new Map<string, number>());
    this.#over = limits.map(() => new Set<string>());
  }

  add(artifact: Counted): void {
    const sharers = this.#share(artifact, 1);
    this.#count(artifact, 1, sharers === 1);
  }

  remove(artifact: Counted): void {
    const sharers = this.#share(artifact, -1);
    this.#count(artifact, -1, sharers === 0);
  }

  /** Whether every limit holds now and with one more artifact. */
  hasRoomFor(coming: Counted): boolean {
    this.add(coming);
    const hasRoom = this.exceeded() === null;
    this.remove(coming);
    return hasRoom;
  }

  /** The bytes or artifacts of a group that a limit counts. */
  sum(limit: Limit, group: string): number {
    return this.#sums[this.#limits.indexOf(limit)]?.get(group) ?? 0;
  }

  /** Changes a limit that has only one group. */
  allow(limit: Limit, group: string, most: number): void {
    const at = this.#limits.indexOf(limit);
    this.#most[at] = most;
    this.#judge(at, group, this.sum(limit, group));
  }

  /** The narrowest exceeded limit, except for those with these names. Null if all hold. */
  exceeded(except?: ReadonlySet<string>): ExceededLimit | null {
    for (const [at, limit] of this.#limits.entries()) {
      for (const group of this.#over[at] ?? []) {
        const name = `${limit.key} ${group}`;
        if (except?.has(name) !== true) return { limit, group, name };
      }
    }
    return null;
  }

  #share({ sha256 }: Counted, more: 1 | -1): number {
    if (sha256 === null) return more === 1 ? 1 : 0;
    const sharers = (this.#sharing.get(sha256) ?? 0) + more;
    if (sharers > 0) this.#sharing.set(sha256, sharers);
    else this.#sharing.delete(sha256);
    return sharers;
  }

  #count(artifact: Counted, sign: 1 | -1, isOnly: boolean): void {
    for (const [at, { counts, once, groupOf }] of this.#limits.entries()) {
      const group = groupOf(artifact);
      if (group === null || (once && !isOnly)) continue;
      const sums = this.#sums[at];
      const sum = (sums?.get(group) ?? 0) + sign * (counts === "bytes" ? artifact.size_bytes : 1);
      // Groups come and go with sessions: empty ones are dropped.
      if (sum === 0) sums?.delete(group);
      else sums?.set(group, sum);
      this.#judge(at, group, sum);
    }
  }

  #judge(at: number, group: string, sum: number): void {
    if (sum > (this.#most[at] ?? Infinity)) this.#over[at]?.add(group);
    else this.#over[at]?.delete(group);
  }
}

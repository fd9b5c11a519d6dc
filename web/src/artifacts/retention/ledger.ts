/**
 * What a store is known to hold, in the order in which it may have to go.
 * @module
 */
import { scopeKey } from "../scope.js";
import type { ArtifactRef, ArtifactScope, StoredArtifact } from "../store.js";
import type { GroupOf, Limit } from "./limits.js";
import type { Retention } from "./policy.js";
import { Queue, type QueueTime } from "./queue.js";
import { Tally } from "./tally.js";

/** Most departed artifacts that are remembered, so as to say `expired` and not `unknown`. */
const MAX_DEPARTED = 10_000;

const NOBODY: ReadonlyMap<string, StoredArtifact> = new Map();

/** Names an artifact over all scopes. */
export function keyOf({ id, scope }: Pick<Partial<ArtifactRef>, "scope"> & Pick<ArtifactRef, "id">): string {
  return `${id} ${scopeKey(scope)}`;
}

/** The books of one retaining store. Holds no bytes and asks nobody. */
export class Ledger {
  readonly #limits: readonly Limit[];
  readonly #leavingBy: QueueTime;
  readonly #expiringBy: QueueTime;
  readonly #kept = new Map<string, StoredArtifact>();
  readonly #departed = new Set<string>();
  /** Those that count together, by how they are put together, then by group. */
  readonly #groups = new Map<GroupOf, Map<string, Queue>>();
  /** Names of those that changed, for each reading of the store that is under way. */
  readonly #watches = new Set<Set<string>>();
  #expiring: Queue;
  #tally: Tally;

  constructor(limits: readonly Limit[], { cleanup_strategy, ttl_from }: Retention) {
    this.#limits = limits;
    this.#leavingBy = cleanup_strategy === "fifo" ? "stored_at" : "used_at";
    this.#expiringBy = ttl_from === "used" ? "used_at" : "stored_at";
    this.#expiring = new Queue(this.#expiringBy);
    this.#tally = new Tally(limits);
    for (const { groupOf } of limits) this.#groups.set(groupOf, new Map());
  }

  get tally(): Tally {
    return this.#tally;
  }

  /** Everything, what expires first coming first. */
  expiring(): Iterable<[key: string, artifact: StoredArtifact]> {
    return this.#expiring.entries();
  }

  /** What counts together, what has to leave first coming first. */
  members({ groupOf }: Limit, group: string): Iterator<[key: string, artifact: StoredArtifact]> {
    return (this.#groups.get(groupOf)?.get(group) ?? NOBODY).entries();
  }

  /** Notes what changes from now on, until {@link unwatch}: what was read meanwhile says nothing of that. */
  watch(): ReadonlySet<string> {
    const changed = new Set<string>();
    this.#watches.add(changed);
    return changed;
  }

  /** Ends it. */
  unwatch(changed: ReadonlySet<string>): void {
    this.#watches.delete(changed as Set<string>);
  }

  /** Starts anew from what the store says, but for those that changed while it did. */
  reset(artifacts: Iterable<StoredArtifact>, changed: ReadonlySet<string> = new Set()): void {
    const known = [...changed].flatMap((key) => this.#kept.get(key) ?? []);
    this.#kept.clear();
    this.#expiring = new Queue(this.#expiringBy);
    this.#tally = new Tally(this.#limits);
    for (const groups of this.#groups.values()) groups.clear();
    for (const artifact of artifacts) if (!changed.has(keyOf(artifact))) this.#enter(keyOf(artifact), artifact);
    for (const artifact of known) this.#enter(keyOf(artifact), artifact);
  }

  find(id: string, scope: ArtifactScope | undefined): StoredArtifact | undefined {
    return this.#kept.get(keyOf({ id, scope: scope ?? {} }));
  }

  /** Notes an artifact, in place of what was noted of it before. */
  enter(artifact: StoredArtifact): void {
    const key = keyOf(artifact);
    this.#change(key);
    this.#enter(key, artifact);
  }

  #enter(key: string, artifact: StoredArtifact): void {
    this.#remove(key);
    this.#kept.set(key, artifact);
    this.#tally.add(artifact);
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

  /** Strikes an artifact out. */
  strike(id: string, scope: ArtifactScope | undefined): void {
    const key = keyOf({ id, scope: scope ?? {} });
    this.#change(key);
    this.#remove(key);
  }

  /** Strikes it out as taken away by retention. */
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
    this.#tally.remove(artifact);
    this.#expiring.remove(key);
    for (const [groupOf, groups] of this.#groups) {
      const group = groupOf(artifact);
      const members = group === null ? undefined : groups.get(group);
      members?.remove(key);
      // Groups come and go with sessions: an empty one is forgotten.
      if (group !== null && members?.size === 0) groups.delete(group);
    }
  }
}

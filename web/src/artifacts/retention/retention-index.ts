/**
 * The known artifacts of a store, in the order of eviction, and their use of each limit; and how they are read from the store.
 * @module
 */
import { guardStorage } from "../../errors/storage.js";
import { toStamp, type Stamps } from "../reference.js";
import { scopeKey } from "../scope.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, StoredArtifact } from "../store.js";
import { nameGroup, type Group, type Limit, type Measured, type Retention } from "./policy.js";

/** Most removed artifacts that are remembered, to answer `expired` and not `unknown`. */
const MAX_DEPARTED = 10_000;

const NOBODY: ReadonlyMap<string, StoredArtifact> = new Map();

/** A key for an artifact that is unique over all scopes. */
export function toArtifactKey({ id, scope }: Pick<Partial<ArtifactRef>, "scope"> & Pick<ArtifactRef, "id">): string {
  return `${id} ${scopeKey(scope)}`;
}

/** What one user's artifacts use, over all sessions. */
export interface OwnerUse {
  readonly bytes: number;
  readonly artifacts: number;
}

const NO_USE: OwnerUse = { bytes: 0, artifacts: 0 };

/** The index of one retaining store. Holds no bytes and does no I/O. */
export class RetentionIndex {
  readonly #limits: readonly Limit[];
  readonly #leavingBy: QueueTime;
  readonly #expiringBy: QueueTime;
  readonly #departed = new Set<string>();
  /** Artifacts that count together, by what groups them, then by group. */
  readonly #groups = new Map<Group, Map<string, Queue>>();
  /** Keys of artifacts that changed, for each reading of the store in progress. */
  readonly #watches = new Set<Set<string>>();
  /** What is about to be stored. */
  readonly #held = new Set<Counted>();
  /** What users' artifacts use. */
  readonly #owners = new Map<string, OwnerUse>();
  /** All artifacts by their keys, the first to expire first. */
  expiring: Queue;
  /** What the artifacts use of each limit. */
  usage: RetentionUsage;

  constructor(limits: readonly Limit[], { cleanup_strategy, ttl_from }: Retention) {
    this.#limits = limits;
    this.#leavingBy = cleanup_strategy === "fifo" ? "stored_at" : "used_at";
    this.#expiringBy = ttl_from === "used" ? "used_at" : "stored_at";
    this.expiring = new Queue(this.#expiringBy);
    this.usage = new RetentionUsage(limits);
    for (const { within } of limits) this.#groups.set(within, new Map());
  }

  /** The artifacts of a group, the first to evict first. */
  members({ within }: Limit, group: string): Iterator<[key: string, artifact: StoredArtifact]> {
    return (this.#groups.get(within)?.get(group) ?? NOBODY).entries();
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
    const known = [...changed].flatMap((key) => this.expiring.get(key) ?? []);
    this.expiring = new Queue(this.#expiringBy);
    this.usage = new RetentionUsage(this.#limits);
    this.#owners.clear();
    for (const groups of this.#groups.values()) groups.clear();
    for (const artifact of artifacts) if (!changed.has(toArtifactKey(artifact))) this.enter(artifact);
    for (const artifact of known) this.enter(artifact);
    for (const coming of this.#held) this.usage.count(coming, 1);
  }

  /** Counts an artifact that is about to be stored, until it is disposed of. */
  hold(coming: Counted): Disposable {
    this.#held.add(coming);
    this.usage.count(coming, 1);
    return {
      [Symbol.dispose]: () => {
        if (this.#held.delete(coming)) this.usage.count(coming, -1);
      },
    };
  }

  find(id: string, scope: ArtifactScope | undefined): StoredArtifact | undefined {
    return this.expiring.get(toArtifactKey({ id, scope: scope ?? {} }));
  }

  /** What a user's artifacts use, those that share content with others included. */
  useOf(owner: Pick<ArtifactScope, "tenant_id" | "user_id">): OwnerUse {
    return this.#owners.get(toOwnerKey(owner)) ?? NO_USE;
  }

  /** Adds or replaces an artifact. */
  enter(artifact: StoredArtifact): void {
    const key = toArtifactKey(artifact);
    this.#remove(key);
    this.usage.count(artifact, 1);
    this.#countOwner(artifact, 1);
    this.expiring.set(key, artifact);
    for (const [within, groups] of this.#groups) {
      const group = nameGroup(within, artifact);
      if (group === null) continue;
      const members = groups.get(group) ?? new Queue(this.#leavingBy);
      members.set(key, artifact);
      groups.set(group, members);
    }
    this.#departed.delete(key);
  }

  /** Removes an artifact. */
  strike(id: string, scope: ArtifactScope | undefined): void {
    this.#remove(toArtifactKey({ id, scope: scope ?? {} }));
  }

  /** Removes an artifact that retention took away, and remembers it. */
  depart({ id, scope }: ArtifactRef): void {
    const key = toArtifactKey({ id, scope });
    this.#remove(key);
    this.#departed.add(key);
    if (this.#departed.size <= MAX_DEPARTED) return;
    for (const oldest of this.#departed) {
      this.#departed.delete(oldest);
      return;
    }
  }

  hasDeparted(id: string, scope: ArtifactScope | undefined): boolean {
    return this.#departed.has(toArtifactKey({ id, scope: scope ?? {} }));
  }

  #countOwner({ scope, size_bytes }: StoredArtifact, sign: 1 | -1): void {
    const owner = toOwnerKey(scope);
    const before = this.#owners.get(owner) ?? NO_USE;
    const use = { bytes: before.bytes + sign * size_bytes, artifacts: before.artifacts + sign };
    // Users come and go: those without artifacts are dropped.
    if (use.artifacts === 0) this.#owners.delete(owner);
    else this.#owners.set(owner, use);
  }

  #remove(key: string): void {
    for (const changed of this.#watches) changed.add(key);
    const artifact = this.expiring.get(key);
    if (!artifact) return;
    this.usage.count(artifact, -1);
    this.#countOwner(artifact, -1);
    this.expiring.delete(key);
    for (const [within, groups] of this.#groups) {
      const group = nameGroup(within, artifact);
      const members = group === null ? undefined : groups.get(group);
      members?.delete(key);
      // Groups come and go with sessions: empty ones are dropped.
      if (group !== null && members?.size === 0) groups.delete(group);
    }
  }
}

function toOwnerKey({ tenant_id, user_id }: Pick<ArtifactScope, "tenant_id" | "user_id">): string {
  return scopeKey({ tenant_id: tenant_id ?? null, user_id: user_id ?? null });
}

type QueueTime = "stored_at" | "used_at";

/**
 * A map whose entries stand by time, the earliest first. Times usually grow, so adding at the end is constant time. After an earlier
 * time the whole map is sorted when its entries are read.
 */
export class Queue extends Map<string, StoredArtifact> {
  readonly #time: QueueTime;
  #latest = -Infinity;
  #sorted = true;

  constructor(time: QueueTime) {
    super();
    this.#time = time;
  }

  /** Adds an artifact that is not in the queue. */
  override set(key: string, artifact: StoredArtifact): this {
    const time = artifact[this.#time];
    if (time < this.#latest) this.#sorted = false;
    else this.#latest = time;
    return super.set(key, artifact);
  }

  /** Keys and artifacts. Changes during the walk may be seen or not. */
  override entries(): ReturnType<Map<string, StoredArtifact>["entries"]> {
    if (!this.#sorted) {
      const time = this.#time;
      const sorted = [...super.entries()].toSorted(([, left], [, right]) => left[time] - right[time]);
      this.clear();
      for (const [key, artifact] of sorted) super.set(key, artifact);
      this.#sorted = true;
    }
    return super.entries();
  }

  override [Symbol.iterator](): ReturnType<Queue["entries"]> {
    return this.entries();
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

/** What is counted for one limit. */
interface LimitUse {
  readonly limit: Limit;
  /** The current value of the limit. */
  most: number;
  /** Sums by group. */
  readonly sums: Map<string, number>;
  /** The groups that exceed the limit. */
  readonly over: Set<string>;
}

/** Sums over the artifacts in the index. */
class RetentionUsage {
  readonly #uses: readonly LimitUse[];
  /** How many artifacts share a content, for limits that count content once. */
  readonly #sharing = new Map<string, number>();

  constructor(limits: readonly Limit[]) {
    this.#uses = limits.map((limit) => ({ limit, most: limit.most, sums: new Map(), over: new Set() }));
  }

  /** Counts an artifact that comes, 1, or goes, -1. */
  count(artifact: Counted, sign: 1 | -1): void {
    const { sha256, size_bytes } = artifact;
    let isOnly = true;
    if (sha256 !== null) {
      const sharers = (this.#sharing.get(sha256) ?? 0) + sign;
      if (sharers > 0) this.#sharing.set(sha256, sharers);
      else this.#sharing.delete(sha256);
      isOnly = sharers === (sign === 1 ? 1 : 0);
    }
    for (const use of this.#uses) {
      const { limit, sums } = use;
      const group = nameGroup(limit.within, artifact);
      if (group === null || (limit.once && !isOnly)) continue;
      const sum = (sums.get(group) ?? 0) + sign * (limit.counts === "bytes" ? size_bytes : 1);
      // Groups come and go with sessions: empty ones are dropped.
      if (sum === 0) sums.delete(group);
      else sums.set(group, sum);
      judge(use, group, sum);
    }
  }

  /** Whether every limit holds now and with one more artifact. */
  hasRoomFor(coming: Measured): boolean {
    for (const { limit, most, sums, over } of this.#uses) {
      const group = nameGroup(limit.within, coming);
      const more = limit.counts === "bytes" ? coming.size_bytes : 1;
      if (over.size > 0 || (group !== null && (sums.get(group) ?? 0) + more > most)) return false;
    }
    return true;
  }

  /** The bytes or artifacts of a group that a limit counts. */
  sum(limit: Limit, group: string): number {
    return this.#findUse(limit)?.sums.get(group) ?? 0;
  }

  /** Changes a limit that has only one group. */
  allow(limit: Limit, group: string, most: number): void {
    const use = this.#findUse(limit);
    if (use === undefined) return;
    use.most = most;
    judge(use, group, this.sum(limit, group));
  }

  /** The narrowest exceeded limit, except for those with these names. Null if all hold. */
  exceeded(except?: ReadonlySet<string>): ExceededLimit | null {
    for (const { limit, over } of this.#uses) {
      for (const group of over) {
        const name = `${limit.key} ${group}`;
        if (except?.has(name) !== true) return { limit, group, name };
      }
    }
    return null;
  }

  #findUse(limit: Limit): LimitUse | undefined {
    return this.#uses.find((use) => use.limit === limit);
  }
}

function judge({ most, over }: LimitUse, group: string, sum: number): void {
  if (sum > most) over.add(group);
  else over.delete(group);
}

/** The store is read again after so many milliseconds, for changes by other processes. */
const FRESH = 60_000;

/** Milliseconds that a writer waits for that. A large store takes longer, and the changes take effect later. */
const PATIENCE = 250;

/** The same for the first time. */
const FIRST = 10_000;

/** Reading takes at most one part in so many of the time. */
const REST = 20;

type Listed = readonly StoredArtifact[];

interface UnderWay {
  readonly begun: number;
  /** The same by `performance.now`. */
  readonly begunAt: number;
  readonly listed: Promise<Listed>;
  /** Artifacts that changed during the reading: what it says of them is out of date. */
  readonly changed: ReadonlySet<string>;
  /** Whether it runs without a waiting caller. It takes effect when it is done. */
  isLeft: boolean;
}

/** Reads a store into its index. */
export class StoreReading {
  readonly #store: ArtifactStore;
  readonly #index: RetentionIndex;
  readonly #stamps: Stamps;
  readonly #inTurn: (work: () => Promise<void>) => Promise<void>;
  #read: number | undefined;
  /** When the last reading that is taken began, by `performance.now`: nothing was missed before. */
  #readAt = -Infinity;
  /** Milliseconds that reading took. */
  #took = 0;
  #underWay: UnderWay | undefined;

  /** @param inTurn runs work in a turn of its own. */
  constructor(
    store: ArtifactStore,
    index: RetentionIndex,
    stamps: Stamps,
    inTurn: (work: () => Promise<void>) => Promise<void>,
  ) {
    this.#store = store;
    this.#index = index;
    this.#stamps = stamps;
    this.#inTurn = inTurn;
  }

  /** When the last reading that is taken began, by `performance.now`. */
  get readAt(): number {
    return this.#readAt;
  }

  /** Brings the index up to date within a minute, or longer for stores that are slow to read. Called in a turn. */
  async freshen(): Promise<void> {
    const age = this.#read === undefined ? Infinity : Math.abs(this.#stamps.now() - this.#read);
    if (age < Math.max(FRESH, REST * this.#took)) return;
    const reading = this.#begin();
    if (reading.isLeft) return;
    const listed = await this.#orLate(reading, this.#read === undefined ? FIRST : PATIENCE);
    if (listed !== undefined) return this.#take(reading, listed);
    reading.isLeft = true;
    // The next caller tries again.
    reading.listed.then((all) => this.#inTurn(async () => this.#take(reading, all))).catch(() => undefined);
  }

  /** Reads the store now; if that takes long, as `freshen` does. Called in a turn. */
  async refresh(): Promise<void> {
    if (this.#took > PATIENCE) return this.freshen();
    const reading = this.#begin();
    this.#take(reading, await reading.listed);
  }

  /** Reads the store now while turns go on. Not to be awaited in a turn. */
  async aside(): Promise<void> {
    const reading = this.#begin();
    const listed = await reading.listed;
    await this.#inTurn(async () => this.#take(reading, listed));
  }

  #begin(): UnderWay {
    this.#underWay ??= this.#beginReading();
    return this.#underWay;
  }

  #beginReading(): UnderWay {
    const changed = this.#index.watch();
    const begunAt = performance.now();
    const reading = { begun: this.#stamps.now(), begunAt, listed: this.#list(), changed, isLeft: false };
    reading.listed.catch(() => this.#leave(reading));
    return reading;
  }

  async #list(): Promise<Listed> {
    const begun = performance.now();
    const all: StoredArtifact[] = [];
    await guardStorage("read", async () => {
      for await (const artifact of this.#store.list()) all.push(artifact);
    });
    this.#took = performance.now() - begun;
    return all;
  }

  #orLate({ listed }: UnderWay, milliseconds: number): Promise<Listed | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), milliseconds);
    });
    return Promise.race([listed, late]).finally(() => clearTimeout(timer));
  }

  /** Called in a turn, so that each decision sees one state. */
  #take(reading: UnderWay, all: Listed): void {
    if (this.#underWay !== reading) return;
    this.#leave(reading);
    this.#index.reset(all, reading.changed);
    for (const { used_at } of all) this.#stamps.after(toStamp(used_at));
    this.#read = reading.begun;
    this.#readAt = reading.begunAt;
  }

  #leave(reading: UnderWay): void {
    this.#index.unwatch(reading.changed);
    if (this.#underWay === reading) this.#underWay = undefined;
  }
}

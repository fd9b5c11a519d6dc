/**
 * Holds a store to its retention limits: which artifacts are admitted, and when others are evicted.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { guarded } from "../../errors/storage.js";
import { inMilliseconds, stampOf, Stamps } from "../stamps.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, Clock, StoredArtifact, StoreSpace } from "../store.js";
import { nothingEvicted, Eviction, type EvictionCase, type EvictionPlan } from "./eviction.js";
import { keyOf, RetentionIndex } from "./retention-index.js";
import {
  boundOf,
  DISK,
  isExpired,
  limitsOf,
  WHOLE,
  type Bound,
  type Limit,
  type Measured,
  type Retention,
} from "./policy.js";

/** What a collection removed. */
export interface Collected {
  /** Artifacts. */
  readonly artifacts: number;
  /** Their bytes, shared content included. */
  readonly bytes: number;
}

/** Most artifacts that expire in one turn, so that the next caller does not wait for all. */
const MOST_EXPIRING = 200;

/** How often disk space is freed for one piece of a stream while others take it. */
const MOST_ROUNDS = 4;

/** Bytes on their way to a store. */
interface Writing {
  readonly bytes: number;
  /** Gives them to the store. Called synchronously. */
  readonly write: () => Promise<void>;
  /** Discards what was written before them. */
  readonly discard: () => Promise<void>;
}

/** Decides for one store, one decision at a time. */
export class RetentionManager {
  readonly #store: ArtifactStore;
  readonly #retention: Retention;
  readonly #limits: readonly Limit[];
  readonly #stamps: Stamps;
  readonly #index: RetentionIndex;
  readonly #eviction: Eviction;
  readonly #disk: FreeDisk | null;
  readonly #reading: Reading;
  /** The last collection. Never rejects. */
  #collecting: Promise<unknown> = Promise.resolve();
  /** The last turn. Never rejects. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: ArtifactStore, retention: Retention, clock: Clock) {
    this.#store = store;
    this.#retention = retention;
    this.#limits = limitsOf(retention);
    this.#stamps = new Stamps(clock);
    this.#index = new RetentionIndex(this.#limits, retention);
    this.#eviction = new Eviction(store, retention, this.#index, this.#stamps);
    this.#reading = new Reading(store, this.#index, this.#stamps, (work) => this.#inTurn(work));
    this.#disk = FreeDisk.of(store, retention.min_free_disk);
  }

  /** Whether anything ever expires. */
  get expiring(): boolean {
    return this.#retention.ttl_seconds !== null;
  }

  /** The size limit of an artifact with that scope and namespace. Null if there is none. */
  boundOf(claim: Omit<Measured, "size_bytes">): Bound | null {
    return boundOf(this.#retention, this.#limits, { ...claim, size_bytes: 0 });
  }

  /** Reads the free disk space. Called before anything of an artifact is written. */
  async lookAtDisk(): Promise<void> {
    const disk = this.#disk;
    if (disk !== null) await this.#inTurn(() => disk.look());
  }

  /**
   * Writes bytes, if necessary after evicting artifacts from the disk.
   *
   * @throws SluiceError E_STORE_FULL if too few may be evicted. What was written before is discarded by then, which frees its space
   * for waiting writers.
   */
  write(writing: Writing): Promise<void> {
    const disk = this.#disk;
    if (disk === null || (!disk.isDue && disk.take(writing.bytes))) return writing.write();
    return this.#writeInTurn(disk, writing);
  }

  /** Discards `bytes` of an unfinished artifact. */
  async discard(bytes: number, work: () => Promise<void>): Promise<void> {
    await (this.#disk?.give(work, () => bytes) ?? work());
  }

  /**
   * Makes room for an artifact and admits it, in one turn.
   *
   * @param publish stores it; not called if there is no room
   * @throws SluiceError E_STORE_FULL if nothing may be evicted for it.
   */
  admit(coming: Measured, publish: () => Promise<ArtifactRef>): Promise<ArtifactRef> {
    return this.#inTurn(async () => {
      await this.#reading.freshen();
      const { next } = this.#index;
      // Artifacts that cannot be removed are tried again later; they do not keep new ones out.
      if (next !== undefined && isExpired(next, this.#retention, this.#stamps.now())) {
        await this.#eviction.expire(nothingEvicted(), MOST_EXPIRING);
      }
      const { scope, namespace, size_bytes } = coming;
      const counted = { scope, namespace, size_bytes, sha256: null };
      if (!this.#index.usage.hasRoomFor(counted)) {
        const { full } = await this.#room(() => ({ coming: counted }));
        if (full) {
          throw refusal("E_STORE_FULL", full.key, `There is no room left within the ${full.most} ${full.counts} that`);
        }
      }
      const ref = await publish();
      const now = inMilliseconds(this.#stamps.next());
      // The measured values count, whatever the store says.
      this.#index.enter({ ...ref, scope, namespace, size_bytes, stored_at: now, used_at: now });
      if (this.#index.usage.exceeded() !== null) {
        await this.#eviction.evictExcess(nothingEvicted(), keyOf({ id: ref.id, scope }));
      }
      return ref;
    });
  }

  /** Whether an artifact has expired. It is removed then. */
  async expires(seen: StoredArtifact): Promise<boolean> {
    if (!isExpired(seen, this.#retention, this.#stamps.now())) return false;
    // It has expired even if it cannot be removed.
    const evicted = await this.evict(seen).catch(() => false);
    // It may have been stored again since it was seen.
    return evicted || (await this.#isOver(seen));
  }

  async #isOver({ id, scope }: StoredArtifact): Promise<boolean> {
    const now = await this.#store.stat(id, scope);
    return now === null || isExpired(now, this.#retention, this.#stamps.now());
  }

  evict(seen: StoredArtifact): Promise<boolean> {
    return this.#eviction.evict(seen);
  }

  hasDeparted(id: string, scope: ArtifactScope | undefined): boolean {
    return this.#index.hasDeparted(id, scope);
  }

  noteUsed(id: string, scope: ArtifactScope | undefined): void {
    const known = this.#index.find(id, scope);
    if (known) this.#index.enter({ ...known, used_at: inMilliseconds(this.#stamps.next()) });
  }

  /** Forgets an artifact that a caller deleted: it is unknown then, not expired. */
  forget(id: string, scope: ArtifactScope | undefined): void {
    this.#index.strike(id, scope);
  }

  exclusively<T>(work: () => Promise<T>): Promise<T | null> {
    return this.#store.exclusively ? this.#store.exclusively(work) : work();
  }

  /** Removes all it can, then throws what the store failed at. */
  collect(): Promise<Collected | null> {
    const collected = this.#collecting.then(() => this.exclusively(() => this.#collect()));
    this.#collecting = collected.catch(() => undefined);
    return collected;
  }

  /** Takes many turns, so that writers in between do not wait for all of it. */
  async #collect(): Promise<Collected> {
    await this.#reading.aside();
    const all = nothingEvicted();
    for (let [isDone, gone] = [false, -1]; !isDone && all.gone.length > gone;) {
      gone = all.gone.length;
      isDone = await this.#inTurn(() => this.#eviction.expire(all, MOST_EXPIRING));
    }
    await this.#inTurn(() => this.#eviction.evictExcess(all));
    if (all.failure) throw all.failure;
    return { artifacts: all.gone.length, bytes: all.gone.reduce((sum, { size_bytes }) => sum + size_bytes, 0) };
  }

  /** Plans evictions. Reads the store again before it refuses: other processes may have removed artifacts. */
  async #room(wanted: () => Pick<EvictionCase, "coming" | "asked">): Promise<EvictionPlan> {
    const first = this.#eviction.plan(wanted());
    if (first.full === null || !this.#store.exclusively) return first;
    await this.#reading.refresh();
    return this.#eviction.plan(wanted());
  }

  async #writeInTurn(disk: FreeDisk, { bytes, write, discard }: Writing): Promise<void> {
    // Begun in the turn, so that no disk check comes between counting and writing. A slow write holds up no other turn.
    const { written } = await this.#inTurn(async () => {
      if (await this.#takeOf(disk, bytes)) return { written: write() };
      await discard();
      throw noneFree(this.#retention);
    });
    await written;
  }

  /** Reserves disk space, evicting artifacts if necessary. False if that is not enough. */
  async #takeOf(disk: FreeDisk, bytes: number): Promise<boolean> {
    if (disk.isDue) await disk.look();
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (disk.take(bytes)) return true;
      if (!(await this.#clear(disk, bytes))) return false;
    }
    return disk.take(bytes);
  }

  /** Frees disk space. If there would not be enough, gives false and removes only what has expired. */
  async #clear(disk: FreeDisk, bytes: number): Promise<boolean> {
    const held = (): number => this.#index.usage.sum(DISK, WHOLE);
    const leaving = (work: () => Promise<void>): Promise<void> => {
      const before = held();
      return disk.give(work, () => before - held());
    };
    await this.#reading.freshen();
    await leaving(() => this.#eviction.expire(nothingEvicted()).then(() => undefined));
    try {
      const { full } = await this.#room(() => {
        this.#index.usage.allow(DISK, WHOLE, held() + disk.spare - bytes);
        return { asked: DISK };
      });
      if (full) return false;
      await leaving(() => this.#eviction.evictExcess(nothingEvicted()));
      return true;
    } finally {
      this.#index.usage.allow(DISK, WHOLE, DISK.most);
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}

/** The error for an artifact with more bytes than can ever be kept. */
export function tooLarge({ key, most }: Bound): SluiceError {
  return refusal("E_TOO_LARGE", key, `The artifact has more than the ${most} bytes that`);
}

function noneFree({ min_free_disk }: Retention): SluiceError {
  const path = "retention.min_free_disk";
  const share = `${Number((min_free_disk * 100).toFixed(2))} %`;
  const sentence = `There is no room left beside the ${share} of the disk that ${path} leaves free: free some disk space, lower it, or delete artifacts.`;
  return new SluiceError("E_STORE_FULL", sentence, { path });
}

function refusal(code: "E_TOO_LARGE" | "E_STORE_FULL", key: keyof Retention, what: string): SluiceError {
  return new SluiceError(code, `${what} retention.${key} allows: raise it, set it to null, or delete artifacts.`, {
    path: `retention.${key}`,
  });
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
  readonly listed: Promise<Listed>;
  /** Artifacts that changed during the reading: what it says of them is out of date. */
  readonly changed: ReadonlySet<string>;
  /** Whether nobody waits for it. It takes effect when it is done. */
  isLeft: boolean;
}

/** Reads a store into its index. */
class Reading {
  readonly #store: ArtifactStore;
  readonly #index: RetentionIndex;
  readonly #stamps: Stamps;
  readonly #inTurn: (work: () => Promise<void>) => Promise<void>;
  #read: number | undefined;
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

  /** Brings the index up to date within a minute, or longer for stores that are slow to read. Called in a turn. */
  async freshen(): Promise<void> {
    if (!this.#isOlder(Math.max(FRESH, REST * this.#took))) return;
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

  #isOlder(age: number): boolean {
    return this.#read === undefined || Math.abs(this.#stamps.now() - this.#read) >= age;
  }

  #begin(): UnderWay {
    this.#underWay ??= this.#begun();
    return this.#underWay;
  }

  #begun(): UnderWay {
    const changed = this.#index.watch();
    const reading = { begun: this.#stamps.now(), listed: this.#list(), changed, isLeft: false };
    reading.listed.catch(() => this.#leave(reading));
    return reading;
  }

  async #list(): Promise<Listed> {
    const begun = performance.now();
    const all: StoredArtifact[] = [];
    await guarded("read", async () => {
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
    for (const { used_at } of all) this.#stamps.after(stampOf(used_at));
    this.#read = reading.begun;
  }

  #leave(reading: UnderWay): void {
    this.#index.unwatch(reading.changed);
    if (this.#underWay === reading) this.#underWay = undefined;
  }
}

/** The disk is checked again after so many bytes, for what other programs write to it. */
const LOOK_AFTER = 64 * 1024 * 1024;

/** The space of a disk that does not tell it. */
export const UNKNOWN_SPACE: StoreSpace = { free_bytes: 0, total_bytes: 0 };

/** Keeps a share of the disk free. Between two checks, what is reserved and freed here is counted. */
class FreeDisk {
  readonly #ask: () => Promise<StoreSpace>;
  readonly #share: number;
  /** Bytes that may be taken. Negative if too little is free already. */
  #spare = 0;
  #taken = 0;
  #takenAtLook = 0;
  #looks = 0;

  private constructor(ask: () => Promise<StoreSpace>, share: number) {
    this.#ask = ask;
    this.#share = share;
  }

  /** Null if nothing has to stay free, or the store cannot tell its space. */
  static of(store: ArtifactStore, share: number): FreeDisk | null {
    if (!(share > 0) || typeof store.space !== "function") return null;
    return new FreeDisk(() => guarded("read", async () => (await store.space?.()) ?? UNKNOWN_SPACE), share);
  }

  get spare(): number {
    return this.#spare;
  }

  /** Whether enough was taken for another check. */
  get isDue(): boolean {
    return this.#taken - this.#takenAtLook >= LOOK_AFTER;
  }

  /** Asks the store. What is taken in the meantime may count twice, but always counts. */
  async look(): Promise<void> {
    const before = this.#taken;
    const { free_bytes, total_bytes } = await this.#ask();
    const most = free_bytes - this.#share * total_bytes;
    // Without a total there is no limit.
    this.#spare = total_bytes > 0 && Number.isFinite(most) ? Math.floor(most) - (this.#taken - before) : Infinity;
    this.#takenAtLook = before;
    this.#looks += 1;
  }

  /** Reserves bytes that are about to be written. False, and reserves none, if there is no room. */
  take(bytes: number): boolean {
    if (bytes > Math.max(this.#spare, 0)) return false;
    this.#spare -= bytes;
    this.#taken += bytes;
    return true;
  }

  /** Counts bytes that work frees, unless a check has seen them by then. */
  async give<T>(work: () => Promise<T>, freed: () => number): Promise<T> {
    const looks = this.#looks;
    const result = await work();
    if (looks === this.#looks) this.#spare += freed();
    return result;
  }
}

/**
 * Holds a store to its retention: who may come in, who has to go.
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

/** What a collection took away. */
export interface Collected {
  /** How many. */
  readonly artifacts: number;
  /** Bytes of them, a content that others share included. */
  readonly bytes: number;
}

/** Artifacts that expire in one turn: whoever comes next does not wait for all. */
const MOST_EXPIRING = 200;

/** How often room is made on the disk for one piece of a stream, while others take it. */
const MOST_ROUNDS = 4;

/** Bytes on their way to a store. */
interface Writing {
  readonly bytes: number;
  /** Has the store take them, before anything else happens. */
  readonly write: () => Promise<void>;
  /** Throws away what was written before them. */
  readonly discard: () => Promise<void>;
}

/** Decisions over one store, one after the other. */
export class RetentionManager {
  readonly #store: ArtifactStore;
  readonly #retention: Retention;
  readonly #limits: readonly Limit[];
  readonly #stamps: Stamps;
  readonly #index: RetentionIndex;
  readonly #eviction: Eviction;
  readonly #disk: FreeDisk | null;
  readonly #reading: Reading;
  /** The collection that was begun last; settles, never rejects. */
  #collecting: Promise<unknown> = Promise.resolve();
  /** What was begun last; settles, never rejects. */
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

  /** What bounds an artifact of that scope and namespace while it is written; null where nothing does. */
  boundOf(claim: Omit<Measured, "size_bytes">): Bound | null {
    return boundOf(this.#retention, this.#limits, { ...claim, size_bytes: 0 });
  }

  /** To be called before anything of an artifact is written: looks how much of the disk may be taken. */
  async lookAtDisk(): Promise<void> {
    const disk = this.#disk;
    if (disk !== null) await this.#inTurn(() => disk.look());
  }

  /**
   * Has bytes written, if need be after others left the disk for them.
   *
   * @throws SluiceError E_STORE_FULL where too few may leave; what was written before is discarded by then, so that
   * whoever waits finds its room.
   */
  write(writing: Writing): Promise<void> {
    const disk = this.#disk;
    if (disk === null || (!disk.isDue && disk.take(writing.bytes))) return writing.write();
    return this.#writeInTurn(disk, writing);
  }

  /** Has `bytes` of an unfinished artifact thrown away. */
  async discard(bytes: number, work: () => Promise<void>): Promise<void> {
    await (this.#disk?.give(work, () => bytes) ?? work());
  }

  /**
   * Lets an artifact in and makes room for it, both in one turn.
   *
   * @param publish stores it; not called when there is no room
   * @throws SluiceError E_STORE_FULL where nothing may leave for it.
   */
  admit(coming: Measured, publish: () => Promise<ArtifactRef>): Promise<ArtifactRef> {
    return this.#inTurn(async () => {
      await this.#reading.freshen();
      const { next } = this.#index;
      // Who cannot be taken away is looked at again the next time: it is no fault of who comes.
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
      // What was measured is what counts, whatever the store says of it.
      this.#index.enter({ ...ref, scope, namespace, size_bytes, stored_at: now, used_at: now });
      if (this.#index.usage.exceeded() !== null) {
        await this.#eviction.evictExcess(nothingEvicted(), keyOf({ id: ref.id, scope }));
      }
      return ref;
    });
  }

  /** Whether an artifact's time is over; then it is taken away. */
  async expires(seen: StoredArtifact): Promise<boolean> {
    if (!isExpired(seen, this.#retention, this.#stamps.now())) return false;
    // Where nothing can be taken away it is over all the same.
    const evicted = await this.evict(seen).catch(() => false);
    // Stored anew since it was seen? Then it is not the one that is over.
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

  /** Someone deleted it: that is not for retention to explain. */
  forget(id: string, scope: ArtifactScope | undefined): void {
    this.#index.strike(id, scope);
  }

  exclusively<T>(work: () => Promise<T>): Promise<T | null> {
    return this.#store.exclusively ? this.#store.exclusively(work) : work();
  }

  /** Throws what the store failed at when all that can go has gone. */
  collect(): Promise<Collected | null> {
    const collected = this.#collecting.then(() => this.exclusively(() => this.#collect()));
    this.#collecting = collected.catch(() => undefined);
    return collected;
  }

  /** In as many turns as it takes: whoever stores meanwhile does not wait for all of it. */
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

  /** Before anyone is turned away, it is looked whether others have left meanwhile. */
  async #room(wanted: () => Pick<EvictionCase, "coming" | "asked">): Promise<EvictionPlan> {
    const first = this.#eviction.plan(wanted());
    if (first.full === null || !this.#store.exclusively) return first;
    await this.#reading.refresh();
    return this.#eviction.plan(wanted());
  }

  async #writeInTurn(disk: FreeDisk, { bytes, write, discard }: Writing): Promise<void> {
    // Begun in the turn, so that no look comes between counting and writing; a slow write holds up nobody.
    const { written } = await this.#inTurn(async () => {
      if (await this.#takeOf(disk, bytes)) return { written: write() };
      await discard();
      throw noneFree(this.#retention);
    });
    await written;
  }

  /** Takes bytes of the disk; where they do not fit, others leave first. False when that is not enough. */
  async #takeOf(disk: FreeDisk, bytes: number): Promise<boolean> {
    if (disk.isDue) await disk.look();
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (disk.take(bytes)) return true;
      if (!(await this.#clear(disk, bytes))) return false;
    }
    return disk.take(bytes);
  }

  /** Makes room for bytes on the disk; false, and only what has expired left, when there would not be enough. */
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

/** After so many milliseconds it is looked anew at what other processes did. */
const FRESH = 60_000;

/** Milliseconds that whoever stores waits for that. Of a large store it takes longer, and comes into effect later. */
const PATIENCE = 250;

/** The same where nothing is known yet. */
const FIRST = 10_000;

/** It is read again after so many times as long as it took. */
const REST = 20;

type Listed = readonly StoredArtifact[];

interface UnderWay {
  readonly begun: number;
  readonly listed: Promise<Listed>;
  /** What is not to be taken from it. */
  readonly changed: ReadonlySet<string>;
  /** Whether it comes into effect without anybody's waiting for it. */
  isLeft: boolean;
}

/** Fills the books of a store. */
class Reading {
  readonly #store: ArtifactStore;
  readonly #index: RetentionIndex;
  readonly #stamps: Stamps;
  readonly #inTurn: (work: () => Promise<void>) => Promise<void>;
  #read: number | undefined;
  /** Milliseconds that reading took. */
  #took = 0;
  #underWay: UnderWay | undefined;

  /** @param inTurn does work when nobody else decides. */
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

  /** Has what is known be no older than a minute, in the turn of whoever asks; or somewhat older, where it takes long to read. */
  async freshen(): Promise<void> {
    if (!this.#isOlder(Math.max(FRESH, REST * this.#took))) return;
    const reading = this.#begin();
    if (reading.isLeft) return;
    const listed = await this.#orLate(reading, this.#read === undefined ? FIRST : PATIENCE);
    if (listed !== undefined) return this.#take(reading, listed);
    reading.isLeft = true;
    // What it fails at is tried again by whoever comes next.
    reading.listed.then((all) => this.#inTurn(async () => this.#take(reading, all))).catch(() => undefined);
  }

  /** Has it be as it is now, in the turn of whoever asks; where that takes long, as `freshen`. */
  async refresh(): Promise<void> {
    if (this.#took > PATIENCE) return this.freshen();
    const reading = this.#begin();
    this.#take(reading, await reading.listed);
  }

  /** Has it be as it is now, while others go on. Not to be waited for in a turn. */
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

  /** In a turn: whoever decides goes by one state of things. */
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

/** Bytes after which the disk is looked at again, for what others write to it. */
const LOOK_AFTER = 64 * 1024 * 1024;

/** Of a disk that tells nothing. */
export const UNKNOWN_SPACE: StoreSpace = { free_bytes: 0, total_bytes: 0 };

/** The share of a disk that stays free. Between two looks, what is taken and given back here is counted. */
class FreeDisk {
  readonly #ask: () => Promise<StoreSpace>;
  readonly #share: number;
  /** Bytes that may be taken; below 0 where too little is free already. */
  #spare = 0;
  #taken = 0;
  #takenAtLook = 0;
  #looks = 0;

  private constructor(ask: () => Promise<StoreSpace>, share: number) {
    this.#ask = ask;
    this.#share = share;
  }

  /** Null where nothing has to stay free, or the store cannot tell what is. */
  static of(store: ArtifactStore, share: number): FreeDisk | null {
    if (!(share > 0) || typeof store.space !== "function") return null;
    return new FreeDisk(() => guarded("read", async () => (await store.space?.()) ?? UNKNOWN_SPACE), share);
  }

  get spare(): number {
    return this.#spare;
  }

  /** Whether so much was taken that it is time to look. */
  get isDue(): boolean {
    return this.#taken - this.#takenAtLook >= LOOK_AFTER;
  }

  /** Asks the store. What is taken meanwhile may count twice, never not at all. */
  async look(): Promise<void> {
    const before = this.#taken;
    const { free_bytes, total_bytes } = await this.#ask();
    const most = free_bytes - this.#share * total_bytes;
    // A disk that does not say how large it is leaves nothing to go by.
    this.#spare = total_bytes > 0 && Number.isFinite(most) ? Math.floor(most) - (this.#taken - before) : Infinity;
    this.#takenAtLook = before;
    this.#looks += 1;
  }

  /** Counts bytes that are about to be written; false, and nothing is counted, when there is no room for them. */
  take(bytes: number): boolean {
    if (bytes > Math.max(this.#spare, 0)) return false;
    this.#spare -= bytes;
    this.#taken += bytes;
    return true;
  }

  /** Counts bytes that work makes free, unless a look has seen it by then. */
  async give<T>(work: () => Promise<T>, freed: () => number): Promise<T> {
    const looks = this.#looks;
    const result = await work();
    if (looks === this.#looks) this.#spare += freed();
    return result;
  }
}

/**
 * Retention over any store: which artifacts are admitted, and when others are evicted.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { guardStorage } from "../../errors/storage.js";
import { checkOptionNames, checkObject } from "../../errors/arguments.js";
import { checkBytes, encodeText } from "../bytes.js";
import { asStore } from "../host-store.js";
import { toClaim, infoOfText, inMilliseconds, Stamps } from "../reference.js";
import type {
  ArtifactFilter,
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  Clock,
  StoredArtifact,
  StoreSpace,
} from "../store.js";
import { SinkWriter, openWriter, writeWhole } from "../writer.js";
import type { RetentionConfig } from "../../config/types.js";
import { nothingEvicted, Eviction, type EvictionCase, type EvictionPlan } from "./eviction.js";
import {
  findBound,
  DISK,
  isExpired,
  listLimits,
  readRetention,
  WHOLE,
  type Bound,
  type Limit,
  type Measured,
  type Retention,
} from "./policy.js";
import { toArtifactKey, RetentionIndex, StoreReading, type Counted, type OwnerUse } from "./retention-index.js";

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

/** What a user's artifacts use, as one process knows it. */
export interface StoreUse extends OwnerUse {
  /** When what other processes stored was read, by `performance.now`. What this object stored since is counted too. */
  readonly readAt: number;
}

/** Options of a {@link RetainingArtifactStore}. */
export interface RetainingOptions {
  /**
   * What time it is: the same clock that dates the artifacts of the store underneath. Left out: that of a store which
   * has limits already, else `Date.now`.
   */
  readonly clock?: Clock;
}

/**
 * Keeps a store within limits: every put and every stream is held to them, what is too old expires, and where there is
 * no room, what was used longest ago makes some. Over a store that has limits already, the new ones take their place.
 *
 * Reading what retention took away throws E_EXPIRED; storing what is too large E_TOO_LARGE, and where there is no room
 * E_STORE_FULL, each with the key of the limit as its path. Neither leaves anything behind.
 *
 * Limits hold exactly for what goes through one object. Of other processes that share the store it takes notice once a
 * minute, and in `collect`.
 *
 * @example
 * const store = new RetainingArtifactStore(new FileArtifactStore("./artifacts"), { ttl_seconds: 86_400 });
 */
export class RetainingArtifactStore implements ArtifactStore {
  readonly #inner: ArtifactStore;
  readonly #clock: Clock;
  readonly #retention: Retention;
  readonly #limits: readonly Limit[];
  /** Most bytes that no limit forbids to any artifact. */
  readonly #unbound: number;
  readonly #stamps: Stamps;
  readonly #index: RetentionIndex;
  readonly #eviction: Eviction;
  readonly #reading: StoreReading;
  readonly #disk: FreeDisk | null;
  /** The last collection. Never rejects. */
  #collecting: Promise<unknown> = Promise.resolve();
  /** The last decision: one is made at a time. Never rejects. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Artifacts that have room, while the store takes them. None rejects. */
  readonly #publishing = new Set<Promise<unknown>>();

  /** Throws E_CONFIG_KEY and E_CONFIG_VALUE with the path of the key, E_INVALID_ARGUMENT when the store is none. */
  constructor(store: ArtifactStore, retention: RetentionConfig = {}, options: RetainingOptions = {}) {
    checkOptionNames(options, "a RetainingArtifactStore", ["clock"]);
    // By its own mark: a proxy of a store with limits is an instance of it too, and has nothing inside.
    const given = asStore(store);
    const limited = #inner in given ? given : null;
    this.#inner = limited === null ? given : limited.#inner;
    this.#clock = options.clock ?? (limited === null ? Date.now : limited.#clock);
    this.#retention = readRetention(retention);
    this.#limits = listLimits(this.#retention);
    const bytes = this.#limits.filter((limit) => limit !== DISK && limit.counts === "bytes");
    this.#unbound = Math.min(this.#retention.max_artifact_bytes ?? Infinity, ...bytes.map(({ most }) => most));
    this.#stamps = new Stamps(this.#clock);
    this.#index = new RetentionIndex(this.#limits, this.#retention);
    this.#eviction = new Eviction(this.#inner, this.#retention, this.#index, this.#stamps);
    this.#reading = new StoreReading(this.#inner, this.#index, this.#stamps, (work) => this.#inTurn(work));
    this.#disk = FreeDisk.of(this.#inner, this.#retention.min_free_disk);
    if (this.#inner.exclusively) this.exclusively = (work) => this.#alone(work);
    if (this.#inner.space) this.space = async () => (await this.#inner.space?.()) ?? UNKNOWN_SPACE;
  }

  exclusively?: <T>(work: () => Promise<T>) => Promise<T | null>;

  space?: () => Promise<StoreSpace>;

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    checkBytes(data, "data");
    return writeWhole(await this.openWriter(info), [data]);
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.putBytes(encodeText(text), infoOfText(info));
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const claim = toClaim(info);
    const disk = this.#disk;
    // Before anything of the artifact is written.
    if (disk !== null) await this.#inTurn(() => disk.look());
    const writer = await openWriter(this.#inner, info);
    let size = 0;
    /** Bytes on the disk, if the writer has to discard them. */
    let written = 0;
    const discard = async (): Promise<void> => {
      const freed = written;
      written = 0;
      await (disk?.give(
        () => writer.abort(),
        () => freed,
      ) ?? writer.abort());
    };
    return new SinkWriter({
      write: (chunk) => {
        const bytes = chunk.byteLength;
        size += bytes;
        const bound = size > this.#unbound ? findBound(this.#retention, this.#limits, claim) : null;
        if (bound !== null && size > bound.most) throw tooLarge(bound);
        if (disk === null) return writer.write(chunk);
        const write = (): Promise<void> => {
          written += bytes;
          return writer.write(chunk);
        };
        return this.#writeToDisk(disk, { bytes, write, discard });
      },
      commit: (patch) => this.#publish({ ...claim, size_bytes: size }, writer, patch),
      discard,
    });
  }

  async get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return this.#read(id, scope, () => this.#inner.get(id, scope));
  }

  async openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    return this.#read(id, checkObject(options, "options").scope, () => this.#inner.openReader(id, options));
  }

  async stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return this.#present(id, scope, () => this.#inner.stat(id, scope));
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    const seen = await this.#inner.stat(id, scope);
    return seen !== null && !(await this.#expires(seen));
  }

  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return this.#present(id, scope, () => this.#inner.update(id, patch, scope));
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    const deleted = (await this.exists(id, scope)) && (await this.#inner.delete(id, scope));
    if (deleted) this.#index.strike(id, scope);
    return deleted;
  }

  async *list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    for await (const seen of this.#inner.list(scope, only)) if (!(await this.#expires(seen))) yield seen;
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    return this.#eviction.evict(checkObject(seen, "seen"));
  }

  /** Removes from the whole store what has expired or is too much. Null if another process does so now. */
  collect(): Promise<Collected | null> {
    const collected = this.#collecting.then(() => this.#alone(() => this.#collect()));
    this.#collecting = collected.catch(() => undefined);
    return collected;
  }

  /**
   * What the artifacts of a user use, over all sessions. A store that was read more than `maxAge` milliseconds ago is read
   * again, unless that takes long. Defaults to the minute after which stores are read again anyway. `onRead` is called in
   * the moment in which it is so.
   *
   * @throws SluiceError E_STORE_….
   */
  useOf(
    owner: Pick<ArtifactScope, "tenant_id" | "user_id">,
    maxAge: number = Infinity,
    onRead?: () => void,
  ): Promise<StoreUse> {
    return this.#inTurn(async () => {
      const isOld = performance.now() - this.#reading.readAt > maxAge;
      await (isOld ? this.#reading.refresh() : this.#reading.freshen());
      await this.#expireFirst();
      onRead?.();
      return { ...this.#index.useOf(owner), readAt: this.#reading.readAt };
    });
  }

  async #read<T>(id: string, scope: ArtifactScope | undefined, read: () => Promise<T | null>): Promise<T | null> {
    const found = await this.#present(id, scope, read);
    const known = found === null ? undefined : this.#index.find(id, scope);
    if (known) this.#index.enter({ ...known, used_at: inMilliseconds(this.#stamps.next()) });
    return found;
  }

  /** Does what it is asked unless retention took the artifact away, or has to now. */
  async #present<T>(id: string, scope: ArtifactScope | undefined, work: () => Promise<T | null>): Promise<T | null> {
    const seen = this.#retention.ttl_seconds !== null ? await this.#inner.stat(id, scope) : undefined;
    if (seen && (await this.#expires(seen))) throw toExpiredError(id);
    const found = seen === null ? null : await work();
    if (found === null && this.#index.hasDeparted(id, scope)) throw toExpiredError(id);
    return found;
  }

  /**
   * Publishes an artifact. Where there is room, others are published at the same time: a store may be far away. Where something has to
   * leave for it, that is decided and done alone.
   *
   * @throws SluiceError E_STORE_FULL if nothing may be evicted for it.
   */
  async #publish(coming: Measured, writer: ArtifactWriter, patch: ArtifactPatch): Promise<ArtifactRef> {
    const { scope, namespace, size_bytes } = coming;
    const counted = { scope, namespace, size_bytes, sha256: null };
    const { published } = await this.#inTurn(async () => {
      await this.#reading.freshen();
      // Artifacts that cannot be removed are tried again later; they do not keep new ones out.
      await this.#expireFirst();
      if (this.#index.usage.hasRoomFor(counted)) return { published: this.#store(counted, writer, patch) };
      await Promise.all(this.#publishing);
      return { published: Promise.resolve(await this.#admit(counted, writer, patch)) };
    });
    return published;
  }

  /** Publishes an artifact for which there is room, which it holds meanwhile. */
  #store(coming: Counted, writer: ArtifactWriter, patch: ArtifactPatch): Promise<ArtifactRef> {
    const held = this.#index.hold(coming);
    const stored = writer.close(patch).then(
      (ref) => {
        held[Symbol.dispose]();
        return this.#enter(ref, coming);
      },
      (error: unknown) => {
        held[Symbol.dispose]();
        throw error;
      },
    );
    const settled = stored.then(
      () => undefined,
      () => undefined,
    );
    this.#publishing.add(settled);
    void settled.then(() => this.#publishing.delete(settled));
    return stored;
  }

  /** Makes room for an artifact, if there is not enough, and publishes it. Called in a turn, while nothing else is published. */
  async #admit(coming: Counted, writer: ArtifactWriter, patch: ArtifactPatch): Promise<ArtifactRef> {
    const hasRoom = this.#index.usage.hasRoomFor(coming);
    if (!hasRoom) {
      const { full } = await this.#room(() => ({ coming }));
      if (full) throw noRoom(full);
    }
    const ref = this.#enter(await writer.close(patch), coming);
    if (!hasRoom)
      await this.#eviction.evictExcess(nothingEvicted(), toArtifactKey({ id: ref.id, scope: coming.scope }));
    return ref;
  }

  /** Counts what was stored by its measured values, whatever the store says. */
  #enter(ref: ArtifactRef, { scope, namespace, size_bytes }: Measured): ArtifactRef {
    const now = inMilliseconds(this.#stamps.next());
    this.#index.enter({ ...ref, scope, namespace, size_bytes, stored_at: now, used_at: now });
    return ref;
  }

  /** Removes expired artifacts, if there are any. Called in a turn. */
  async #expireFirst(): Promise<void> {
    const [first] = this.#index.expiring.entries();
    if (first === undefined || !isExpired(first[1], this.#retention, this.#stamps.now())) return;
    await this.#eviction.expire(nothingEvicted(), MOST_EXPIRING);
  }

  /** Whether an artifact has expired. It is removed then. */
  async #expires(seen: StoredArtifact): Promise<boolean> {
    if (!isExpired(seen, this.#retention, this.#stamps.now())) return false;
    // It has expired even if it cannot be removed.
    const evicted = await this.#eviction.evict(seen).catch(() => false);
    // It may have been stored again since it was seen.
    return evicted || (await this.#isOver(seen));
  }

  async #isOver({ id, scope }: StoredArtifact): Promise<boolean> {
    const now = await this.#inner.stat(id, scope);
    return now === null || isExpired(now, this.#retention, this.#stamps.now());
  }

  #alone<T>(work: () => Promise<T>): Promise<T | null> {
    return this.#inner.exclusively ? this.#inner.exclusively(work) : work();
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
    if (first.full === null || !this.#inner.exclusively) return first;
    await this.#reading.refresh();
    return this.#eviction.plan(wanted());
  }

  /**
   * Writes bytes, if necessary after evicting artifacts from the disk.
   *
   * @throws SluiceError E_STORE_FULL if too few may be evicted. What was written before is discarded by then, which frees its space
   * for waiting writers.
   */
  async #writeToDisk(disk: FreeDisk, { bytes, write, discard }: Writing): Promise<void> {
    if (!disk.isDue && disk.take(bytes)) return write();
    // Begun in the turn, so that no disk check comes between counting and writing. A slow write holds up no other turn.
    const { written } = await this.#inTurn(async () => {
      if (await this.#takeRoom(disk, bytes)) return { written: write() };
      await discard();
      throw noneFree(this.#retention);
    });
    await written;
  }

  /** Reserves disk space, evicting artifacts if necessary. False if that is not enough. */
  async #takeRoom(disk: FreeDisk, bytes: number): Promise<boolean> {
    if (disk.isDue) await disk.look();
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (disk.take(bytes)) return true;
      if (!(await this.#clear(disk, bytes))) return false;
    }
    return disk.take(bytes);
  }

  /** Frees disk space. If there would not be enough, gives false and removes only what has expired. */
  async #clear(disk: FreeDisk, bytes: number): Promise<boolean> {
    const sumHeld = (): number => this.#index.usage.sum(DISK, WHOLE);
    const leaving = (work: () => Promise<void>): Promise<void> => {
      const before = sumHeld();
      return disk.give(work, () => before - sumHeld());
    };
    await this.#reading.freshen();
    await leaving(() => this.#eviction.expire(nothingEvicted()).then(() => undefined));
    try {
      const { full } = await this.#room(() => {
        this.#index.usage.allow(DISK, WHOLE, sumHeld() + disk.spare - bytes);
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

/** The disk is checked again after so many bytes, for what other programs write to it. */
const LOOK_AFTER = 64 * 1024 * 1024;

/** The space of a disk that does not tell it. */
const UNKNOWN_SPACE: StoreSpace = { free_bytes: 0, total_bytes: 0 };

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
    return new FreeDisk(() => guardStorage("read", async () => (await store.space?.()) ?? UNKNOWN_SPACE), share);
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

function toExpiredError(id: string): SluiceError {
  return new SluiceError(
    "E_EXPIRED",
    `The artifact ${id} is no longer stored: it expired, or was removed to make room. Do not retry; call the tool that made it.`,
  );
}

/** The error for an artifact with more bytes than can ever be kept. */
function tooLarge({ key, most }: Bound): SluiceError {
  const sentence = `The artifact has more than the ${groupDigits(most)} bytes that retention.${key} allows: raise it, or set it to null.`;
  return new SluiceError("E_TOO_LARGE", sentence, { path: `retention.${key}` });
}

function noneFree({ min_free_disk }: Retention): SluiceError {
  const path = "retention.min_free_disk";
  const share = `${Number((min_free_disk * 100).toFixed(2))} %`;
  const sentence = `The disk has less than the ${share} free that ${path} requires: free some disk space, lower it, or delete artifacts.`;
  return new SluiceError("E_STORE_FULL", sentence, { path });
}

/** The error for an artifact that has no room beside those that are kept. */
function noRoom({ key, most, counts }: Limit): SluiceError {
  const allowed = `There is no room left within the ${groupDigits(most)} ${counts} that retention.${key} allows`;
  const sentence = `${allowed}: raise it, set it to null, or delete artifacts.`;
  return new SluiceError("E_STORE_FULL", sentence, { path: `retention.${key}` });
}

function groupDigits(number: number): string {
  return number.toLocaleString("en");
}

/**
 * Holds a store to the `retention` of a configuration. Gives the rest of the configuration, and the store as it is without one.
 *
 * @throws SluiceError E_CONFIG_KEY or E_CONFIG_VALUE with the path of the key.
 */
export function withRetention<Config extends { readonly retention?: RetentionConfig }>(
  store: ArtifactStore,
  config: Config | undefined,
): { readonly store: ArtifactStore; readonly config: Omit<Config, "retention"> | undefined } {
  // The core refuses everything except objects.
  if (typeof config !== "object" || (config as unknown) === null) return { store, config };
  const { retention, ...rest } = config;
  if (retention === undefined) return { store, config };
  return { store: new RetainingArtifactStore(store, retention), config: rest };
}

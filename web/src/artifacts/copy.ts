/**
 * Copies a store into another while both are in use: every artifact with its id, record, owner, bytes and times.
 *
 * ```
 * pass:  inventory of the target ─▶ each record of the source: add, change, or leave ─▶ what the source no longer has: remove
 * ```
 *
 * Passes repeat until one finds nothing to do. Nothing is remembered between two runs but what stands in the target: each record that
 * a copy brings has the mark of its source there, so a copy that was killed goes on where it was, and removes only what it brought.
 * @module
 */
import { createHash } from "node:crypto";
import { SluiceError } from "../errors/error.js";
import { storageError } from "../errors/storage.js";
import { scopeKey } from "./scope.js";
import type { ArtifactScope } from "./store.js";
import { IdTaken, type RecordName, type RecordStore, type StoredRecord } from "./record-store.js";

/**
 * Why an artifact was not copied: its bytes are damaged, or gone; its record cannot be read; or another artifact has its id in the
 * target, which the copy did not bring.
 */
export type CopyFaultKind = "content" | "record" | "conflict";

/** An artifact that was not copied. */
export interface CopyFault {
  readonly kind: CopyFaultKind;
  readonly id: string | null;
  /** Its owner, if the record tells. */
  readonly scope: ArtifactScope | null;
}

/** What a copy did. */
export interface CopyReport {
  /** Artifacts that the source had in the last pass. */
  readonly artifacts: number;
  /** Artifacts that were added to the target, and their bytes. */
  readonly copied: number;
  readonly copied_bytes: number;
  /** Artifacts of which the record or the times were changed in the target. */
  readonly updated: number;
  /** Artifacts that were removed from the target, since the source no longer has them. */
  readonly removed: number;
  readonly passes: number;
  /** Whether the last pass found nothing to do. False if the source kept changing. */
  readonly is_settled: boolean;
  readonly faults: readonly CopyFault[];
}

/** How a store is copied. */
export interface CopyOptions {
  /** Whether to change nothing, and only say what would be done. Defaults to false. */
  readonly isDryRun?: boolean;
  /** Called with the bytes of each piece that was copied. */
  readonly onProgress?: (bytes: number) => void | Promise<void>;
}

/** Artifacts that are copied at once. */
const AT_ONCE = 8;
/** Passes after which a source that keeps changing is left as it is. */
const MOST_PASSES = 5;

/**
 * Copies all of a store.
 *
 * @throws SluiceError E_NOT_FOUND if there is no store in the source; E_STORE_… if a store fails, whose `path` is `source` or `target`.
 * What was copied by then stays.
 */
export async function copyStore(source: RecordStore, target: RecordStore, options: CopyOptions): Promise<CopyReport> {
  if (!(await of("source", () => source.isThere()))) {
    throw new SluiceError(
      "E_NOT_FOUND",
      "There is no Sluice store to copy: check the path or the address of the source.",
    );
  }
  if (options.isDryRun !== true) await of("target", () => target.prepare());
  const origin = await of("source", () => source.origin());
  return new Copy(source, target, options, origin).run();
}

type Side = "source" | "target";

/** Runs work of one store. What it throws says which store that was. */
async function of<T>(side: Side, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toSideError(side, error);
  }
}

function toSideError(side: Side, thrown: unknown): SluiceError {
  const error = storageError(thrown, side === "source" ? "read" : "write");
  if (error instanceof IdTaken || error.path !== undefined) return error;
  return new SluiceError(error.code, error.message, { path: side }, { cause: error });
}

async function* listRecords(side: Side, store: RecordStore): ReturnType<RecordStore["records"]> {
  try {
    yield* store.records();
  } catch (error) {
    throw toSideError(side, error);
  }
}

/** What the target has under an id. */
interface Held {
  readonly digest: string;
  /** In microseconds. */
  readonly used: number;
  /** Whether this copy brought it, and it has not changed since. */
  readonly isOurs: boolean;
}

class Copy {
  readonly #source: RecordStore;
  readonly #target: RecordStore;
  readonly #options: CopyOptions;
  readonly #origin: string;
  /** Contents that are known to be damaged, by artifact and record, so that each is read once. */
  readonly #damaged = new Set<string>();
  #faults: CopyFault[] = [];
  #artifacts = 0;
  #copied = 0;
  #bytes = 0;
  #updated = 0;
  #removed = 0;
  /** Whether something has to be looked at again. */
  #isUnsettled = false;

  constructor(source: RecordStore, target: RecordStore, options: CopyOptions, origin: string) {
    this.#source = source;
    this.#target = target;
    this.#options = options;
    this.#origin = origin;
  }

  async run(): Promise<CopyReport> {
    let passes = 0;
    let isSettled = false;
    while (!isSettled && passes < (this.#isDryRun ? 1 : MOST_PASSES)) {
      isSettled = await this.#pass();
      passes += 1;
    }
    return {
      artifacts: this.#artifacts,
      copied: this.#copied,
      copied_bytes: this.#bytes,
      updated: this.#updated,
      removed: this.#removed,
      passes,
      is_settled: isSettled,
      faults: this.#faults,
    };
  }

  get #isDryRun(): boolean {
    return this.#options.isDryRun === true;
  }

  /** Goes once through both stores. True if there was nothing to do. */
  async #pass(): Promise<boolean> {
    const before = this.#done;
    this.#faults = [];
    this.#artifacts = 0;
    this.#isUnsettled = false;
    const held = await this.#inventory();
    await using lanes = new Lanes(AT_ONCE);
    for await (const record of listRecords("source", this.#source)) {
      this.#artifacts += 1;
      if (!("ref" in record)) {
        this.#faults.push({ kind: "record", id: record.id, scope: null });
        continue;
      }
      const key = hashKey(record.ref);
      const there = held.get(key);
      held.delete(key);
      await lanes.run(() => this.#carry(record, there));
    }
    await lanes.ended();
    for (const [key, { isOurs }] of held) if (!isOurs) held.delete(key);
    if (held.size > 0) await this.#removeAll(held);
    return this.#done === before && !this.#isUnsettled;
  }

  get #done(): number {
    return this.#copied + this.#updated + this.#removed;
  }

  /** What the target has. Takes about 200 bytes for each artifact, and nothing of their names. */
  async #inventory(): Promise<Map<string, Held>> {
    const held = new Map<string, Held>();
    if (!(await of("target", () => this.#target.isThere()))) return held;
    for await (const record of listRecords("target", this.#target)) {
      if (!("ref" in record)) continue;
      const isOurs = record.origin === this.#origin;
      held.set(hashKey(record.ref), { digest: digestRecord(record, isOurs), used: record.used, isOurs });
    }
    return held;
  }

  async #carry(record: StoredRecord, there: Held | undefined): Promise<void> {
    if (there === undefined) return this.#add(record);
    if (digestRecord(record, there.isOurs) !== there.digest) {
      if (there.isOurs) return this.#change(record);
      this.#fault("conflict", record.ref);
      // Also one that is earlier: a record that was read while it was changed may tell the time of that.
    } else if (there.isOurs && record.used !== there.used) await this.#change(record);
  }

  async #add(record: StoredRecord): Promise<void> {
    const { ref } = record;
    const version = `${hashKey(ref)}${digestRecord(record, true)}`;
    if (this.#damaged.has(version)) return this.#fault("content", ref);
    try {
      if (!this.#isDryRun && !(await this.#carryBytes(record))) return;
      this.#copied += 1;
      this.#bytes += ref.size_bytes;
    } catch (error) {
      if (error instanceof IdTaken) {
        // The next pass sees what has the id, unless that cannot be read.
        if (await this.#isReadable(ref)) this.#isUnsettled = true;
        this.#fault("conflict", ref);
      } else if (error instanceof SluiceError && error.code === "E_STORE_CORRUPT") {
        this.#damaged.add(version);
        this.#fault("content", ref);
      } else throw error;
    }
  }

  /** Reads and adds an artifact. False if it was deleted meanwhile. */
  async #carryBytes(record: StoredRecord): Promise<boolean> {
    const stream = await of("source", () => this.#source.read(record.ref));
    if (stream === null) return false;
    const reading: { failure?: SluiceError } = {};
    try {
      await this.#target.add({ ...record, origin: this.#origin }, this.#pieces(stream, reading));
      return true;
    } catch (error) {
      if (reading.failure !== undefined) throw reading.failure;
      throw toSideError("target", error);
    } finally {
      // If the target failed before it read anything.
      await stream.cancel().catch(() => undefined);
    }
  }

  /** The pieces of a stream. A failure of the source is kept, since the target may take it for its own. */
  async *#pieces(
    stream: AsyncIterable<Uint8Array>,
    reading: { failure?: SluiceError },
  ): AsyncGenerator<Uint8Array, void, void> {
    try {
      for await (const piece of stream) {
        yield piece;
        await this.#options.onProgress?.(piece.byteLength);
      }
    } catch (error) {
      reading.failure = toSideError("source", error);
      throw error;
    }
  }

  async #isReadable(name: RecordName): Promise<boolean> {
    return this.#target.find(name).then(
      () => true,
      () => false,
    );
  }

  /** Changes what this copy brought. What was deleted and stored again meanwhile is another artifact. */
  async #change(record: StoredRecord): Promise<void> {
    const carried = { ...record, origin: this.#origin };
    if (this.#isDryRun || (await of("target", () => this.#target.change(carried)))) {
      this.#updated += 1;
      return;
    }
    this.#isUnsettled = true;
    if (await of("target", () => this.#target.remove(carried))) await this.#add(record);
  }

  /** Removes what this copy brought and the source no longer has. */
  async #removeAll(gone: ReadonlyMap<string, Held>): Promise<void> {
    await using lanes = new Lanes(AT_ONCE);
    for await (const record of listRecords("target", this.#target)) {
      if ("ref" in record && record.origin === this.#origin && gone.has(hashKey(record.ref))) {
        await lanes.run(() => this.#remove({ ...record, origin: this.#origin }));
      }
    }
    await lanes.ended();
  }

  async #remove(record: StoredRecord & { readonly origin: string }): Promise<void> {
    // Its record may only be unreadable, or was stored again meanwhile.
    if (!(await isGone(this.#source, record.ref))) return;
    if (this.#isDryRun || (await of("target", () => this.#target.remove(record)))) this.#removed += 1;
  }

  #fault(kind: CopyFaultKind, { id, scope }: RecordName): void {
    this.#faults.push({ kind, id, scope });
  }
}

/** Whether a store has no such artifact, whatever state its record is in. */
async function isGone(store: RecordStore, name: RecordName): Promise<boolean> {
  try {
    return (await of("source", () => store.find(name))) === null;
  } catch (error) {
    if (error instanceof SluiceError && error.code === "E_STORE_CORRUPT") return false;
    throw error;
  }
}

// In half the digits: a store has many artifacts.
const DIGEST_BYTES = 16;

function digest(text: string): string {
  return createHash("sha256").update(text).digest().subarray(0, DIGEST_BYTES).toString("latin1");
}

function hashKey({ id, scope }: RecordName): string {
  return digest(`${id} ${scopeKey(scope)}`);
}

/** What is said of an artifact, with its times if they have to be those of the source. */
function digestRecord({ ref, created, stored }: StoredRecord, isTimed: boolean): string {
  const { sha256, size_bytes, mime_type, filename, namespace, source } = ref;
  const said = [sha256, size_bytes, mime_type, filename, namespace, source];
  return digest(JSON.stringify(isTimed ? [...said, created, stored] : said));
}

/** Work that is done side by side, up to a number. The first failure ends it. */
class Lanes implements AsyncDisposable {
  readonly #most: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Begins work once there is room for it. Throws what earlier work threw. */
  async run(work: () => Promise<void>): Promise<void> {
    const running: Promise<void> = work()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    if (this.#running.size >= this.#most) await Promise.race(this.#running);
    if (this.#failure) await this.ended();
  }

  /** Waits for all. Throws what the first of them threw. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure) throw this.#failure.error;
  }

  /** Waits for all, whatever comes of them. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running);
  }
}

/**
 * Stores that have the five methods of RFC 0.3 §5.2 and no more, used as whole ones.
 * @module
 */
import { sha256 } from "#hash";
import { isBytes } from "../core/call.js";
import { SluiceError } from "../errors/error.js";
import { guarded } from "../errors/storage.js";
import { bytesOf, encoded, objectOf, spanOf, streamOf } from "./bytes.js";
import type { Hashing } from "./hash.js";
import { LocalLocks } from "./local-locks.js";
import { MemorySink } from "./memory-bare.js";
import { claimOf, infoOfText, patched, type Claim } from "./record.js";
import { RefTable } from "./ref-table.js";
import type {
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  Clock,
  StoredArtifact,
} from "./store.js";
import { damaged } from "./verify.js";
import { SinkWriter } from "./writer.js";

/** What a store with the five methods of RFC 0.3 is told of what it stores. */
export interface BasicArtifactInfo {
  /** What the bytes are. */
  readonly mime_type?: string;
  /** What a person would call it. */
  readonly filename?: string;
  /** The prefix of its id. */
  readonly namespace?: string;
  /** Where it came from: JSON values. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** What a store of five methods says of what it stored; all else in it is left alone. */
export interface BasicArtifactRef {
  /** The name to read and delete it by. */
  readonly id: string;
}

/** The five methods of RFC 0.3 §5.2. They know nothing of scopes. */
export interface BasicArtifactStore {
  /** Stores bytes, and names them by an id. */
  putBytes(data: Uint8Array, info?: BasicArtifactInfo): Promise<BasicArtifactRef>;
  /** Stores a text as UTF-8. */
  putText(text: string, info?: BasicArtifactInfo): Promise<BasicArtifactRef>;
  /** All bytes; null when there are none of that id. */
  get(id: string): Promise<Uint8Array | null>;
  /** Deletes what has that id; false when there is nothing. */
  delete(id: string): Promise<boolean>;
  /** Whether there is something of that id. */
  exists(id: string): Promise<boolean>;
}

/** A content as the store underneath has it. */
interface Content {
  /** Its name there. */
  id: string;
  /** How many refs name it; the last to go takes it along. */
  refs: number;
}

/**
 * Uses a store that has the RFC's five methods as a whole one. Refs, and with them whose an artifact is, are kept here, in
 * memory: another process, or this one after a restart, finds nothing of what was stored. No scope reads what another put,
 * though both name one content: a content is deleted with its last ref, and is given out only if it is what was put.
 *
 * What is streamed in is held until it is complete, and what is streamed out is held whole: the five methods know no streams.
 */
export class BasicStoreAdapter implements ArtifactStore {
  readonly #inner: BasicArtifactStore;
  readonly #hashing: Hashing;
  readonly #refs: RefTable;
  /** By their hashes. */
  readonly #contents = new Map<string, Content>();
  /** Hashes by the ids that the store gave. */
  readonly #hashes = new Map<string, string>();
  /** By a content's hash: what names it must not change while it is put or deleted. */
  readonly #locks = new LocalLocks();

  constructor(inner: BasicArtifactStore, options: { readonly hashing?: Hashing; readonly clock?: Clock } = {}) {
    this.#inner = inner;
    this.#hashing = options.hashing ?? sha256;
    this.#refs = new RefTable(options.clock);
  }

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#put(new Uint8Array(bytesOf(data, "data")), claimOf(info));
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#put(encoded(text), claimOf(infoOfText(info)));
  }

  async get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    const hash = this.#refs.read(id, scope);
    const content = this.#contents.get(hash ?? "");
    if (content === undefined) return null;
    const given: unknown = await guarded("read", async () => this.#inner.get(content.id));
    if (given === null || given === undefined) return null;
    // Its ids may be short: what has this one may by now be something else.
    if (!isBytes(given)) throw damaged();
    const bytes = new Uint8Array(given);
    if ((await this.#hashing.whole(bytes)) !== hash) throw damaged();
    return bytes;
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#deleted(id, scope, () => true);
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#has(this.#contents.get(this.#refs.find(id, scope) ?? ""));
  }

  async stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return (await this.exists(id, scope)) ? this.#refs.stat(id, scope) : null;
  }

  async update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return this.#refs.update(id, patch, scope);
  }

  async *list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
    yield* this.#refs.list(scope);
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    return this.#deleted(objectOf(seen, "seen").id, seen.scope, () => this.#refs.isUnused(seen));
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const claim = claimOf(info);
    return new SinkWriter(new MemorySink((bytes, patch) => this.#put(bytes, patched(claim, patch))));
  }

  async openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    spanOf(objectOf(options, "options").range, 0);
    const bytes = await this.get(id, options.scope);
    const { start, end } = spanOf(options.range, bytes?.byteLength ?? 0);
    return bytes && streamOf(bytes.subarray(start, end));
  }

  /** Takes ownership of `bytes`. */
  async #put(bytes: Uint8Array, claim: Claim): Promise<ArtifactRef> {
    const hash = await this.#hashing.whole(bytes);
    return this.#locks.request(hash, {}, async () => {
      const known = this.#contents.get(hash);
      const content = known ?? { id: "", refs: 0 };
      // The store may have limits of its own, and have lost it.
      if (!(await this.#has(known))) {
        this.#hashes.delete(content.id);
        content.id = await this.#stored(bytes, hash, claim);
      }
      const { ref, isNew } = this.#refs.put(claim, hash, bytes.byteLength);
      if (isNew) content.refs += 1;
      this.#contents.set(hash, content);
      return ref;
    });
  }

  /** Gives the id under which the store has it. Throws E_STORE_WRITE, E_STORE_CORRUPT. */
  async #stored(bytes: Uint8Array, hash: string, { mime_type, filename, namespace, source }: Claim): Promise<string> {
    const info: BasicArtifactInfo = {
      ...(mime_type !== null && { mime_type }),
      ...(filename !== null && { filename }),
      namespace,
      meta: source,
    };
    const ref: unknown = await guarded("write", async () => this.#inner.putBytes(bytes, info));
    const id: unknown = typeof ref === "object" && ref !== null ? Reflect.get(ref, "id") : undefined;
    if (typeof id !== "string") throw new SluiceError("E_STORE_WRITE", "The store gave no id for what it stored.");
    if ((this.#hashes.get(id) ?? hash) !== hash) {
      throw new SluiceError("E_STORE_CORRUPT", "The store gave one id to two contents: its ids are too short.");
    }
    this.#hashes.set(id, hash);
    return id;
  }

  async #deleted(id: string, scope: ArtifactScope | undefined, may: () => boolean): Promise<boolean> {
    const hash = this.#refs.find(id, scope);
    if (hash === undefined) return false;
    return this.#locks.request(hash, {}, async () => {
      const content = this.#contents.get(hash);
      // While it was waited for, another may have deleted it.
      if (content === undefined || this.#refs.find(id, scope) !== hash || !may()) return false;
      if (content.refs === 1) {
        await guarded("write", async () => this.#inner.delete(content.id));
        this.#contents.delete(hash);
        this.#hashes.delete(content.id);
      }
      this.#refs.remove(id, scope);
      content.refs -= 1;
      return true;
    });
  }

  async #has(content: Content | undefined): Promise<boolean> {
    return content !== undefined && (await guarded("read", async () => this.#inner.exists(content.id)));
  }
}

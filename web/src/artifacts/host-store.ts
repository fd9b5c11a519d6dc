/**
 * Stores that a host brings: where they are found, and how one that has only the five basic methods is used as a whole one.
 * @module
 */
import { sha256 } from "#hash";
import { isBytes } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import { guardStorage } from "../errors/storage.js";
import { type Hashing, toDamagedError } from "./hash.js";
import { RefTableStore, type Contents, type KeptContent } from "./ref-table.js";
import { idsFor, isPlainId, type Claim } from "./reference.js";
import { scopeKey } from "./scope.js";
import type { ArtifactStore, Clock } from "./store.js";

/** The five of the RFC, without which nothing can be stored. */
const BASIC = ["putBytes", "putText", "get", "delete", "exists"] as const satisfies readonly (keyof ArtifactStore)[];

/** What a store can do beside. `exclusively` and `space` are for those that are shared, or have a disk. */
const MORE = [
  "stat",
  "update",
  "list",
  "openWriter",
  "openReader",
  "evict",
] as const satisfies readonly (keyof ArtifactStore)[];

/** Most characters of a store's own id that a record keeps beside the one that Sluice makes. */
const MAX_STORE_ID = 1000;

/** One adapter for each store, so that everything in this process that uses the store finds the same refs. */
const adapters = new WeakMap<object, BasicStoreAdapter>();

/**
 * The artifact store that a state store brings: its property `artifactStore` or `artifact_store`, else the state store
 * itself where it is one. One that has the five basic methods alone is used through an adapter: this process then
 * remembers what belongs to whom. Null when there is none.
 *
 * @throws SluiceError E_INVALID_ARGUMENT when it brings something that lacks one of the five; the message names them.
 */
export function discoverArtifactStore(stateStore: unknown): ArtifactStore | null {
  const candidates: readonly (readonly [path: string, candidate: unknown])[] = [
    ["stateStore.artifactStore", property(stateStore, "artifactStore")],
    ["stateStore.artifact_store", property(stateStore, "artifact_store")],
    ["stateStore", stateStore],
  ];
  for (const [, candidate] of candidates) {
    const store = toStore(candidate);
    if (store !== null) return store;
  }
  // A state store has methods called `get` and `delete` too; only an artifact store puts bytes.
  const meant = candidates.find(([path, candidate]) =>
    path === "stateStore" ? lacking(candidate, ["putBytes", "putText"]).length < 2 : (candidate ?? null) !== null,
  );
  if (meant === undefined) return null;
  throw noStore(...meant);
}

/**
 * The artifact store that was given, through an adapter where it has the five basic methods alone.
 *
 * @throws SluiceError E_INVALID_ARGUMENT when it is none; the message says what it lacks.
 */
export function asStore(given: unknown): ArtifactStore {
  const store = toStore(given);
  if (store === null) throw noStore("store", given);
  return store;
}

/**
 * Refuses a store that has the five basic methods alone, for those whose refs must outlive a process or be shared.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the reason.
 */
export function checkWhole(given: unknown, path: string): void {
  if (!(toStore(given) instanceof BasicStoreAdapter)) return;
  const sentence =
    `${path} has only ${BASIC.join(", ")}: the owners of artifacts would only be known to this process, and be lost with it. ` +
    `Give a store that also has ${MORE.join(", ")}.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

/** Null for anything but a store. */
function toStore(candidate: unknown): ArtifactStore | null {
  if (lacking(candidate, BASIC).length > 0) return null;
  if (lacking(candidate, MORE).length === 0) return candidate as ArtifactStore;
  const basic = candidate as BasicArtifactStore;
  const adapter = adapters.get(basic) ?? new BasicStoreAdapter(basic);
  adapters.set(basic, adapter);
  return adapter;
}

function noStore(path: string, given: unknown): SluiceError {
  const missing = lacking(given, BASIC).join(", ");
  const more = lacking(given, MORE).join(", ");
  const sentence = `${path} is not an artifact store: it has no ${missing}${more && `; a complete one also has ${more}`}.`;
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

/** The methods that a value lacks; all of them for anything but an object. */
function lacking(candidate: unknown, methods: readonly string[]): readonly string[] {
  return methods.filter((name) => typeof property(candidate, name) !== "function");
}

function property(object: unknown, name: string): unknown {
  return typeof object === "object" && object !== null ? (Reflect.get(object, name) as unknown) : undefined;
}

/** What a store with the five basic methods is told of what it stores. */
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
interface BasicArtifactRef {
  /** The name to read and delete it by. */
  readonly id: string;
}

/** The five basic methods. They know nothing of scopes. */
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

/**
 * Uses a store that has the RFC's five methods as a whole one. Refs, and with them whose an artifact is, are kept here, in
 * memory: another process, or this one after a restart, finds nothing of what was stored. No scope reads what another put,
 * though both may have one id: a content is deleted with its last ref, and is given out only if it is what was put.
 *
 * An artifact has the id that the store gave it. Where a URI cannot hold that as it is, Sluice makes one, and its
 * `source.store_id` is the store's.
 *
 * What is streamed in is held until it is complete, and what is streamed out is held whole: the five methods know no streams.
 */
export class BasicStoreAdapter extends RefTableStore {
  constructor(inner: BasicArtifactStore, options: { readonly hashing?: Hashing; readonly clock?: Clock } = {}) {
    super(new BasicContents(inner, options.hashing ?? sha256), options);
  }
}

/** A content that the store underneath has. */
interface GivenContent {
  readonly hash: string;
  /** What was put under this id: namespace, content and scope, each once. */
  readonly claims: Set<string>;
}

/** Contents as the store underneath has them, by the ids that it gave. */
class BasicContents implements Contents {
  readonly #inner: BasicArtifactStore;
  readonly #hashing: Hashing;
  readonly #given = new Map<string, GivenContent>();
  /** The ids that the store gave, by what was put. */
  readonly #ids = new Map<string, string>();

  constructor(inner: BasicArtifactStore, hashing: Hashing) {
    this.#inner = inner;
    this.#hashing = hashing;
  }

  async get(id: string): Promise<Uint8Array | null> {
    const hash = this.#given.get(id)?.hash;
    if (hash === undefined) return null;
    const given: unknown = await guardStorage("read", async () => this.#inner.get(id));
    if (given === null || given === undefined) return null;
    // Its ids may be short: what has this one may by now be something else.
    if (!isBytes(given)) throw toDamagedError();
    const bytes = new Uint8Array(given);
    if ((await this.#hashing.whole(bytes)) !== hash) throw toDamagedError();
    return bytes;
  }

  /** Throws E_STORE_WRITE, E_STORE_CORRUPT. */
  async put(hash: string, bytes: Uint8Array, claim: Claim): Promise<KeptContent> {
    const put = `${claim.namespace} ${hash} ${scopeKey(claim.scope)}`;
    const known = this.#ids.get(put);
    // The store may have limits too, by which it got lost.
    const id = known !== undefined && (await this.has(known)) ? known : await this.#store(hash, bytes, claim);
    const { claims } = this.#given.get(id) ?? { claims: new Set() };
    this.#given.set(id, { hash, claims: claims.add(put) });
    this.#ids.set(put, id);
    // An id that begins so says that nothing is stored.
    if (isPlainId(id) && !id.startsWith("truncated_")) return { key: id, ids: [id] };
    const source = { ...claim.source, store_id: id.slice(0, MAX_STORE_ID) };
    return { key: id, ids: idsFor(claim.namespace, hash), claim: { ...claim, source } };
  }

  async delete(id: string): Promise<void> {
    await guardStorage("write", async () => this.#inner.delete(id));
    for (const put of this.#given.get(id)?.claims ?? []) if (this.#ids.get(put) === id) this.#ids.delete(put);
    this.#given.delete(id);
  }

  async has(id: string): Promise<boolean> {
    return this.#given.has(id) && (await guardStorage("read", async () => this.#inner.exists(id)));
  }

  /** The id that the store gives to bytes. */
  async #store(hash: string, bytes: Uint8Array, claim: Claim): Promise<string> {
    const { mime_type, filename, namespace, source } = claim;
    const info: BasicArtifactInfo = {
      ...(mime_type !== null && { mime_type }),
      ...(filename !== null && { filename }),
      namespace,
      meta: source,
    };
    const ref: unknown = await guardStorage("write", async () => this.#inner.putBytes(bytes, info));
    const id: unknown = typeof ref === "object" && ref !== null ? Reflect.get(ref, "id") : undefined;
    if (typeof id !== "string") throw new SluiceError("E_STORE_WRITE", "The store returned no id.");
    if ((this.#given.get(id)?.hash ?? hash) !== hash) {
      throw new SluiceError("E_STORE_CORRUPT", "The store gave two contents the same id: its ids are too short.");
    }
    return id;
  }
}

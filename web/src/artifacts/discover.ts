/**
 * Which store artifacts go to: the one that was named, else one that the host brings, else none.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { BasicStoreAdapter, type BasicArtifactStore } from "./basic-store.js";
import { NoOpArtifactStore } from "./no-op.js";
import type { ArtifactStore } from "./store.js";

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

/** One adapter for each store, so that everything in this process that uses the store finds the same refs. */
const adapters = new WeakMap<object, BasicStoreAdapter>();

/**
 * Chooses a store.
 *
 * @throws SluiceError E_INVALID_ARGUMENT when the one that was named, or that the state store brings, is no artifact store;
 * the message says what it lacks.
 */
export function chosenStore(named: ArtifactStore | undefined, stateStore: unknown): ArtifactStore {
  if (named === undefined) return discoverArtifactStore(stateStore) ?? new NoOpArtifactStore();
  return asStore(named);
}

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
    const store = storeOf(candidate);
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
  const store = storeOf(given);
  if (store === null) throw noStore("store", given);
  return store;
}

/**
 * Refuses a store that has the five basic methods alone, for those whose refs must outlive a process or be shared.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the reason.
 */
export function checkWhole(given: unknown, path: string): void {
  if (!(storeOf(given) instanceof BasicStoreAdapter)) return;
  const sentence =
    `${path} has only ${BASIC.join(", ")}: what belongs to whom would be kept in this one process, and be lost with it. ` +
    `Give a store that also has ${MORE.join(", ")}.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

/** Null for what is no store. */
function storeOf(candidate: unknown): ArtifactStore | null {
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
  const sentence = `${path} is no artifact store: it has no ${missing}${more && `; a whole one also has ${more}`}.`;
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

/** Those of the methods that something has not; all of them for what is no object. */
function lacking(candidate: unknown, methods: readonly string[]): readonly string[] {
  return methods.filter((name) => typeof property(candidate, name) !== "function");
}

function property(object: unknown, name: string): unknown {
  return typeof object === "object" && object !== null ? (Reflect.get(object, name) as unknown) : undefined;
}

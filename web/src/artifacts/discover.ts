/**
 * Finding the artifact store of a host that has a state store (RFC 0.3 §5.2).
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { ArtifactStore } from "./store.js";

/** What a store must be able to do. `exclusively` is for those that are shared. */
const METHODS = [
  "putBytes",
  "putText",
  "get",
  "delete",
  "exists",
  "stat",
  "update",
  "list",
  "openWriter",
  "openReader",
  "evict",
] as const satisfies readonly (keyof ArtifactStore)[];

/**
 * The artifact store that a state store brings: its property `artifactStore` or `artifact_store`, else the state store
 * itself where it is one. Null when there is none.
 */
export function discoverArtifactStore(stateStore: unknown): ArtifactStore | null {
  for (const candidate of [property(stateStore, "artifactStore"), property(stateStore, "artifact_store"), stateStore]) {
    if (missingFrom(candidate).length === 0) return candidate as ArtifactStore;
  }
  return null;
}

/**
 * The artifact store that was given.
 *
 * @throws SluiceError E_INVALID_ARGUMENT when it is none; the message says what it lacks.
 */
export function asStore(given: ArtifactStore): ArtifactStore {
  const missing = missingFrom(given);
  if (missing.length === 0) return given;
  throw new SluiceError("E_INVALID_ARGUMENT", `store is no artifact store: it has no ${missing.join(", ")}.`, {
    path: "store",
  });
}

/** Names of the methods that something lacks to be an artifact store; all of them for what is no object. */
function missingFrom(candidate: unknown): readonly string[] {
  return METHODS.filter((name) => typeof property(candidate, name) !== "function");
}

function property(object: unknown, name: string): unknown {
  return typeof object === "object" && object !== null ? (Reflect.get(object, name) as unknown) : undefined;
}

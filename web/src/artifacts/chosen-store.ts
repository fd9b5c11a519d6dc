/**
 * The store that options name.
 * @module
 */
import { folderStore } from "#folder";
import { asStore, discoverArtifactStore } from "./host-store.js";
import { MemoryArtifactStore } from "./memory.js";
import { NoOpArtifactStore } from "./no-op.js";
import type { ArtifactStore } from "./store.js";

/** A store; `"memory"` for a new one in memory; or, in Node, a folder's path. */
export type StoreOption = ArtifactStore | "memory" | (string & {});

/**
 * The store that was named, else the one that the state store brings, else one that warns once and keeps nothing.
 *
 * @throws SluiceError E_INVALID_ARGUMENT when what is named, or what the state store brings, is no artifact store; the message
 * says what it lacks.
 */
export function chooseStore(named: StoreOption | undefined, stateStore: unknown): ArtifactStore {
  if (named === undefined) return discoverArtifactStore(stateStore) ?? new NoOpArtifactStore();
  if (named === "memory") return new MemoryArtifactStore();
  return typeof named === "string" && named !== "" ? folderStore(named) : asStore(named);
}

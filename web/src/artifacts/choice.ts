/**
 * Which store artifacts go to (RFC 0.3 §5.2): the one that was named, else one that the host brings, else none.
 * @module
 */
import { asStore, discoverArtifactStore } from "./discover.js";
import { NoOpArtifactStore } from "./no-op.js";
import type { ArtifactStore } from "./store.js";

/**
 * Chooses a store.
 *
 * @throws SluiceError E_INVALID_ARGUMENT when the one that was named is no artifact store; the message says what it
 * lacks.
 */
export function chosenStore(named: ArtifactStore | undefined, stateStore: unknown): ArtifactStore {
  if (named === undefined) return discoverArtifactStore(stateStore) ?? new NoOpArtifactStore();
  return asStore(named);
}

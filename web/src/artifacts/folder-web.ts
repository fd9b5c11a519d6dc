/**
 * Where there are no folders: what names one is refused.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { ArtifactStore } from "./store.js";

/** Throws E_INVALID_ARGUMENT. */
export function folderStore(_path: string): ArtifactStore {
  const sentence = 'A folder is a store in Node only. Give "memory", or a store such as an IndexedDbArtifactStore.';
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "store" });
}

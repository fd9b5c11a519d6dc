/**
 * The store behind a folder's path, in Node.
 * @module
 */
import { FileArtifactStore } from "./file/file-store.js";
import type { ArtifactStore } from "./store.js";

/** The store in a folder, which is made when something is first stored. */
export function folderStore(path: string): ArtifactStore {
  return new FileArtifactStore(path);
}

/**
 * Sluice for Node: everything of the root entry, and what needs a file system.
 * @module
 */
export * from "./index.js";
export { FileArtifactStore } from "./artifacts/file/file-store.js";

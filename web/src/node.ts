/**
 * Sluice for Node: everything of the root entry, and what needs a file system.
 * @module mcp-sluice/node
 */
export * from "./index.js";
export * from "./mcp.js";
export { FileArtifactStore } from "./artifacts/file/file-store.js";
export type { FileStoreOptions } from "./artifacts/file/file-store.js";
export type { SweepReport } from "./artifacts/file/sweep.js";
export { GatedStdioTransport } from "./mcp/stdio/gated-stdio.js";
export type { GatedStdioOptions, ServerErrors } from "./mcp/stdio/gated-stdio.js";

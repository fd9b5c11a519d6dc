/**
 * Sluice for Node: everything of the root entry and of `mcp-sluice/mcp`, and what needs a file system or starts programs.
 *
 * @example
 * ```ts
 * const sluice = await createSluice({ store: new FileArtifactStore("./artifacts") });
 * ```
 * @module mcp-sluice/node
 */
export * from "./index.js";
export * from "./mcp.js";
export { FileArtifactStore } from "./artifacts/file/file-store.js";
export type { FileStoreOptions } from "./artifacts/file/file-store.js";
export { localWorkspaces, buildSandboxCommand } from "./files/local-workspaces.js";
export type { LocalWorkspacesOptions, SandboxOptions } from "./files/local-workspaces.js";
export { GatedStdioTransport } from "./mcp/stdio/gated-stdio.js";
export type { GatedStdioOptions } from "./mcp/stdio/gated-stdio.js";
export { FileStateStore } from "./planner/file-state-store.js";

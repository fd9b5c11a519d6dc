/**
 * Users' files, in Node: everything of `mcp-sluice/files`, and users' folders, in which tools read and write.
 *
 * @example
 * ```ts
 * const userFiles = new UserFiles({ store, ...localWorkspaces({ root: "/srv/work" }) });
 * ```
 * @module mcp-sluice/files/node
 */
export * from "./files.js";
export { localWorkspaces, sandboxed } from "./files/local-workspaces.js";
export type { LocalWorkspacesOptions, SandboxOptions } from "./files/local-workspaces.js";
export { FileTooLargeError, InvalidPathError } from "./files/workspace/errors.js";
export type { FileTooLargeDetails, InvalidPathDetails, PathRefusal } from "./files/workspace/errors.js";
export type { InputFile } from "./files/workspace/inputs.js";
export { Workspace } from "./files/workspace/workspace.js";
export type { WorkspaceOptions } from "./files/workspace/workspace.js";

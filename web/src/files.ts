/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Users' files: My Files of each user over any artifact store, and what becomes of files in the calls of tools. For browsers,
 * workers and Node. Folders, and processes that see one folder alone, are `localWorkspaces` of `mcp-sluice/node`.
 *
 * @example
 * ```ts
 * const userFiles = new UserFiles({ store });
 * const node = new ToolNode({ name: "lab", transport: "mcp", connection: url, user_files: true }, { store, userFiles });
 * ```
 * @module mcp-sluice/files
 */
export { archiveEntries, extractEntry } from "./documents/archive.js";
export type { ArchiveEntry, ArchiveSource, Extracted, ExtractOptions } from "./documents/archive.js";
export type { ToolContract } from "./core/contract-types.js";
export { fileContext, withFileContext } from "./files/context.js";
export type { FileContextOptions } from "./files/context.js";
export type { UserFilesOptions, UserWorkspace } from "./files/options.js";
export type { UserFile, UserFileInfo } from "./files/user-file.js";
export { UserFiles } from "./files/user-files.js";
export { UserStorage } from "./files/user-storage.js";
export type { UserStorageOptions } from "./files/user-storage.js";
export type { FileOwner } from "./files/names.js";
export { FileTooLargeError, InvalidPathError } from "./files/workspace/errors.js";

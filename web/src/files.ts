/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Users' files: My Files of each user over any artifact store, and what becomes of files in the calls of tools. For browsers,
 * workers and Node; folders, and processes that see one folder alone, are in `mcp-sluice/files/node`.
 *
 * @example
 * ```ts
 * const userFiles = new UserFiles({ store });
 * const node = new ToolNode({ name: "lab", transport: "mcp", connection: url, user_files: true }, { store, userFiles });
 * ```
 * @module mcp-sluice/files
 */
export type { Uploaded } from "./artifacts/bytes.js";
export type { ArtifactRef, ArtifactScope, ArtifactStore, ByteRange, Clock, StoredArtifact } from "./artifacts/store.js";
export type {
  ContractArtifact,
  ContractWasmSource,
  DeferredArtifact,
  ContractObject,
  DeferredReason,
  Display,
  FileCategory,
  FileViewer,
  ToolContract,
} from "./core/tool-contract.js";
export { fileContext, withFileContext } from "./files/context.js";
export type { FileContextOptions } from "./files/context.js";
export { fileName } from "./files/names.js";
export { workspaceName } from "./files/names.js";

export type { WasmSource } from "./core/sluice.js";
export type { AnswerRef, FileClaim, FileLook, Sniffed, Transformed } from "./core/sluice.js";
export type { SluiceError } from "./errors/error.js";
export type { UserFilesOptions, OpenWorkspace, OutputFile, UserWorkspace } from "./files/options.js";
export type { Draft, FileOrigin, UserFile, UserFileInfo } from "./files/user-file.js";
export { UserFiles } from "./files/user-files.js";
export { UserStorage } from "./files/user-storage.js";
export type { FileOwner, UserStorageOptions } from "./files/user-storage.js";
export type {
  DisplayedFile,
  ErrorResult,
  FileCall,
  FiledArguments,
  FiledResult,
  FileRefusal,
  ResultDisplay,
  UserFileHandling,
} from "./tools/user-files.js";

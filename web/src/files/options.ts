/**
 * Options of `UserFiles`: stores, flags, and the folders that tools read and write.
 * @module
 */
import type { ArtifactStore, Clock } from "../artifacts/store.js";
import type { ContractWasmSource } from "../core/contract-types.js";
import type { WasmSource } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import type { FileRefusal } from "../tools/user-files.js";
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTest, type OptionTests } from "../errors/arguments.js";

/** Bytes per unit of the flags that end in `_mb`. */
export const MIB: number = 1024 * 1024;

/** Default size limit of one file in bytes, from the specification's example. */
export const MAX_FILE_BYTES: number = 50 * 1024 * MIB;

/** An open file that a tool wrote. */
export interface OutputFile extends AsyncDisposable {
  /** Size when it was opened and checked. */
  readonly size_bytes: number;
  /** Its bytes. Can be read once. */
  stream(): ReadableStream<Uint8Array>;
}

/** One user's folder: `<tmp>/<user>/`. */
export interface UserWorkspace extends AsyncDisposable {
  /** The folder's path for tools: `/tmp/ada/`. */
  readonly prefix: string;
  /** The folder's paths for tools and on this machine. A model must not see them. */
  readonly folders: readonly string[];
  /** Puts a file where tools read it, unless that version is there. Returns the path for the tool. */
  input(
    file: { readonly name: string; readonly id: string; readonly size_bytes: number },
    open: () => Promise<ReadableStream<Uint8Array>>,
    signal?: AbortSignal,
  ): Promise<string>;
  /** Opens a file that a tool wrote. Throws SluiceError E_INVALID_PATH, E_FILE_TOO_LARGE. */
  openOutput(path: string): Promise<OutputFile>;
  /** Deletes everything in it. */
  clear(): Promise<void>;
}

/**
 * Opens a user's folder.
 *
 * @param name the user's folder name, from `workspaceName`.
 */
export type OpenWorkspace = (name: string) => Promise<UserWorkspace>;

/** Options of `UserFiles`. */
export interface UserFilesOptions {
  /** The store for files. */
  readonly store: ArtifactStore;
  /** The store for files above `base64_size_limit_mb`, such as an `S3ArtifactStore`. Defaults to `store`. */
  readonly largeStore?: ArtifactStore;
  /**
   * Whether files outlive a session. If not, `endSession` deletes a session's files.
   * @defaultValue `true`
   */
  readonly persist_files_across_sessions?: boolean;
  /**
   * Files up to this size in MiB go to `store`, larger ones to `largeStore`. A model sees no difference.
   * @defaultValue `300`
   */
  readonly base64_size_limit_mb?: number;
  /**
   * Maximum size of a file in MiB. Larger ones are refused with E_FILE_TOO_LARGE.
   * @defaultValue `51200`
   */
  readonly max_file_size_mb?: number;
  /** Opens users' folders, for tools that take paths. Without it, as in browsers, tools get data URIs. */
  readonly openWorkspace?: OpenWorkspace;
  /**
   * Which sources get paths: all of them, or only programs on this machine. Other sources get data URIs, and return files
   * as base64.
   * @defaultValue `"all"`
   */
  readonly paths?: "all" | "programs";
  /** The command that starts a server for one user with this folder. See `localWorkspaces` of `mcp-sluice/node`. */
  readonly command?: (argv: readonly string[], workspace: UserWorkspace) => Promise<readonly string[]>;
  /**
   * Called for each file that a call may not have or that does not exist, with the tool, the user and the time. Its errors
   * are ignored.
   */
  readonly onRefused?: (refusal: FileRefusal) => void;
  /** The core's WASM module, if a bundler moved it. */
  readonly wasm?: WasmSource;
  /** The contract's WASM module, if a bundler moved it. */
  readonly contractWasm?: ContractWasmSource;
  /** The clock by which drafts expire. Defaults to the system's. */
  readonly now?: Clock;
}

/** The defaults of all flags. */
export const FLAGS: Required<
  Pick<UserFilesOptions, "persist_files_across_sessions" | "base64_size_limit_mb" | "max_file_size_mb">
> = { persist_files_across_sessions: true, base64_size_limit_mb: 300, max_file_size_mb: MAX_FILE_BYTES / MIB };

/** Checks a size in MiB: at least one byte. */
export const MEGABYTES: OptionTest = [
  "a number of MiB from 0.000001 to 1,000,000,000",
  (value) => typeof value === "number" && value >= 0.000_001 && value <= 1_000_000_000,
];

const OPTIONS: OptionTests<UserFilesOptions> = {
  store: OBJECT,
  largeStore: OBJECT,
  persist_files_across_sessions: ["true or false", (value) => typeof value === "boolean"],
  base64_size_limit_mb: MEGABYTES,
  max_file_size_mb: MEGABYTES,
  openWorkspace: FUNCTION,
  paths: ['"all" or "programs"', (value) => value === "all" || value === "programs"],
  command: FUNCTION,
  onRefused: FUNCTION,
  wasm: ANYTHING,
  contractWasm: ANYTHING,
  now: FUNCTION,
};

/** Throws SluiceError E_INVALID_ARGUMENT that names the wrong or unknown option. */
export function checkUserFiles(options: UserFilesOptions): void {
  checkOptions(options, OPTIONS, "UserFiles", wrong, ["store"]);
}

/** The error for an option. */
export function wrong(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

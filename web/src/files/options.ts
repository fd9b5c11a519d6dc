/**
 * What `UserFiles` is given: stores, flags, and where tools read and write.
 * @module
 */
import type { ArtifactStore, Clock } from "../artifacts/store.js";
import type { ContractWasmSource } from "../core/contract.js";
import type { WasmSource } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import type { FileRefusal } from "../tools/user-files.js";
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTest, type OptionTests } from "../errors/arguments.js";

/** Bytes of what flags count in MB. */
export const MIB: number = 1024 * 1024;

/** Bytes of one file, where nobody says: as in the specification's own example. */
export const MAX_FILE_BYTES: number = 50 * 1024 * MIB;

/** A file that a tool wrote, open. */
export interface OutputFile extends AsyncDisposable {
  /** As it was when it was opened and checked. */
  readonly size_bytes: number;
  /** Its bytes, once. */
  stream(): ReadableStream<Uint8Array>;
}

/** One user's folder: `<tmp>/<user>/`. */
export interface UserWorkspace extends AsyncDisposable {
  /** `/tmp/ada/`, as tools know it. */
  readonly prefix: string;
  /** The folder as tools and this machine call it: no model is to see it. */
  readonly folders: readonly string[];
  /** Puts a file where tools read it, unless that version is there; gives the path that a tool is told. */
  input(
    file: { readonly name: string; readonly id: string; readonly size_bytes: number },
    open: () => Promise<ReadableStream<Uint8Array>>,
    signal?: AbortSignal,
  ): Promise<string>;
  /** Opens what a tool says it wrote. Throws SluiceError E_INVALID_PATH, E_FILE_TOO_LARGE. */
  openOutput(path: string): Promise<OutputFile>;
  /** Empties it. */
  clear(): Promise<void>;
}

/**
 * Opens a user's folder.
 *
 * @param name what the user is called there, see `workspaceName`: plain, and nobody else's.
 */
export type OpenWorkspace = (name: string) => Promise<UserWorkspace>;

/** Stores, flags, and where tools read and write. All but `store` may be left out. */
export interface UserFilesOptions {
  /** Where files are kept. */
  readonly store: ArtifactStore;
  /** Where files above `base64_size_limit_mb` are kept, such as an `S3ArtifactStore`; left out: where all are. */
  readonly largeStore?: ArtifactStore;
  /**
   * Whether files outlive a session; else all of a session's go with it, see `endSession`.
   * @defaultValue `true`
   */
  readonly persist_files_across_sessions?: boolean;
  /**
   * MiB: files up to this go to `store`, larger ones to `largeStore`. The model sees the same of both.
   * @defaultValue `300`
   */
  readonly base64_size_limit_mb?: number;
  /**
   * MiB that a file may have; a larger one is E_FILE_TOO_LARGE.
   * @defaultValue `51200`
   */
  readonly max_file_size_mb?: number;
  /** Opens users' folders, for tools that take paths; left out, as in browsers, tools are given data URIs. */
  readonly openWorkspace?: OpenWorkspace;
  /**
   * Which sources are told paths: all of them, or programs of this machine alone. The others are given data URIs, and give files back
   * as base64.
   * @defaultValue `"all"`
   */
  readonly paths?: "all" | "programs";
  /** The command that starts a server for one user alone, who has this folder: see `localWorkspaces` of `mcp-sluice/files/node`. */
  readonly command?: (argv: readonly string[], workspace: UserWorkspace) => Promise<readonly string[]>;
  /**
   * Told each file that a call may not have, or that there is not, with the tool, the user and the time. What it throws is
   * lost.
   */
  readonly onRefused?: (refusal: FileRefusal) => void;
  /** Where the core is, when a bundler moved it. */
  readonly wasm?: WasmSource;
  /** Where the contract's part of it is. */
  readonly contractWasm?: ContractWasmSource;
  /** For drafts, which expire; that of the system when left out. */
  readonly now?: Clock;
}

/** Every flag said. */
export const FLAGS: Required<
  Pick<UserFilesOptions, "persist_files_across_sessions" | "base64_size_limit_mb" | "max_file_size_mb">
> = { persist_files_across_sessions: true, base64_size_limit_mb: 300, max_file_size_mb: MAX_FILE_BYTES / MIB };

/** What sizes of files are said in: at least a byte. */
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

/** Throws SluiceError E_INVALID_ARGUMENT that names the option that is wrong, or that there is not. */
export function checkUserFiles(options: UserFilesOptions): void {
  checkOptions(options, OPTIONS, "UserFiles", wrong, ["store"]);
}

/** The error of an option. */
export function wrong(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

/**
 * Users' files around the calls of tools: what `ToolNode` is given as `userFiles` (user storage §2–§8).
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { TieredArtifactStore } from "../artifacts/tiered-store.js";
import { untilAborted } from "../core/abort.js";
import type { Transformed } from "../core/sluice.js";
import { readContract } from "../core/contract.js";
import { SluiceError } from "../errors/error.js";
import { heedless } from "../mcp/door-event.js";
import {
  errorResult,
  type ErrorResult,
  type FileCall,
  type FiledArguments,
  type FiledResult,
  type NearContract,
  type UserFileHandling,
} from "../tools/user-files/handling.js";
import { fileArguments } from "./arguments.js";
import { withFileContext, type FileContextOptions } from "./context.js";
import { coreDescriber, type UserStorage } from "./user-storage.js";
import { keptContract } from "./result-files.js";
import { checkUserFiles, FLAGS, MIB, type UserFilesOptions } from "./options.js";
import { Owners } from "./owners.js";
import { FileTooLargeError, InvalidPathError } from "./workspace/errors.js";
import { WithUserFiles, type FilesPlace } from "./within.js";

/**
 * Keeps users' files: My Files of each, the arguments that name them, the results that make them, and what a prompt is told of
 * them. One serves any number of users and sources; a scope's `tenant_id` and `user_id` say whose files, and its `session_id`
 * where files do not outlive a session.
 *
 * @example
 * ```ts
 * const userFiles = new UserFiles({ store });
 * const node = new ToolNode({ name: "lab", transport: "mcp", connection: url, user_files: true }, { store, userFiles });
 * await userFiles.storage({ user_id: "ada" }).put("sales.csv", bytes);
 * const prompt = await userFiles.prompt("Analyze my sales data", { user_id: "ada" });
 * ```
 */
export class UserFiles implements UserFileHandling, AsyncDisposable {
  readonly #options: UserFilesOptions;
  readonly #store: ArtifactStore;
  readonly #maxBytes: number;
  readonly #owners: Owners;
  readonly #onRefused: (error: SluiceError) => void;

  /** Throws SluiceError E_INVALID_ARGUMENT that names the option that is wrong. */
  constructor(options: UserFilesOptions) {
    checkUserFiles(options);
    const said = { ...FLAGS, ...options };
    const { store, largeStore, wasm, now } = said;
    this.#options = options;
    this.#maxBytes = Math.floor(said.max_file_size_mb * MIB);
    this.#store = largeStore === undefined ? store : tiered(store, largeStore, said.base64_size_limit_mb);
    this.#onRefused = heedless(options.onRefused);
    this.#owners = new Owners({
      store: this.#store,
      options: { describer: coreDescriber(wasm), maxBytes: this.#maxBytes, ...(now !== undefined && { now }) },
      isLasting: said.persist_files_across_sessions,
      openWorkspace: said.openWorkspace,
    });
  }

  /** Where the files of all users are, small and large. */
  get store(): ArtifactStore {
    return this.#store;
  }

  /** A user's own files: My Files. Throws ToolAuthError where the scope names nobody. */
  storage(scope: ArtifactScope): UserStorage {
    return this.#owners.of(scope).storage;
  }

  /** A prompt with the files that the user has (user storage §4). */
  async prompt(prompt: string, scope: ArtifactScope, options: FileContextOptions = {}): Promise<string> {
    return withFileContext(prompt, await this.storage(scope).list(), options);
  }

  /** The arguments of a call with files in the place of names, and with who asks. */
  async prepare(args: Readonly<Record<string, unknown>>, call: FileCall): Promise<FiledArguments> {
    const owner = this.#owners.of(call.scope);
    const done = await owner.begin();
    try {
      const [username, workspace] = [await owner.username(), await owner.workspace()];
      const terms = { storage: owner.storage, username, workspace };
      const filed = await untilAborted(fileArguments(args, call, terms), call.signal);
      if (filed.kind === "call") return { ...filed, done };
      done();
      return filed;
    } catch (error) {
      done();
      throw error;
    }
  }

  /** A result with its files in My Files. */
  async receive(
    reduced: Transformed,
    call: FileCall,
    store: ArtifactStore,
  ): Promise<FiledResult | NearContract | undefined> {
    const reading = await readContract(reduced.text, this.#options.contractWasm);
    if (reading.kind === "other") return undefined;
    if (reading.kind === "invalid") return { problem: invalid(call.tool, reading) };
    const owner = this.#owners.of(call.scope);
    const { now = Date.now } = this.#options;
    try {
      return await keptContract(reading, reduced, call, {
        storage: owner.storage,
        workspace: await owner.workspace(),
        store,
        maxBytes: this.#maxBytes,
        now,
      });
    } catch (error) {
      const refused = refusalResult(error);
      if (refused !== undefined) {
        this.#onRefused(refused.error);
        return { text: JSON.stringify(refused.value), artifacts: [], failures: [refused.error], isError: true };
      }
      if (error instanceof SluiceError && error.code === "E_TOOL_CONTRACT") return { problem: error };
      throw error;
    }
  }

  /** A store in which the files of whoever asks are found too, by their ids. */
  within(store: ArtifactStore, namespace: string): ArtifactStore {
    const placeOf = (scope: ArtifactScope): FilesPlace | undefined => {
      const owner = this.#owners.ownerOf(scope);
      return owner && { store: this.#store, scope: owner };
    };
    return new WithUserFiles(store, namespace, placeOf, this.#options.now ?? Date.now);
  }

  /** Whose files a scope's are. */
  ownerKey(scope: ArtifactScope): string {
    return this.#owners.keyOf(scope);
  }

  /** The command that starts a server for one user alone. */
  async command(argv: readonly string[], scope: ArtifactScope): Promise<readonly string[]> {
    const { command } = this.#options;
    if (command === undefined) return argv;
    const workspace = await this.#owners.of(scope).workspace();
    return workspace === undefined ? argv : command(argv, workspace);
  }

  /**
   * Ends a session: the folder that tools read and write is emptied, and where files do not outlive it they are deleted. Waits for
   * the user's calls that are under way, those of other sessions too where files outlive them: one folder serves all.
   */
  async endSession(scope: ArtifactScope): Promise<void> {
    const { persist_files_across_sessions: isLasting } = { ...FLAGS, ...this.#options };
    const owner = this.#owners.of(scope);
    await owner.alone(async () => {
      await (await owner.workspace())?.clear();
      if (!isLasting) await owner.storage.clear();
    });
  }

  /** Empties users' folders, also those of calls under way: close the sources before. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owners[Symbol.asyncDispose]();
  }
}

function tiered(near: ArtifactStore, far: ArtifactStore, limitMiB: number): ArtifactStore {
  return new TieredArtifactStore({ near, far, limitBytes: Math.floor(limitMiB * MIB) });
}

/** Told to the tool's author, by way of the host's log: the ordinary layers answer meanwhile. */
function invalid(tool: string, { field, rule }: { readonly field: string; readonly rule: string }): SluiceError {
  const message = `The result of ${JSON.stringify(tool)} does not follow the contract: ${field} ${rule}.`;
  return new SluiceError("E_TOOL_CONTRACT", message, { path: field });
}

/** What a tool did that it may not, in the specification's shape; undefined for any other error. */
export function refusalResult(
  error: unknown,
): { readonly error: SluiceError; readonly value: ErrorResult } | undefined {
  if (error instanceof InvalidPathError) {
    const details = { ...error.details, suggestion: "Use /tmp/{username}/ prefix for file operations" };
    const sentence = "File operation outside allowed directory";
    return { error, value: errorResult(sentence, "SecurityViolation", "E_INVALID_PATH", details) };
  }
  if (error instanceof FileTooLargeError) {
    const details = { ...error.details, suggestion: "Consider generating summary or using chunked processing" };
    const sentence = "Generated file exceeds processing limits";
    return { error, value: errorResult(sentence, "FileSizeExceeded", "E_FILE_TOO_LARGE", details) };
  }
  return undefined;
}

/**
 * Users' files around the calls of tools: the option `userFiles` of `ToolNode`.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { TieredArtifactStore } from "../artifacts/tiered-store.js";
import { untilAborted } from "../core/abort.js";
import type { Transformed } from "../core/types.js";
import { limitStoreTime } from "../core/store-access.js";
import { readContract, type ContractReading } from "../core/contract-reader.js";
import { SluiceError } from "../errors/error.js";
import { objectOr, tryParse, stringOr } from "../jsonrpc/rpc.js";
import { shortenText } from "../mcp/artifact-reader/answer.js";
import { ignoreErrors } from "../mcp/interceptor-event.js";
import {
  errorResult,
  type ErrorResult,
  type FileCall,
  type FiledArguments,
  type FiledResult,
  type FileRefusal,
  type UserFileHandling,
} from "../tools/user-files.js";
import { fileArguments } from "./arguments.js";
import { pathHider, toDeniedWriteError, findDeniedWrites, refusalLine } from "./tool-text.js";
import { withFileContext, type FileContextOptions } from "./context.js";
import { coreDescriber, type UserStorage } from "./user-storage.js";
import { keepContract } from "./result-files.js";
import { checkUserFiles, FLAGS, MIB, type UserFilesOptions, type UserWorkspace } from "./options.js";
import { Owners, type KnownOwner } from "./owners.js";
import { FileTooLargeError, InvalidPathError, showPath } from "./workspace/errors.js";
import { UserFilesView, type FilesPlace } from "./user-files-view.js";

/**
 * Keeps each user's files ("My Files"): resolves arguments that name them, stores the files of results, and lists them for
 * prompts. One instance serves any number of users and sources. A scope's `tenant_id` and `user_id` name the owner, and its
 * `session_id` too if files do not outlive a session.
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
  readonly #onRefused: (refusal: FileRefusal) => void;

  /** Throws SluiceError E_INVALID_ARGUMENT that names the wrong option. */
  constructor(options: UserFilesOptions) {
    checkUserFiles(options);
    const said = { ...FLAGS, ...options };
    const { store, largeStore, wasm, now } = said;
    this.#options = options;
    this.#maxBytes = Math.floor(said.max_file_size_mb * MIB);
    this.#store = largeStore === undefined ? store : tierStores(store, largeStore, said.base64_size_limit_mb);
    this.#onRefused = ignoreErrors(options.onRefused);
    this.#owners = new Owners({
      store: limitStoreTime(this.#store),
      options: { describer: coreDescriber(wasm), maxBytes: this.#maxBytes, ...(now !== undefined && { now }) },
      isLasting: said.persist_files_across_sessions,
      openWorkspace: said.openWorkspace,
    });
  }

  /** The store of all users' files, small and large. */
  get store(): ArtifactStore {
    return this.#store;
  }

  /** A user's own files. Throws ToolAuthError if the scope names no user. */
  storage(scope: ArtifactScope): UserStorage {
    return this.#owners.of(scope).storage;
  }

  /** Appends a list of the user's files to a prompt. */
  async prompt(prompt: string, scope: ArtifactScope, options: FileContextOptions = {}): Promise<string> {
    return withFileContext(prompt, await this.storage(scope).list(), options);
  }

  /** Replaces names of files in the arguments of a call, and adds the username. */
  async prepare(args: Readonly<Record<string, unknown>>, call: FileCall): Promise<FiledArguments> {
    const owner = this.#owners.of(call.scope);
    const done = await owner.begin();
    try {
      const [username, workspace] = [await owner.username(), await this.#workspaceFor(owner, call)];
      const deps = { storage: owner.storage, username, workspace };
      const filed = await untilAborted(fileArguments(args, call, deps), call.signal);
      if (filed.kind === "call") return { ...filed, done };
      done();
      if (filed.missing !== undefined) this.#refuse(call, "arguments", filed.missing, noFile(filed.missing));
      return filed;
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Stores the files of a result. Undefined for a result that does not follow the contract. */
  async receive(reduced: Transformed, call: FileCall, store: ArtifactStore): Promise<FiledResult | undefined> {
    const reading = await readContract(reduced.text, this.#options.contractWasm);
    const denied = await this.#denyWrite(reading, reduced, call);
    if (denied !== undefined) {
      return { text: JSON.stringify(denied), artifacts: reduced.artifacts, failures: [], isError: true };
    }
    if (reading.kind === "other") return undefined;
    const owner = this.#owners.of(call.scope);
    const { now = Date.now } = this.#options;
    try {
      const workspace = await this.#workspaceFor(owner, call);
      return await keepContract(reading, reduced, call, {
        storage: owner.storage,
        workspace,
        store,
        maxBytes: this.#maxBytes,
        now,
        clean: (text) => this.#clean(text, workspace, call),
        onForeign: (name, error) => this.#refuse(call, "result", name, error),
      });
    } catch (error) {
      const refused = refusalResult(error);
      if (refused === undefined) throw error;
      this.#refuse(call, "result", refused.refused, refused.error);
      return { text: JSON.stringify(refused.value), artifacts: [], failures: [], isError: true };
    }
  }

  /**
   * The specification's error object for an error of a tool that tells of a write that the sandbox denied, with the tool's own words.
   * Undefined for anything else.
   */
  async #denyWrite(reading: ContractReading, reduced: Transformed, call: FileCall): Promise<ErrorResult | undefined> {
    const words = errorWords(reading, reduced);
    const [path] = words === undefined ? [] : findDeniedWrites(words);
    if (words === undefined || path === undefined) return undefined;
    const { sentence, reason, code, suggestion } = OUTSIDE;
    const allowed_prefix = `/tmp/${await this.#owners.of(call.scope).username()}/`;
    const details = { attempted_path: showPath(path), allowed_prefix, suggestion };
    const { results, meta_data } = errorResult(sentence, reason, code, details);
    const said = await this.cleaned(words, call);
    return { results: { ...results, said: shortenText(said, MAX_SAID) }, meta_data };
  }

  /** Replaces paths of the user's folder in a tool's text by names. */
  async cleaned(said: string, call: FileCall): Promise<string> {
    if (this.#owners.ownerOf(call.scope) === undefined) return said;
    // If the folder cannot be opened, no tool was given its path.
    const workspace = await this.#owners
      .of(call.scope)
      .workspace()
      .catch(() => undefined);
    return this.#clean(said, workspace, call);
  }

  /** A view of the store in which the user's files are found as well, by their ids. */
  within(store: ArtifactStore, namespace: string): ArtifactStore {
    const findPlace = (scope: ArtifactScope): FilesPlace | undefined => {
      const owner = this.#owners.ownerOf(scope);
      return owner && { store: this.#store, scope: owner };
    };
    return new UserFilesView(store, namespace, findPlace, this.#options.now ?? Date.now);
  }

  /** A key for the owner of a scope's files. */
  ownerKey(scope: ArtifactScope): string {
    return this.#owners.keyOf(scope);
  }

  /** The command that starts a server for one user. */
  async command(argv: readonly string[], scope: ArtifactScope): Promise<readonly string[]> {
    const { command } = this.#options;
    if (command === undefined) return argv;
    const workspace = await this.#owners.of(scope).workspace();
    return workspace === undefined ? argv : command(argv, workspace);
  }

  /** Undefined if the call's tool gets no paths. */
  async #workspaceFor(owner: KnownOwner, { isProgram }: FileCall): Promise<UserWorkspace | undefined> {
    return isProgram || this.#options.paths !== "programs" ? owner.workspace() : undefined;
  }

  /**
   * Ends a session: empties the folder that tools read and write, and deletes the files if they do not outlive the session.
   * Waits for the user's running calls, including those of other sessions if all share one folder.
   */
  async endSession(scope: ArtifactScope): Promise<void> {
    const { persist_files_across_sessions: isLasting } = { ...FLAGS, ...this.#options };
    const owner = this.#owners.of(scope);
    await owner.alone(async () => {
      try {
        await (await owner.workspace())?.clear();
      } finally {
        if (!isLasting) await owner.storage.clear();
      }
    });
  }

  #clean(said: string, workspace: UserWorkspace | undefined, call: FileCall): string {
    for (const path of findDeniedWrites(said)) this.#refuse(call, "write", path, toDeniedWriteError(path));
    return workspace === undefined ? said : pathHider(workspace.folders)(said);
  }

  #refuse(
    { tool, namespace, scope, onRefused }: FileCall,
    where: FileRefusal["where"],
    what: string,
    error: SluiceError,
  ): void {
    const { user_id, tenant_id = null } = scope;
    const time = new Date((this.#options.now ?? Date.now)()).toISOString();
    const said = { where, tool: `${namespace}.${tool}`, user_id: user_id ?? "", tenant_id, time, refused: what, error };
    const refusal = { ...said, message: refusalLine(said) };
    this.#onRefused(refusal);
    onRefused(refusal);
  }

  /** Empties users' folders, also those of running calls. Close the sources first. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owners[Symbol.asyncDispose]();
  }
}

/** What the specification says of a file operation outside of the user's folder (§12.2). */
const OUTSIDE = {
  sentence: "File operation outside allowed directory",
  reason: "SecurityViolation",
  code: "E_INVALID_PATH",
  suggestion: "Use /tmp/{username}/ prefix for file operations",
};

/** Most characters of a tool's own words beside ours. */
const MAX_SAID = 4000;

/** What a result says that is an error and brings no files: its texts, or the `error` of a contract. Undefined for any other. */
function errorWords(reading: ContractReading, { value }: Transformed): string | undefined {
  const { isError, content } = objectOr(value);
  if (reading.kind === "contract") {
    const { error } = objectOr(objectOr(tryParse(reading.text))["results"]);
    const isBare = reading.contract.artifacts.length + reading.contract.deferred_artifacts.length === 0;
    return isBare && typeof error === "string" ? error : undefined;
  }
  if (isError !== true || !Array.isArray(content)) return undefined;
  return content.map((block) => stringOr(objectOr(block)["text"]) ?? "").join("\n");
}

/** The folder that files are accepted from, and a suggestion for the tool. No folder if the tool has none, or its own is elsewhere. */
function whereAllowed({ reason, details: { attempted_path, allowed_prefix } }: InvalidPathError): {
  readonly allowed_prefix: string;
  readonly suggestion: string;
} {
  const isWithin = attempted_path.startsWith(allowed_prefix) && !attempted_path.split(/[/\\]/).includes("..");
  const isElsewhere = reason === "outside" && isWithin;
  if (reason !== "no_folder" && !isElsewhere) return { allowed_prefix, suggestion: OUTSIDE.suggestion };
  const why = isElsewhere ? "files are not taken from that folder here" : "this tool has no folder to take files from";
  return { allowed_prefix: "", suggestion: `Return the bytes as b64: ${why}` };
}

/** One store of two: what has more than so many MiB is kept in the second. */
export function tierStores(near: ArtifactStore, far: ArtifactStore, limitMiB: number): ArtifactStore {
  return new TieredArtifactStore({ near, far, limitBytes: Math.floor(limitMiB * MIB) });
}

/** The error for a name in the arguments that is no file of the user's. */
function noFile(name: string): SluiceError {
  return new SluiceError("E_NOT_FOUND", `The user has no file ${JSON.stringify(name)}.`);
}

/** A refused file as the specification's error object; undefined for any other error. */
export function refusalResult(
  error: unknown,
): { readonly error: SluiceError; readonly refused: string; readonly value: ErrorResult } | undefined {
  if (error instanceof InvalidPathError) {
    const details = { ...error.details, ...whereAllowed(error) };
    const refused = error.details.attempted_path;
    const { sentence, reason, code } = OUTSIDE;
    return { error, refused, value: errorResult(sentence, reason, code, details) };
  }
  if (error instanceof FileTooLargeError) {
    const details = { ...error.details, suggestion: "Consider generating summary or using chunked processing" };
    const sentence = "Generated file exceeds processing limits";
    const refused = `${error.details.file_size_bytes} bytes`;
    return { error, refused, value: errorResult(sentence, "FileSizeExceeded", "E_FILE_TOO_LARGE", details) };
  }
  return undefined;
}

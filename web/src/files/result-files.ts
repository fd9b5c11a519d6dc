/**
 * The files of a result that follows the tool output contract: finds and checks them, stores them in My Files, and describes
 * them to the model and the viewer.
 * @module
 */
import type { Uploaded } from "../artifacts/bytes.js";
import { ScopedArtifacts } from "../artifacts/scoped.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, Clock } from "../artifacts/store.js";
import { untilAborted } from "../core/abort.js";
import type { ContractReading, DroppedField } from "../core/contract-reader.js";
import type { ContractArtifact, DeferredArtifact, ToolContract } from "../core/contract-types.js";
import type { AnswerRef, Transformed } from "../core/types.js";
import { StoreSilentError } from "../core/store-access.js";
import { SluiceError } from "../errors/error.js";
import { isStoreFailure, storageError } from "../errors/storage.js";
import { uriIn } from "../mcp/arguments/uri.js";
import type { DisplayedFile, FileCall, FiledResult, ResultDisplay } from "../tools/user-files.js";
import { JsonRpcScanner } from "../jsonrpc/json-rpc-scanner.js";
import { fileName, numberName } from "./names.js";
import type { OutputFile, UserWorkspace } from "./options.js";
import type { UserFileInfo } from "./user-file.js";
import type { UserStorage } from "./user-storage.js";
import { FileTooLargeError, InvalidPathError } from "./workspace/errors.js";

interface ResultFilesDeps extends Omit<SourceDeps, "artifacts" | "scope" | "onLeftOut"> {
  readonly storage: UserStorage;
  readonly now: Clock;
  /** Replaces paths in the tool's text by names. */
  readonly clean: (text: string) => string;
  /** Called for a file that refers to an artifact of another result. */
  readonly onForeign: (name: string, error: SluiceError) => void;
}

/** Longest `meta_data` in an observation, in characters of JSON. Longer ones are stored. */
const MAX_META_DATA = 4000;
const HOUR = 3_600_000;
/** The media type of unknown bytes. */
const UNKNOWN = "application/octet-stream";

/**
 * Stores a result's files. A file that the store refuses is described with the reason, and the others are kept. The model and
 * the host learn which fields broke the contract.
 *
 * @throws InvalidPathError, FileTooLargeError; the signal's reason.
 */
export async function keepContract(
  reading: Extract<ContractReading, { readonly kind: "contract" }>,
  { artifacts }: Transformed,
  call: FileCall,
  deps: ResultFilesDeps,
): Promise<FiledResult> {
  const { contract, text } = reading;
  const { clean } = deps;
  const files = new ResultFiles(contract, call, deps);
  const said = [...contract.artifacts, ...contract.deferred_artifacts];
  const leftOut = new LeftOut(reading);
  const onLeftOut = (name: string, error: SluiceError): void => {
    leftOut.add(`b64 of ${quoteName(name)}`, "must be the bytes in base64, not a reference");
    deps.onForeign(fileName(name), error);
  };
  await using found = await findFiles(said, { ...deps, artifacts, scope: call.scope, onLeftOut });
  const names = new Set<string>();
  for (const file of found.files) {
    const name = freeName(fileName(file.said.name), names);
    names.add(name);
    if (name !== fileName(file.said.name)) {
      leftOut.add(
        `name ${quoteName(file.said.name)}`,
        `is used by another file in this result: the file is kept as ${quoteName(name)}`,
      );
    }
    await files.keep(file, name);
  }
  const members = rawMembers(text, ["results", "meta_data"]);
  const facts = members.get("meta_data");
  const meta_data = await files.small(facts === undefined ? undefined : clean(facts));
  const { kept, refs, failures } = files;
  const display = describeDisplay(contract, kept, clean);
  const told = writeContract(
    contract,
    { results: clean(members.get("results") ?? "{}"), meta_data },
    kept,
    leftOut.lines,
  );
  // Other artifacts of the result are unchanged.
  const named = said.flatMap((file) => (file.b64 === undefined ? [] : [uriIn(file.b64)?.id]));
  const others = artifacts.filter(({ id }) => !named.includes(id));
  const spent = artifacts.map(({ id }) => id).filter((id) => named.includes(id) && files.isElsewhere(id));
  return {
    text: told,
    artifacts: [...others, ...refs],
    failures: [...failures, ...leftOut.errors(call.tool)],
    spent,
    ...(display !== undefined && { display }),
  };
}

/** Most left-out fields that are listed. The others are counted. */
const MAX_LINES = 16;

/** The fields of a result that break the contract, for the model and the host. */
class LeftOut {
  readonly #fields: DroppedField[];
  #count: number;

  constructor({
    dropped,
    droppedCount,
  }: Pick<Extract<ContractReading, { kind: "contract" }>, "dropped" | "droppedCount">) {
    this.#fields = [...dropped];
    this.#count = droppedCount;
  }

  add(field: string, rule: string): void {
    this.#count += 1;
    if (this.#fields.length < MAX_LINES) this.#fields.push({ field, rule });
  }

  /** `artifacts[2].mime must be a media type such as text/csv`. */
  get lines(): readonly string[] {
    const lines = this.#fields.map(({ field, rule }) => `${field} ${rule}`);
    const more = this.#count - lines.length;
    return more === 0 ? lines : [...lines, `and ${more} more`];
  }

  /** An error for the host's log, if there are any such fields. */
  errors(tool: string): readonly SluiceError[] {
    const [first] = this.#fields;
    if (first === undefined) return [];
    const message = `The result of ${quoteName(tool)} breaks rules of the contract: ${this.lines.join("; ")}.`;
    return [new SluiceError("E_TOOL_CONTRACT", message, { path: first.field })];
  }
}

/** Makes names in one result distinct: else one result could push the user's own file out of its versions. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let own = name;
  for (let number = 2; taken.has(own); number += 1) own = numberName(name, number);
  return own;
}

/** Stores the files of one result. */
class ResultFiles {
  readonly kept: KeptFile[] = [];
  readonly refs: ArtifactRef[] = [];
  readonly failures: SluiceError[] = [];
  readonly #contract: ToolContract;
  readonly #call: FileCall;
  readonly #deps: ResultFilesDeps;
  /** Set when the store did not answer in time, so that it is waited for only once. */
  #silent: StoreSilentError | undefined;

  constructor(contract: ToolContract, call: FileCall, deps: ResultFilesDeps) {
    this.#contract = contract;
    this.#call = call;
    this.#deps = deps;
  }

  async keep({ said, size_bytes, open }: FoundFile, name: string): Promise<void> {
    this.#call.signal.throwIfAborted();
    const info = this.#info(said);
    const expires_at = info.draft?.expires_at ?? null;
    try {
      if (this.#silent !== undefined) throw this.#silent;
      const { signal } = this.#call;
      const ref = await untilAborted(this.#store(name, untilGivenUp(await open(), signal), info), signal);
      this.refs.push(ref);
      const { id, filename, mime_type, size_bytes: stored } = ref;
      this.kept.push({
        ...this.#readWords(said, mime_type),
        name: filename ?? name,
        id,
        size_bytes: stored,
        expires_at,
      });
    } catch (error) {
      this.#call.signal.throwIfAborted();
      const failure = storageError(error, "write");
      if (!isOfOneFile(failure)) throw failure;
      this.#note(failure);
      const { message: warning } = failure;
      this.kept.push({ ...this.#readWords(said, null), name, id: null, size_bytes, expires_at, warning });
    }
  }

  /** Whether all files were stored, under other ids than this artifact's. */
  isElsewhere(id: string): boolean {
    return this.failures.length === 0 && this.refs.every((ref) => ref.id !== id);
  }

  /** Returns JSON if it is short. Else stores it as an artifact of the call, and returns a reference. */
  async small(json: string | undefined): Promise<string | undefined> {
    if (json === undefined || json.length <= MAX_META_DATA) return json;
    const mime_type = "application/json";
    try {
      if (this.#silent !== undefined) throw this.#silent;
      const { signal } = this.#call;
      const ref = await untilAborted(this.#temporary(json, { filename: "meta_data.json", mime_type }), signal);
      this.refs.push(ref);
      const { id, size_bytes: size } = ref;
      return JSON.stringify({ ref: referenceTo(id, mime_type, size), size });
    } catch (error) {
      this.#call.signal.throwIfAborted();
      const failure = storageError(error, "write");
      if (!isOfOneFile(failure)) throw failure;
      this.#note(failure);
      return JSON.stringify({ warning: failure.message, size: new TextEncoder().encode(json).length });
    }
  }

  /** Adds a failure, unless an equal one is there. */
  #note(failure: SluiceError): void {
    if (failure instanceof StoreSilentError) this.#silent = failure;
    if (!this.failures.some(({ code, message }) => code === failure.code && message === failure.message)) {
      this.failures.push(failure);
    }
  }

  async #store(name: string, data: Uploaded, info: UserFileInfo): Promise<ArtifactRef> {
    if (this.#contract.display.storage_action === "temporary") {
      return this.#temporary(data, { filename: fileName(name), mime_type: info.mime_type ?? null });
    }
    const file = await this.#deps.storage.put(name, data, info);
    return this.#deps.storage.artifact(file);
  }

  /** Stores an artifact of the call, which is in no user's My Files. */
  #temporary(
    data: Uploaded,
    info: { readonly filename: string; readonly mime_type: string | null },
  ): Promise<ArtifactRef> {
    const { tool, namespace, scope } = this.#call;
    return new ScopedArtifacts(this.#deps.store, scope).upload(data, { ...info, namespace, source: { tool } });
  }

  /** The tool's words about a file, without paths. */
  #readWords(
    said: SaidFile,
    mime_type: string | null,
  ): Pick<KeptFile, "said" | "mime" | "description" | "next_actions"> {
    const { clean } = this.#deps;
    return {
      said,
      mime: said.mime ?? mime_type ?? UNKNOWN,
      description: said.description === undefined ? undefined : clean(said.description),
      next_actions: isDeferred(said) ? said.next_actions?.map(clean) : undefined,
    };
  }

  #info(said: SaidFile): UserFileInfo {
    const { category = this.#contract.display.category_hint } = said;
    const { description = null, next_actions = [] } = this.#readWords(said, null);
    const common = { mime_type: said.mime ?? null, category: category ?? null, description };
    if (!isDeferred(said)) return { ...common, origin: "generated" };
    const { reason = null, expires_hours } = said;
    const expires_at = this.#deps.now() + expires_hours * HOUR;
    return { ...common, origin: "deferred", draft: { reason, next_actions, expires_at } };
  }
}

/** Stops a stream when the call is aborted. */
function untilGivenUp(data: Uploaded, signal: AbortSignal): Uploaded {
  return data instanceof ReadableStream ? data.pipeThrough(new TransformStream(), { signal }) : data;
}

/** Whether an error concerns one file, so that the others can be stored. */
function isOfOneFile(error: SluiceError): boolean {
  return error.code === "E_NOT_FOUND" || isStoreFailure(error);
}

function isDeferred(said: SaidFile): said is DeferredArtifact {
  return "expires_hours" in said;
}

/** The source text of members of an object. */
function rawMembers(json: string, names: readonly string[]): ReadonlyMap<string, string> {
  const bytes = new TextEncoder().encode(json);
  const members = new JsonRpcScanner();
  members.push(bytes);
  const found = new Map<string, string>();
  for (const name of names) {
    const { start, end } = members.member(name) ?? {};
    if (start !== undefined && end !== undefined) found.set(name, new TextDecoder().decode(bytes.subarray(start, end)));
  }
  return found;
}

interface SourceDeps {
  /** The artifacts that the gate stored for this result. */
  readonly artifacts: readonly AnswerRef[];
  readonly store: ArtifactStore;
  readonly scope: ArtifactScope;
  /** The user's folder; undefined without a file system. */
  readonly workspace: UserWorkspace | undefined;
  /** Maximum size of a file in bytes. */
  readonly maxBytes: number;
  /** Called for a file with a reference that is not of this result. */
  readonly onLeftOut: (name: string, error: SluiceError) => void;
}

/** The allowed prefix if the user has no folder. */
const NOWHERE = "";

/** A file in the contract. */
type SaidFile = ContractArtifact | DeferredArtifact;

/** A file of a result, and its bytes. */
interface FoundFile {
  readonly said: SaidFile;
  readonly size_bytes: number;
  readonly open: () => Promise<Uploaded>;
}

/**
 * Opens all files without reading them: if one is refused, none is stored. They are open until the result is disposed of.
 *
 * @throws InvalidPathError, FileTooLargeError.
 */
async function findFiles(
  said: readonly SaidFile[],
  deps: SourceDeps,
): Promise<AsyncDisposable & { readonly files: readonly FoundFile[] }> {
  const open: AsyncDisposable[] = [];
  const close = async (): Promise<void> => {
    for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
  };
  try {
    const files: FoundFile[] = [];
    for (const each of said) {
      const { path } = each;
      const file = path === undefined ? inline(each, deps) : await atPath(each, path, open, deps);
      if (file instanceof SluiceError) deps.onLeftOut(each.name, file);
      else files.push(file);
    }
    return { files, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function atPath(
  said: SaidFile,
  path: string,
  open: AsyncDisposable[],
  { workspace, maxBytes }: SourceDeps,
): Promise<FoundFile> {
  if (workspace === undefined) throw new InvalidPathError(path, NOWHERE, "no_folder");
  const file = await openOutput(workspace, path, said.name);
  if (file instanceof SluiceError) return { said, size_bytes: 0, open: () => Promise.reject(file) };
  open.push(file);
  if (file.size_bytes > maxBytes) throw new FileTooLargeError(file.size_bytes, maxBytes);
  return { said, size_bytes: file.size_bytes, open: async () => file.stream() };
}

/** Opens an output. A missing file is returned as an error, so that the others can be stored. */
async function openOutput(workspace: UserWorkspace, path: string, name: string): Promise<OutputFile | SluiceError> {
  try {
    return await workspace.openOutput(path);
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== "E_NOT_FOUND") throw error;
    const shown = JSON.stringify(fileName(name));
    return new SluiceError("E_NOT_FOUND", `The tool names the file ${shown}, but there is no such file.`);
  }
}

function inline(said: SaidFile, { artifacts, store, scope, maxBytes }: SourceDeps): FoundFile | SluiceError {
  const { b64 = "" } = said;
  if (!b64.startsWith("artifact://")) {
    const bytes = Uint8Array.from(atob(b64), (char) => char.charCodeAt(0));
    if (bytes.length > maxBytes) throw new FileTooLargeError(bytes.length, maxBytes);
    return { said, size_bytes: bytes.length, open: async () => bytes };
  }
  const id = uriIn(b64)?.id;
  const ref = artifacts.find((each) => each.id === id);
  if (ref === undefined) return foreign(said.name);
  if (ref.size_bytes > maxBytes) throw new FileTooLargeError(ref.size_bytes, maxBytes);
  return { said, size_bytes: ref.size_bytes, open: () => openStored(ref, store, scope) };
}

async function openStored(
  ref: AnswerRef,
  store: ArtifactStore,
  scope: ArtifactScope,
): Promise<ReadableStream<Uint8Array>> {
  const stream = ref.source.truncated === true ? null : await store.openReader(ref.id, { scope });
  if (stream !== null) return stream;
  throw new SluiceError(
    "E_STORE_READ",
    "A file of the result was not stored: see the other error, then call the tool again.",
  );
}

/** A reference in a tool's text counts only if the gate created it for this result. */
function foreign(name: string): SluiceError {
  return new SluiceError(
    "E_TOOL_CONTRACT",
    `The file ${quoteName(name)} has a reference instead of bytes: give b64 or path.`,
  );
}

/** A tool's name for a file, quoted in a sentence. */
function quoteName(name: string): string {
  return JSON.stringify(fileName(name).slice(0, 100));
}

/** A file of a result: stored, or with the reason why not. */
interface KeptFile {
  readonly said: SaidFile;
  readonly mime: string;
  /** Without paths, like all texts of the tool. */
  readonly description: string | undefined;
  readonly next_actions: readonly string[] | undefined;
  /** The name under which it is stored. */
  readonly name: string;
  /** Null if it was not stored. */
  readonly id: string | null;
  readonly size_bytes: number;
  /** When a draft expires, in milliseconds since 1970. */
  readonly expires_at: number | null;
  /** Why it was not stored. */
  readonly warning?: string;
}

/**
 * JSON text of the contract with names and references in place of bytes, paths and URLs. `results` and `meta_data` are source
 * text, so numbers keep all of their digits.
 */
function writeContract(
  { retryable }: ToolContract,
  { results, meta_data }: { readonly results: string; readonly meta_data: string | undefined },
  kept: readonly KeptFile[],
  dropped: readonly string[],
): string {
  const files = kept.filter(({ said }) => !isDeferred(said)).map(describeFile);
  const drafts = kept
    .filter(({ said }) => isDeferred(said))
    .map((file) => ({ ...describeFile(file), ...describeDraft(file) }));
  const rest = JSON.stringify({
    ...(retryable !== undefined && { retryable }),
    ...(files.length > 0 && { artifacts: files }),
    ...(drafts.length > 0 && { deferred_artifacts: drafts }),
    ...(dropped.length > 0 && { dropped }),
  });
  const members = [`"results":${results}`, ...(meta_data === undefined ? [] : [`"meta_data":${meta_data}`])];
  return `{${[...members, ...(rest === "{}" ? [] : [rest.slice(1, -1)])].join(",")}}`;
}

/** The display for a viewer; undefined if there is nothing to show. */
function describeDisplay(
  { display }: ToolContract,
  kept: readonly KeptFile[],
  clean: (text: string) => string,
): ResultDisplay | undefined {
  const { primary_file, notification, ...others } = display;
  if (kept.length === 0 && notification === undefined) return undefined;
  const files = kept.flatMap(listDisplayed);
  const primary = kept.find(({ said }) => said.name === primary_file);
  return {
    ...others,
    ...(notification !== undefined && { notification: clean(notification) }),
    // It may have been renamed.
    ...(primary !== undefined && { primary_file: primary.name }),
    files,
  };
}

/** `artifact://<id>?type=…&size=…`, as the core writes references. */
function referenceTo(id: string, mime: string, size_bytes: number): string {
  return `artifact://${id}?type=${encodeURIComponent(mime).replaceAll("%2F", "/")}&size=${size_bytes}`;
}

function describeFile(file: KeptFile): Readonly<Record<string, unknown>> {
  const { name, mime, description, size_bytes, warning } = file;
  const { category } = file.said;
  return {
    name,
    ...(file.id === null ? { warning: warning ?? "not stored" } : { ref: referenceTo(file.id, mime, size_bytes) }),
    mime,
    size: size_bytes,
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
  };
}

function describeDraft({ said, next_actions, expires_at }: KeptFile): Readonly<Record<string, unknown>> {
  const { reason } = said as DeferredArtifact;
  return {
    ...(reason !== undefined && { reason }),
    ...(next_actions !== undefined && { next_actions }),
    ...(expires_at !== null && { expires: new Date(expires_at).toISOString() }),
  };
}

function listDisplayed({ said, name, id }: KeptFile): readonly DisplayedFile[] {
  if (id === null) return [];
  const viewer = "viewer" in said ? said.viewer : undefined;
  const auto_open = "auto_open" in said && said.auto_open;
  return [{ name, id, ...(viewer !== undefined && { viewer }), auto_open }];
}

/**
 * The files of a result that follows the contract: found, checked all together, kept in My Files, and told to the model and the
 * viewer (user storage §6 to §8).
 * @module
 */
import type { Uploaded } from "../artifacts/bytes.js";
import { ScopedArtifacts } from "../artifacts/scoped.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, Clock } from "../artifacts/store.js";
import { untilAborted } from "../core/abort.js";
import type { ContractArtifact, DeferredArtifact, ToolContract } from "../core/tool-contract.js";
import type { AnswerRef, Transformed } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { isStoreFailure, storageError } from "../errors/storage.js";
import { uriIn } from "../mcp/arguments/uri.js";
import type { DisplayedFile, FileCall, FiledResult, ResultDisplay } from "../tools/user-files/handling.js";
import { MessageMembers } from "../transports/members.js";
import { fileName } from "./names.js";
import type { OutputFile, UserWorkspace } from "./options.js";
import type { UserFileInfo } from "./user-file.js";
import type { FileBatch, UserStorage } from "./user-storage.js";
import { FileTooLargeError, InvalidPathError } from "./workspace/errors.js";

interface KeepingTerms extends Omit<SourceTerms, "artifacts" | "scope"> {
  readonly storage: UserStorage;
  readonly now: Clock;
}

/** Characters of JSON that `meta_data` may have to stand in an observation; more is stored (user storage §1.1: "small"). */
const MAX_META_DATA = 4000;
const HOUR = 3_600_000;

/**
 * Stores a result's files. One that the store cannot take is told with the reason, and the others are kept.
 *
 * @throws InvalidPathError, FileTooLargeError; SluiceError E_TOOL_CONTRACT; the signal's reason.
 */
export async function keptContract(
  { contract, text }: { readonly contract: ToolContract; readonly text: string },
  { artifacts }: Transformed,
  call: FileCall,
  terms: KeepingTerms,
): Promise<FiledResult> {
  const keeping = new Keeping(contract, call, terms);
  const said = [...contract.artifacts, ...contract.deferred_artifacts];
  await using found = await foundFiles(said, { ...terms, artifacts, scope: call.scope });
  for (const file of found.files) await keeping.keep(file);
  const members = rawMembers(text, ["results", "meta_data"]);
  const meta_data = await keeping.small(members.get("meta_data"));
  const { kept, refs, failures } = keeping;
  const display = toldDisplay(contract, kept);
  const told = toldContract(contract, { results: members.get("results") ?? "{}", meta_data }, kept);
  // What else the gate stored of the result stays what it is.
  const named = said.flatMap((file) => ("b64" in file ? [uriIn(file.b64)?.id] : []));
  const others = artifacts.filter(({ id }) => !named.includes(id));
  const spent = artifacts.map(({ id }) => id).filter((id) => named.includes(id) && keeping.isElsewhere(id));
  return { text: told, artifacts: [...others, ...refs], failures, spent, ...(display !== undefined && { display }) };
}

class Keeping {
  readonly kept: KeptFile[] = [];
  readonly refs: ArtifactRef[] = [];
  readonly failures: SluiceError[] = [];
  readonly #contract: ToolContract;
  readonly #call: FileCall;
  readonly #terms: KeepingTerms;
  readonly #batch: FileBatch;

  constructor(contract: ToolContract, call: FileCall, terms: KeepingTerms) {
    this.#contract = contract;
    this.#call = call;
    this.#terms = terms;
    this.#batch = terms.storage.batch();
  }

  async keep({ said, size_bytes, open }: FoundFile): Promise<void> {
    this.#call.signal.throwIfAborted();
    const { name } = said;
    const info = this.#info(said);
    const expires_at = info.draft?.expires_at ?? null;
    try {
      const { signal } = this.#call;
      const ref = await untilAborted(this.#stored(name, untilGivenUp(await open(), signal), info), signal);
      this.refs.push(ref);
      const { id, filename, size_bytes: stored } = ref;
      this.kept.push({ said, name: filename ?? name, id, size_bytes: stored, expires_at });
    } catch (error) {
      this.#call.signal.throwIfAborted();
      const failure = storageError(error, "write");
      if (!isOfOneFile(failure)) throw failure;
      this.failures.push(failure);
      this.kept.push({ said, name: fileName(name), id: null, size_bytes, expires_at, warning: failure.message });
    }
  }

  /** Whether the bytes of an artifact were all kept under other ids. */
  isElsewhere(id: string): boolean {
    return this.failures.length === 0 && this.refs.every((ref) => ref.id !== id);
  }

  /** Facts that are not small are an artifact of the call. */
  async small(json: string | undefined): Promise<string | undefined> {
    if (json === undefined || json.length <= MAX_META_DATA) return json;
    const mime_type = "application/json";
    const ref = await this.#temporary(json, { filename: "meta_data.json", mime_type });
    this.refs.push(ref);
    const { id, size_bytes: size } = ref;
    return JSON.stringify({ ref: referenceTo(id, mime_type, size), size });
  }

  async #stored(name: string, data: Uploaded, info: UserFileInfo): Promise<ArtifactRef> {
    if (this.#contract.display.storage_action === "temporary") {
      return this.#temporary(data, { filename: fileName(name), mime_type: info.mime_type ?? null });
    }
    const file = await this.#batch.put(name, data, info);
    return this.#terms.storage.artifact(file);
  }

  /** As any artifact of the call, which is in nobody's My Files. */
  #temporary(
    data: Uploaded,
    info: { readonly filename: string; readonly mime_type: string | null },
  ): Promise<ArtifactRef> {
    const { tool, namespace, scope } = this.#call;
    return new ScopedArtifacts(this.#terms.store, scope).upload(data, { ...info, namespace, source: { tool } });
  }

  #info(said: SaidFile): UserFileInfo {
    const { mime, description, category = this.#contract.display.category_hint } = said;
    const common = { mime_type: mime, category: category ?? null, description: description ?? null };
    if (!isDeferred(said)) return { ...common, origin: "generated" };
    const { reason = null, next_actions = [], expires_hours } = said;
    const expires_at = this.#terms.now() + expires_hours * HOUR;
    return { ...common, origin: "deferred", draft: { reason, next_actions, expires_at } };
  }
}

/** A file may be gigabytes, which nobody waits for any more. */
function untilGivenUp(data: Uploaded, signal: AbortSignal): Uploaded {
  return data instanceof ReadableStream ? data.pipeThrough(new TransformStream(), { signal }) : data;
}

/** Whether the other files of the result can be kept all the same. */
function isOfOneFile(error: SluiceError): boolean {
  return error.code === "E_NOT_FOUND" || isStoreFailure(error);
}

function isDeferred(said: SaidFile): said is DeferredArtifact {
  return "expires_hours" in said;
}

/** JSON text of members of an object, as they are spelled. */
function rawMembers(json: string, names: readonly string[]): ReadonlyMap<string, string> {
  const bytes = new TextEncoder().encode(json);
  const members = new MessageMembers();
  members.push(bytes);
  const found = new Map<string, string>();
  for (const name of names) {
    const { start, end } = members.member(name) ?? {};
    if (start !== undefined && end !== undefined) found.set(name, new TextDecoder().decode(bytes.subarray(start, end)));
  }
  return found;
}

/** Where the bytes of files are. */
interface SourceTerms {
  /** What the gate stored of this result, and of no other. */
  readonly artifacts: readonly AnswerRef[];
  readonly store: ArtifactStore;
  readonly scope: ArtifactScope;
  /** Left out where there is no file system. */
  readonly workspace: UserWorkspace | undefined;
  /** Bytes that a file may have. */
  readonly maxBytes: number;
}

/** What is allowed where there is no folder of a user's own. */
const NO_WORKSPACE = "/tmp/{username}/";

/** A file as the contract has it. */
type SaidFile = ContractArtifact | DeferredArtifact;

/** A file of a result, and its bytes. */
interface FoundFile {
  readonly said: SaidFile;
  readonly size_bytes: number;
  readonly open: () => Promise<Uploaded>;
}

/**
 * Finds the bytes of all files, which are open until it is disposed of, and reads none: where one of them is refused, none of them is stored.
 *
 * @throws InvalidPathError, FileTooLargeError; SluiceError E_TOOL_CONTRACT where a reference is none of this result, and where two
 * files would be kept by one name.
 */
async function foundFiles(
  said: readonly SaidFile[],
  terms: SourceTerms,
): Promise<AsyncDisposable & { readonly files: readonly FoundFile[] }> {
  checkNames(said);
  const open: AsyncDisposable[] = [];
  const close = async (): Promise<void> => {
    for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
  };
  try {
    const files: FoundFile[] = [];
    for (const each of said) {
      const { path } = each;
      files.push(path === undefined ? inline(each, terms) : await atPath(each, path, open, terms));
    }
    return { files, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Each would be a newer version of the one before: a single result could push a user's own file out of its versions. */
function checkNames(said: readonly SaidFile[]): void {
  const names = new Set<string>();
  for (const each of said) {
    const name = fileName(each.name);
    if (names.has(name)) throw twice(name);
    names.add(name);
  }
}

async function atPath(
  said: SaidFile,
  path: string,
  open: AsyncDisposable[],
  { workspace, maxBytes }: SourceTerms,
): Promise<FoundFile> {
  // Where there are no files, no path leads to one.
  if (workspace === undefined) throw new InvalidPathError(path, NO_WORKSPACE, "outside");
  const file = await opened(workspace, path, said.name);
  if (file instanceof SluiceError) return { said, size_bytes: 0, open: () => Promise.reject(file) };
  open.push(file);
  if (file.size_bytes > maxBytes) throw new FileTooLargeError(file.size_bytes, maxBytes);
  return { said, size_bytes: file.size_bytes, open: async () => file.stream() };
}

/** A tool may speak of a file that it did not write: that one is told as missing, and costs the others nothing. */
async function opened(workspace: UserWorkspace, path: string, name: string): Promise<OutputFile | SluiceError> {
  try {
    return await workspace.openOutput(path);
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== "E_NOT_FOUND") throw error;
    const shown = JSON.stringify(fileName(name));
    return new SluiceError("E_NOT_FOUND", `The tool names the file ${shown}, and there is none where it says.`);
  }
}

function inline(said: SaidFile, { artifacts, store, scope, maxBytes }: SourceTerms): FoundFile {
  const b64 = "b64" in said ? (said.b64 ?? "") : "";
  if (!b64.startsWith("artifact://")) {
    const bytes = Uint8Array.from(atob(b64), (char) => char.charCodeAt(0));
    if (bytes.length > maxBytes) throw new FileTooLargeError(bytes.length, maxBytes);
    return { said, size_bytes: bytes.length, open: async () => bytes };
  }
  const id = uriIn(b64)?.id;
  const ref = artifacts.find((each) => each.id === id);
  if (ref === undefined) throw foreign(said.name);
  if (ref.size_bytes > maxBytes) throw new FileTooLargeError(ref.size_bytes, maxBytes);
  return { said, size_bytes: ref.size_bytes, open: () => storedBytes(ref, store, scope) };
}

async function storedBytes(
  ref: AnswerRef,
  store: ArtifactStore,
  scope: ArtifactScope,
): Promise<ReadableStream<Uint8Array>> {
  const stream = ref.source["truncated"] === true ? null : await store.openReader(ref.id, { scope });
  if (stream !== null) return stream;
  throw new SluiceError("E_STORE_READ", "A file of the result was not stored: see what else failed, then call again.");
}

function twice(name: string): SluiceError {
  const shown = JSON.stringify(name.slice(0, 100));
  return new SluiceError("E_TOOL_CONTRACT", `Two files of the result come to the name ${shown}: call each otherwise.`);
}

/** Text from a server grants nothing: a reference counts only where the gate made it of this very result. */
function foreign(name: string): SluiceError {
  const shown = JSON.stringify(name.slice(0, 100));
  return new SluiceError("E_TOOL_CONTRACT", `The file ${shown} has a reference in place of bytes: give b64 or path.`);
}

/** A file of a result, stored, or with the reason why not. */
interface KeptFile {
  readonly said: SaidFile;
  /** As it is called from now on. */
  readonly name: string;
  /** Null where it was not stored. */
  readonly id: string | null;
  readonly size_bytes: number;
  /** Of a draft: when it goes, in milliseconds since 1970. */
  readonly expires_at: number | null;
  /** Why it was not stored. */
  readonly warning?: string;
}

/**
 * JSON text of the contract with names and references in place of bytes, paths and addresses. So are `results` and `meta_data`:
 * numbers in them have all of their digits.
 */
function toldContract(
  { retryable, artifacts, deferred_artifacts }: ToolContract,
  { results, meta_data }: { readonly results: string; readonly meta_data: string | undefined },
  kept: readonly KeptFile[],
): string {
  const files = kept.slice(0, artifacts.length).map(toldFile);
  const drafts = kept.slice(artifacts.length).map((file) => ({ ...toldFile(file), ...toldDraft(file) }));
  const rest = JSON.stringify({
    ...(retryable !== undefined && { retryable }),
    ...(files.length > 0 && { artifacts: files }),
    ...(deferred_artifacts.length > 0 && { deferred_artifacts: drafts }),
  });
  const members = [`"results":${results}`, ...(meta_data === undefined ? [] : [`"meta_data":${meta_data}`])];
  return `{${[...members, ...(rest === "{}" ? [] : [rest.slice(1, -1)])].join(",")}}`;
}

/** What a viewer is told; undefined where there is nothing to show. */
function toldDisplay({ display }: ToolContract, kept: readonly KeptFile[]): ResultDisplay | undefined {
  if (kept.length === 0 && display.notification === undefined) return undefined;
  const files = kept.flatMap(displayed);
  const primary = kept.find(({ said }) => said.name === display.primary_file);
  return {
    ...display,
    // It may be called otherwise by now.
    ...(primary !== undefined && { primary_file: primary.name }),
    files,
  };
}

/** `artifact://<id>?type=…&size=…`, as the core writes references. */
function referenceTo(id: string, mime: string, size_bytes: number): string {
  return `artifact://${id}?type=${encodeURIComponent(mime).replaceAll("%2F", "/")}&size=${size_bytes}`;
}

function toldFile(file: KeptFile): Readonly<Record<string, unknown>> {
  const { said, name, size_bytes, warning } = file;
  const { mime, description, category } = said;
  return {
    name,
    ...(file.id === null ? { warning: warning ?? "not stored" } : { ref: referenceTo(file.id, mime, size_bytes) }),
    mime,
    size: size_bytes,
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
  };
}

function toldDraft({ said, expires_at }: KeptFile): Readonly<Record<string, unknown>> {
  const { reason, next_actions } = said as DeferredArtifact;
  return {
    ...(reason !== undefined && { reason }),
    ...(next_actions !== undefined && { next_actions }),
    ...(expires_at !== null && { expires: new Date(expires_at).toISOString() }),
  };
}

function displayed({ said, name, id }: KeptFile): readonly DisplayedFile[] {
  if (id === null) return [];
  const viewer = "viewer" in said ? said.viewer : undefined;
  const auto_open = "auto_open" in said && said.auto_open;
  return [{ name, id, ...(viewer !== undefined && { viewer }), auto_open }];
}

/**
 * A result that follows the contract: its files go to My Files, what is told of them to the model and to the viewer.
 * @module
 */
import { ScopedArtifacts, type Uploaded } from "../artifacts/scoped.js";
import type { ArtifactRef, Clock } from "../artifacts/store.js";
import { untilAborted } from "../core/abort.js";
import type { DeferredArtifact, ToolContract } from "../core/contract-shape.js";
import type { Transformed } from "../core/sluice.js";
import type { SluiceError } from "../errors/error.js";
import { storageError } from "../errors/storage.js";
import { uriIn } from "../mcp/arguments/uri.js";
import { MessageMembers } from "../transports/members.js";
import type { FileCall, FiledResult } from "../tools/user-files/handling.js";
import { fileName } from "./file-name.js";
import { foundFiles, type FoundFile, type SourceTerms } from "./received.js";
import { referenceTo, toldContract, toldDisplay, type KeptFile } from "./told.js";
import type { UserFileInfo } from "./user-file.js";
import type { FileBatch, UserStorage } from "./user-storage.js";

/** Where files go. */
export interface KeepingTerms extends Omit<SourceTerms, "artifacts" | "scope"> {
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
  for (const file of found.files) await keeping.keep(file, file.said.name);
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

  async keep({ said, size_bytes, open }: FoundFile, name: string): Promise<void> {
    this.#call.signal.throwIfAborted();
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

  #info(said: FoundFile["said"]): UserFileInfo {
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
function isOfOneFile({ code }: SluiceError): boolean {
  return code.startsWith("E_STORE_") || code === "E_NOT_FOUND" || code === "E_TOO_LARGE";
}

function isDeferred(said: FoundFile["said"]): said is DeferredArtifact {
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

/**
 * A store as one user, session or trace may see it, and as one call of a tool may.
 * @module
 */
import {
  isBytes,
  wrong,
  checkOptions,
  OBJECT,
  type OptionTest,
  type OptionTests,
  checkObject,
} from "../errors/arguments.js";
import { SluiceError, type ErrorCode } from "../errors/error.js";
import { guardStorage, isStoreFailure } from "../errors/storage.js";
import { toChunks, type Uploaded, checkBytes } from "./bytes.js";
import { asStore } from "./host-store.js";
import { isPlainId, isWanted, openUnstored, toWarning, type TruncatedRef } from "./reference.js";
import { fullScope, sameScope, type FullScope } from "./scope.js";
import { openAnyWriter, writeWhole } from "./writer.js";
import type {
  ArtifactFilter,
  ArtifactInfo,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ByteRange,
  StoredArtifact,
} from "./store.js";

/** What is said of an upload: everything but whose it is. */
export type UploadInfo = Omit<ArtifactInfo, "scope">;

/**
 * Puts into one scope and reads from it, whatever ids it is given: what a tool, a user or a request gets in place of
 * the store. Scope is also checked here, so that it holds over a store that only records it.
 *
 * What is in another scope is not found, in the same words as what is nowhere.
 *
 * @example
 * const artifacts = new ScopedArtifacts(store, { tenant_id: "acme", user_id: "ada", session_id: "s1" });
 * const ref = await artifacts.upload(bytes, { filename: "report.pdf" });
 * const same = await artifacts.download(ref.id);
 */
export class ScopedArtifacts {
  readonly #store: ArtifactStore;
  readonly #scope: FullScope;

  /** Throws E_INVALID_ARGUMENT when the store or the scope is none. */
  constructor(store: ArtifactStore, scope: ArtifactScope) {
    this.#store = asStore(store);
    this.#scope = fullScope(scope);
  }

  /** Stores bytes, a text or a stream. Nothing is left of one that fails. Throws E_STORE_…, and what a stream throws. */
  async upload(data: Uploaded, info: UploadInfo = {}): Promise<ArtifactRef> {
    const said = { ...checkObject(info, "info"), scope: this.#scope };
    if (typeof data === "string") return guardStorage("write", () => this.#store.putText(data, said));
    if (isBytes(data)) return guardStorage("write", () => this.#store.putBytes(data, said));
    // What is none is refused before anything is opened for it.
    const chunks = toChunks(data);
    return writeWhole(await openAnyWriter(this.#store, said), chunks);
  }

  /** All bytes, or a range of them. Throws E_NOT_FOUND, E_EXPIRED, E_STORE_CORRUPT. */
  async download(id: string, options: { readonly range?: ByteRange } = {}): Promise<Uint8Array> {
    if (checkObject(options, "options").range !== undefined) {
      return new Uint8Array(await new Response(await this.open(id, options)).arrayBuffer());
    }
    await this.stat(id);
    return requireFound(await guardStorage("read", () => this.#store.get(id, this.#scope)), id);
  }

  /** The same as a stream. */
  async open(id: string, options: { readonly range?: ByteRange } = {}): Promise<ReadableStream<Uint8Array>> {
    await this.stat(id);
    return requireFound(
      await guardStorage("read", () => this.#store.openReader(id, { ...options, scope: this.#scope })),
      id,
    );
  }

  /** What is said of an artifact. Throws E_NOT_FOUND and E_EXPIRED. */
  async stat(id: string): Promise<StoredArtifact> {
    const artifact = requireFound(await guardStorage("read", () => this.#store.stat(id, this.#scope)), id);
    return requireFound(sameScope(artifact.scope, this.#scope) ? artifact : null, id);
  }

  /** What the scope holds, or what of it is wanted, oldest first. */
  async *list(only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    for await (const artifact of this.#store.list(this.#scope, only)) {
      if (sameScope(artifact.scope, this.#scope) && isWanted(artifact, only)) yield artifact;
    }
  }

  /** Whether there was anything to delete. */
  async delete(id: string): Promise<boolean> {
    const artifact = await guardStorage("read", () => this.#store.stat(id, this.#scope));
    if (artifact === null || !sameScope(artifact.scope, this.#scope)) return false;
    return guardStorage("write", () => this.#store.delete(id, this.#scope));
  }
}

function requireFound<T>(value: T | null, id: string): T {
  if (value !== null) return value;
  const named = isPlainId(id) ? `artifact ${id}` : "artifact of that id";
  throw new SluiceError("E_NOT_FOUND", `There is no ${named} here: check the id, or call the tool that made it.`);
}

/** What a tool says of what it stores; all of it may be left out. */
export interface ToolArtifactInfo extends Omit<ArtifactInfo, "scope"> {
  /** Anything else that is worth keeping, as JSON: `stat` gives it back as `source.meta`. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Options of {@link ToolArtifacts}. */
interface ToolArtifactsOptions {
  /** The owner of everything that is stored and read. */
  readonly scope: ArtifactScope;
  /** The namespace of what is stored without one. */
  readonly namespace: string;
  /** Where it comes from, such as `{ tool }`. */
  readonly source?: ArtifactRef["source"];
  /** Called for each artifact that was stored, and each that no store kept. */
  readonly onStored?: (ref: ArtifactRef | TruncatedRef) => void;
  /**
   * Called for what the store fails at; what it did not take then has a ref whose id begins with `truncated_`. Left out: the store's
   * error is thrown.
   */
  readonly onFailure?: (error: SluiceError) => void;
}

const TEXT_OR_NULL: OptionTest = ["a string or null", (value) => value === null || typeof value === "string"];

const INFO: OptionTests<ToolArtifactInfo> = {
  mime_type: TEXT_OR_NULL,
  filename: TEXT_OR_NULL,
  namespace: ["a string", (value) => typeof value === "string"],
  source: OBJECT,
  meta: OBJECT,
};

/**
 * A store as one call sees it. `putBytes`, `putText`, `get`, `delete` and `exists` are the basic ones; `upload` and `open` are
 * the same for streams. The scope is fixed: no option and no id leads out of it. What is not there is null or false, also
 * where there is no store at all.
 *
 * JSON of the refs says nothing of whose they are, so that a tool may return them.
 *
 * @example
 * const ref = await context.artifacts.putBytes(pdf, { mime_type: "application/pdf", meta: { report_id: 7 } });
 * return { summary: `The report has ${ref.size_bytes} bytes.`, artifact: ref };
 */
export class ToolArtifacts {
  readonly #artifacts: ScopedArtifacts;
  readonly #options: ToolArtifactsOptions;

  /** @throws SluiceError E_INVALID_ARGUMENT when the store or the scope is none. */
  constructor(store: ArtifactStore, options: ToolArtifactsOptions) {
    this.#artifacts = new ScopedArtifacts(store, options.scope);
    this.#options = options;
  }

  /**
   * Stores bytes.
   *
   * @returns where there is no store, or it fails and the host answers all the same, a ref whose id begins with `truncated_`.
   * @throws SluiceError E_INVALID_ARGUMENT with the option's path; E_STORE_…, E_TOO_LARGE where `interceptor.on_store_failure` says `error`.
   */
  async putBytes(data: Uint8Array, info?: ToolArtifactInfo): Promise<ArtifactRef> {
    return this.upload(checkBytes(data, "data"), info);
  }

  /** Stores a text as UTF-8; `text/plain` unless the info says what it is. Otherwise like `putBytes`. */
  async putText(text: string, info?: ToolArtifactInfo): Promise<ArtifactRef> {
    if (typeof text !== "string") throw wrong("text", "a string; use putBytes for bytes");
    return this.upload(text, info);
  }

  /** Stores bytes, a text or a stream; nothing is left of one that fails. Otherwise like `putBytes`. */
  async upload(data: Uploaded, info: ToolArtifactInfo = {}): Promise<ArtifactRef> {
    checkOptions<ToolArtifactInfo>(info, INFO, "an artifact", (sentence, path) => {
      return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
    });
    const { meta, namespace = this.#options.namespace, ...rest } = info;
    const source = { ...rest.source, ...this.#options.source, ...(meta !== undefined && { meta }) };
    const ref = await this.#storeUploaded(data, { ...rest, namespace, source });
    this.#options.onStored?.(ref);
    return withoutScope(ref) as ArtifactRef;
  }

  async #storeUploaded(data: Uploaded, info: Omit<ArtifactInfo, "scope">): Promise<ArtifactRef | TruncatedRef> {
    const { scope, onFailure } = this.#options;
    try {
      return await this.#artifacts.upload(data, info);
    } catch (error) {
      if (!isStoreFailure(error) || onFailure === undefined) throw error;
      onFailure(error);
      const bytes = typeof data === "string" ? new TextEncoder().encode(data) : isBytes(data) ? data : undefined;
      const passed = bytes === undefined ? { size_bytes: 0 } : { size_bytes: bytes.length, bytes: [bytes] };
      return (await openUnstored({ ...info, scope }, toWarning(error), passed)).ref();
    }
  }

  /** All bytes, or null when there is no such artifact. Throws E_EXPIRED, E_STORE_…. */
  get(id: string): Promise<Uint8Array | null> {
    return this.download(id);
  }

  /** The same, or a range of them. */
  download(id: string, options?: { readonly range?: ByteRange }): Promise<Uint8Array | null> {
    return unless(["E_NOT_FOUND"], null, this.#artifacts.download(id, options));
  }

  /** The same as a stream. */
  open(id: string, options?: { readonly range?: ByteRange }): Promise<ReadableStream<Uint8Array> | null> {
    return unless(["E_NOT_FOUND"], null, this.#artifacts.open(id, options));
  }

  /** What is said of an artifact; null when there is none. Throws E_EXPIRED. */
  stat(id: string): Promise<StoredArtifact | null> {
    return unless(["E_NOT_FOUND"], null, this.#artifacts.stat(id).then(withoutScope));
  }

  /** Whether there is such an artifact. */
  exists(id: string): Promise<boolean> {
    return unless(
      ["E_NOT_FOUND", "E_EXPIRED"],
      false,
      this.#artifacts.stat(id).then(() => true),
    );
  }

  /** Deletes an artifact; false when there is none. */
  delete(id: string): Promise<boolean> {
    return unless(["E_NOT_FOUND", "E_EXPIRED"], false, this.#artifacts.delete(id));
  }

  /** What the scope holds, oldest first. */
  async *list(): AsyncIterable<StoredArtifact> {
    for await (const artifact of this.#artifacts.list()) yield withoutScope(artifact);
  }
}

/** What `work` gives, or `instead` where it fails with one of these. */
async function unless<T, Instead>(
  codes: readonly ErrorCode[],
  instead: Instead,
  work: Promise<T>,
): Promise<T | Instead> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SluiceError && codes.includes(error.code)) return instead;
    throw error;
  }
}

/** Code that asks for the scope by name gets it; code that serialises the ref does not. */
export function withoutScope<Ref extends ArtifactRef | TruncatedRef>({ scope, ...shown }: Ref): Ref {
  return Object.defineProperty(shown, "scope", { value: scope, enumerable: false }) as unknown as Ref;
}

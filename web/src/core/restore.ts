/**
 * Restores what the mcp dialect took out of a result. A result carries its references in `_meta`: their list, or the name of a stored
 * list. For results without `_meta` (an array, a text, an error) the references are stored beside the artifacts. `openText` restores a
 * single stored text, for the layers.
 * @module
 */
import { isArtifactId, isPlainId } from "../artifacts/reference.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { guardStorage, storageError } from "../errors/storage.js";
import type { Engine, EnginePool } from "./engine.js";
import type { AnswerRef, TransformOptions } from "./types.js";
import { toInfo, type StoreAccess } from "./store-access.js";

/** Most levels of texts within texts. A message has fewer segments, so a text that goes deeper refers to itself. */
const MAX_DEPTH = 320;

/** The first byte of a piece of source text: `=`. */
const LITERAL = 0x3d;

/** Most characters of an id that an error repeats. */
const MAX_ID = 200;

/** The type of stored references. */
const MIME_TYPE = "application/vnd.sluice.refs+json";

const encoder = new TextEncoder();

interface Hole {
  readonly kind: "bytes" | "text" | "json";
  readonly id: string;
  readonly form: string;
  readonly raw: boolean;
}

type Piece = Uint8Array | Hole;

/** Writes restored documents. */
export class Restorer {
  readonly #pool: EnginePool;
  readonly #store: ArtifactStore;
  readonly #scope: ArtifactScope | undefined;

  constructor(pool: EnginePool, store: ArtifactStore, scope: ArtifactScope | undefined) {
    this.#pool = pool;
    this.#store = store;
    this.#scope = scope;
  }

  /**
   * The restored document, in pieces.
   *
   * @throws SluiceError E_RESTORE_REFS, E_NOT_RESTORABLE; with the id of the artifact E_NOT_FOUND (unknown, in another scope, or never stored),
   * E_EXPIRED, E_STORE_CORRUPT, E_STORE_DENIED, E_STORE_READ. All but damage is thrown before the first byte, where lines name their
   * references before that of the line.
   */
  async *document(json: string): AsyncGenerator<Uint8Array> {
    const mayName = NAMED.test(json);
    const value = mayName ? parseOrNull(json) : undefined;
    if (value === null && json.includes("\n")) {
      for (const [index, line] of json.split("\n").entries()) {
        if (index > 0) yield encoder.encode("\n");
        yield* this.document(line);
      }
      return;
    }
    const name = nameIn(value);
    const refs = await (name === undefined
      ? sidecarRefs(this.#store, this.#scope, json)
      : listNamed(name, this.#store, this.#scope));
    const entries = encoder.encode(refs);
    const cut = (engine: Engine): void => {
      if (refs === "") engine.call("restore");
      else engine.call("restoreWith", entries.length, name !== undefined);
    };
    yield* this.#cut([encoder.encode(json), entries], 0, cut);
  }

  async *#cut(input: readonly Uint8Array[], depth: number, cut: (engine: Engine) => void): AsyncGenerator<Uint8Array> {
    const engine = await this.#pool.take();
    try {
      engine.give(input);
      cut(engine);
      if (depth === 0) {
        // Missing artifacts are reported before the first byte, not in the middle of a document.
        await this.#checkHoles(engine);
        engine.give(input);
        cut(engine);
      }
      for (;;) {
        const piece = nextPiece(engine);
        if (piece === undefined) return;
        if (piece instanceof Uint8Array) yield piece;
        else if (piece.kind === "bytes") yield* this.#bytes(engine, piece);
        else yield* this.#text(piece, depth + 1);
      }
    } finally {
      this.#pool.release(engine);
    }
  }

  async #checkHoles(engine: Engine): Promise<void> {
    const ids = new Set<string>();
    for (let piece = nextPiece(engine); piece !== undefined; piece = nextPiece(engine)) {
      if (!(piece instanceof Uint8Array)) ids.add(piece.id);
    }
    // The set grows during the loop: references within stored texts are checked too.
    for (const id of ids) {
      const ref = await reading(id, () => this.#store.stat(id, this.#scope));
      if (ref === null) throw toGoneError(id);
      for (const inner of idsInside(ref)) ids.add(inner);
    }
  }

  async *#bytes(engine: Engine, { id, form, raw }: Hole): AsyncGenerator<Uint8Array> {
    const at = this.#scope === undefined ? {} : { scope: this.#scope };
    const reader = await reading(id, () => this.#store.openReader(id, at));
    if (reader === null) throw toGoneError(id);
    yield* inForm(form, raw, readChunks(id, reader), engine);
  }

  /** A stored text, with the references inside it restored. */
  async *#text({ id, kind, form }: Hole, depth: number): AsyncGenerator<Uint8Array> {
    if (depth > MAX_DEPTH) {
      throw new SluiceError("E_RESTORE_REFS", `artifact ${id} refers to itself`);
    }
    const [bytes, ref] = await reading(id, () =>
      Promise.all([this.#store.get(id, this.#scope), this.#store.stat(id, this.#scope)]),
    );
    if (bytes === null || ref === null) throw toGoneError(id);
    const references = encoder.encode(JSON.stringify(ref.source["references"] ?? []));
    const spelling = encoder.encode(form);
    // As bytes, since decoding would replace lone surrogates, which JSON may escape.
    yield* this.#cut([bytes, references, spelling], depth, (engine) =>
      engine.call("restoreText", references.length, spelling.length, kind === "json"),
    );
  }
}

function nextPiece(engine: Engine): Piece | undefined {
  if (!engine.call("nextPiece")) return undefined;
  const output = engine.bytes();
  return output[0] === LITERAL ? output.subarray(1) : (JSON.parse(new TextDecoder().decode(output)) as Hole);
}

/** Encodes bytes in the form that they had in the document, such as base64. */
async function* inForm(
  form: string,
  raw: boolean,
  chunks: AsyncIterable<Uint8Array>,
  engine: Engine,
): AsyncGenerator<Uint8Array> {
  engine.give(form);
  engine.call("openForm", raw);
  for await (const chunk of chunks) {
    engine.give([chunk]);
    engine.call("writeForm");
    yield engine.bytes();
  }
  engine.call("closeForm");
  yield engine.bytes();
}

async function* readChunks(id: string, reader: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* reader;
  } catch (error) {
    throw about(id, error);
  }
}

async function reading<T>(id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw about(id, error);
  }
}

/** The ids of the artifacts that a stored text refers to. They were recorded when it was stored. */
function idsInside({ source }: ArtifactRef): string[] {
  const references: unknown = source["references"];
  if (!Array.isArray(references)) return [];
  return references.flatMap((reference: { readonly uri?: unknown } | null) => {
    const [, id] = /^artifact:\/\/([\w.-]+)\?/.exec(String(reference?.uri)) ?? [];
    return id === undefined ? [] : [id];
  });
}

/** An error of the store that names the artifact. */
function about(id: string, error: unknown): SluiceError {
  const failure = storageError(error, "read");
  const { code, message, cause } = failure;
  if (message.includes(id)) return failure;
  return new SluiceError(code, `artifact ${id.slice(0, MAX_ID)}: ${message}`, {}, { cause: cause ?? error });
}

function toGoneError(id: string): SluiceError {
  const name = id.slice(0, MAX_ID);
  return new SluiceError(
    "E_NOT_FOUND",
    name.startsWith("truncated_")
      ? `artifact ${name} was never stored, so it cannot be restored: see its source.warning, and call the tool again`
      : `there is no artifact ${name} in this scope of the store: give the store and the scope that it was stored with, or call the tool again`,
  );
}

/** What names the list of references in a document. Some write the slash as an escape. */
const NAMED = /"sluice\\?\/refs"\s*:\s*"/;

/** The record of a list that its result names. A server may choose the type of an artifact, but writes nothing into `source`. */
export const LIST_RECORD: Pick<ArtifactRef, "mime_type" | "source"> = {
  mime_type: MIME_TYPE,
  source: { restores: "result" },
};

/** The name of the list of a result, or of the result in a response. */
function nameIn(document: unknown): string | undefined {
  const root = document as (Carrier & { readonly jsonrpc?: unknown }) | null | undefined;
  const name = (root?.jsonrpc === undefined ? root : root.result)?.["_meta"]?.["sluice/refs"];
  return typeof name === "string" ? name : undefined;
}

function toNotRestorableError(name: string): SluiceError {
  return new SluiceError(
    "E_NOT_RESTORABLE",
    `The result names ${name.slice(0, MAX_ID)} as its references, which this scope of the store does not have: give the store and the scope of the call, or ask for the result with its whole list by _meta {"sluice/refs":"list"}.`,
  );
}

/** A stored list as JSON text. Throws E_NOT_RESTORABLE without it, E_RESTORE_REFS for the name of anything else. */
async function listNamed(name: string, store: ArtifactStore, scope: ArtifactScope | undefined): Promise<string> {
  const ref = isPlainId(name) ? await reading(name, () => store.stat(name, scope)) : undefined;
  if (ref === null && isArtifactId(name)) throw toNotRestorableError(name);
  if (ref?.mime_type !== MIME_TYPE || ref.source["restores"] !== LIST_RECORD.source["restores"]) {
    const what = `The result names ${JSON.stringify(name.slice(0, MAX_ID))} as its references, which is not a list of references.`;
    throw new SluiceError(
      "E_RESTORE_REFS",
      `${what} Pass the result to restore unchanged, exactly as Sluice returned it.`,
    );
  }
  const bytes = await reading(name, () => store.get(name, scope));
  if (bytes === null) throw toNotRestorableError(name);
  const list = new TextDecoder().decode(bytes);
  if (Array.isArray(parseOrNull(list))) return list;
  throw toDamagedError(name);
}

interface Carrier {
  readonly _meta?: Readonly<Record<string, unknown>> | null;
  readonly result?: { readonly _meta?: Readonly<Record<string, unknown>> | null } | null;
}

/** Whether a document carries its references where the core writes them. The key elsewhere does not count. */
function carriesRefs(json: string): boolean {
  if (!json.includes('"sluice/refs"')) return false;
  const root = parseOrNull(json) as Carrier | null;
  return [root, root?.result].some((holder) => Array.isArray(holder?.["_meta"]?.["sluice/refs"]));
}

/** Parses JSON. Null if it is not JSON; the core then reports where. */
function parseOrNull(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return null;
  }
}

/**
 * Stores `refs` for the reduced document `json`, unless it carries them. An empty list is stored for an array or text that only looks
 * as if it had references, since another original may be reduced to the same document. If the store fails, the answer is complete
 * but cannot be restored.
 */
export async function keepSidecarRefs(
  access: StoreAccess,
  options: TransformOptions,
  json: string,
  refs = "[]",
): Promise<void> {
  if (!json.includes("artifact://") || carriesRefs(json)) return;
  if (refs === "[]" && json.trimStart().startsWith("{")) return;
  const of = oneSpelling(json);
  const source = { restores_chars: of.length, kept_at: performance.timeOrigin + performance.now() };
  const info = { ...toInfo(options, source), mime_type: MIME_TYPE };
  const keep = (): Promise<void> =>
    access.call("write", async (store) => {
      try {
        await store.putText(JSON.stringify({ of, refs }), info);
      } catch (error) {
        const { code, message, cause } = storageError(error, "write");
        const what = "The references of this result were not stored, so restore cannot put its content back";
        throw new SluiceError(code, `${what}: ${message}`, {}, { cause });
      }
    });
  await access.attempt(keep, () => undefined);
}

/**
 * The references that are stored for `json`. Empty if there are none. Two originals may be reduced to the same document, such as a
 * string and an array of the same bytes: the references that were stored last count. Throws E_STORE_… if the store fails, E_EXPIRED if
 * the references may have expired.
 */
async function sidecarRefs(store: ArtifactStore, scope: ArtifactScope | undefined, json: string): Promise<string> {
  if (!json.includes("artifact://") || carriesRefs(json)) return "";
  const wanted = oneSpelling(json);
  let expired: SluiceError | undefined;
  for (const { id } of await candidates(store, scope ?? {}, wanted.length)) {
    try {
      const bytes = await guardStorage("read", () => store.get(id, scope));
      const kept = bytes && parseRecord(bytes, id);
      if (kept?.of === wanted) return kept.refs;
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "E_EXPIRED") throw error;
      expired = error;
    }
  }
  if (expired !== undefined) throw expired;
  return "";
}

interface Kept {
  readonly of: string;
  readonly refs: string;
}

function parseRecord(bytes: Uint8Array, id: string): Kept {
  const kept = parseOrNull(new TextDecoder().decode(bytes)) as Partial<Kept> | null;
  if (typeof kept?.of === "string" && typeof kept.refs === "string") return { of: kept.of, refs: kept.refs };
  throw toDamagedError(id);
}

function toDamagedError(id: string): SluiceError {
  return new SluiceError(
    "E_STORE_CORRUPT",
    `The references in ${id} are damaged: delete it, and call the tool again to restore its result.`,
  );
}

/** The stored references for documents of this length, the newest first. */
async function candidates(store: ArtifactStore, scope: ArtifactScope, chars: number): Promise<ArtifactRef[]> {
  const found: ArtifactRef[] = [];
  await guardStorage("read", async () => {
    for await (const ref of store.list(scope)) {
      if (ref.mime_type === MIME_TYPE && ref.source["restores_chars"] === chars) found.push(ref);
    }
  });
  return found.sort((left, right) => Number(right.source["kept_at"]) - Number(left.source["kept_at"]));
}

// White space and escapes of a document may change on its way, its value does not.
function oneSpelling(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}

/** A reference inside a stored text: `inner_ref` in `wasm/include/sluice/restore.h`. */
interface Reference {
  readonly offset: number;
  readonly uri: string;
  /** Set for everything but a run of bytes. */
  readonly kind?: string;
  /** How the run was written, unless as plain base64. */
  readonly form?: string;
}

/**
 * A stored text in pieces, in constant memory, with its runs of bytes restored. A piece is null if the store does not have its run.
 * Null if the store does not have the text.
 */
export async function openText(
  ref: AnswerRef,
  engine: Engine,
  access: StoreAccess,
): Promise<AsyncGenerator<Uint8Array | null> | null> {
  const chunks = await access.openChunks(ref.id, ref.scope);
  return chunks && pieces(chunks, ref, engine, access);
}

async function* pieces(
  chunks: AsyncIterable<Uint8Array>,
  { source, scope }: AnswerRef,
  engine: Engine,
  access: StoreAccess,
): AsyncGenerator<Uint8Array | null> {
  const noted = source["references"];
  const references = Array.isArray(noted) ? [...(noted as readonly Reference[])] : [];
  let at = 0;
  /** Where the text continues after the last reference. */
  let resume = 0;
  for await (const chunk of chunks) {
    const end = at + chunk.length;
    let next = references[0];
    for (; next !== undefined && next.offset < end; next = references[0]) {
      if (next.offset > resume) yield chunk.subarray(Math.max(resume, at) - at, next.offset - at);
      yield* writeRun(next, scope, engine, access);
      resume = next.offset + next.uri.length;
      references.shift();
    }
    if (resume < end) yield chunk.subarray(Math.max(resume, at) - at);
    at = end;
  }
}

/** A run of bytes in its original form. Null for texts inside the text, which are not runs. */
async function* writeRun(
  { uri, kind, form: named }: Reference,
  scope: AnswerRef["scope"],
  engine: Engine,
  access: StoreAccess,
): AsyncGenerator<Uint8Array | null> {
  const [address = "", query] = uri.slice("artifact://".length).split("?");
  const chunks = kind === undefined ? await access.openChunks(decodeURIComponent(address), scope) : null;
  if (chunks === null) {
    yield null;
    return;
  }
  const form = withoutPrefix(named ?? new URLSearchParams(query).get("form") ?? "");
  yield* inForm(form, true, chunks, engine);
}

/** The form of a run in a `data:` URI, without the beginning of the URI. */
function withoutPrefix(form: string): string {
  const bare = form.replace("-data", "");
  return bare === "base64" ? "" : bare;
}

/**
 * Putting back what the mcp dialect took out. Results that have no `_meta` to carry their references (an array, a text,
 * an error) have them kept in the store, beside what they belong to. A stored text alone is put back for the layers.
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { guarded, storageError } from "../errors/storage.js";
import type { Engine, EnginePool } from "./engine.js";
import type { AnswerRef, TransformOptions } from "./sluice.js";
import { infoOf, type StoreAccess } from "./store-access.js";

/** Texts inside texts that are followed: more than one message has segments, so what goes deeper refers to itself. */
const MAX_DEPTH = 320;

/** First byte of a piece that is source text as it is: `=`. */
const LITERAL = 0x3d;

/** Longest id that is repeated: a document may name anything. */
const MAX_ID = 200;

/** Of references that are kept beside a document. */
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
   * The document.
   *
   * @throws SluiceError E_RESTORE_REFS; with the artifact's id E_NOT_FOUND (unknown, in another scope, or never
   * stored), E_EXPIRED, E_STORE_CORRUPT, E_STORE_DENIED, E_STORE_READ. All but damage is told before the first byte.
   */
  async *document(json: string): AsyncGenerator<Uint8Array> {
    const refs = await sidecarRefs(this.#store, this.#scope, json);
    const entries = encoder.encode(refs);
    const cut = (engine: Engine): void => {
      if (refs === "") engine.must("restore");
      else engine.must("restoreWith", entries.length);
    };
    yield* this.#cut([encoder.encode(json), entries], 0, cut);
  }

  async *#cut(input: readonly Uint8Array[], depth: number, cut: (engine: Engine) => void): AsyncGenerator<Uint8Array> {
    const engine = await this.#pool.take();
    try {
      engine.give(input);
      cut(engine);
      if (depth === 0) {
        // Half a document helps nobody: what is gone is told before the first byte.
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
    // A set may grow while it is walked: what stored texts refer to is checked as well.
    for (const id of ids) {
      const ref = await reading(id, () => this.#store.stat(id, this.#scope));
      if (ref === null) throw gone(id);
      for (const inner of idsInside(ref)) ids.add(inner);
    }
  }

  async *#bytes(engine: Engine, { id, form, raw }: Hole): AsyncGenerator<Uint8Array> {
    const at = this.#scope === undefined ? {} : { scope: this.#scope };
    const reader = await reading(id, () => this.#store.openReader(id, at));
    if (reader === null) throw gone(id);
    yield* inForm(form, raw, chunksOf(id, reader), engine);
  }

  /** A stored text, the references inside it put back in turn. */
  async *#text({ id, kind }: Hole, depth: number): AsyncGenerator<Uint8Array> {
    if (depth > MAX_DEPTH) {
      throw new SluiceError("E_RESTORE_REFS", `artifact ${id} refers to itself`);
    }
    const [bytes, ref] = await reading(id, () =>
      Promise.all([this.#store.get(id, this.#scope), this.#store.stat(id, this.#scope)]),
    );
    if (bytes === null || ref === null) throw gone(id);
    const references = encoder.encode(JSON.stringify(ref.source["references"] ?? []));
    // As bytes: halves of surrogate pairs, which JSON may escape, are in them and would not survive decoding.
    yield* this.#cut([bytes, references], depth, (engine) =>
      engine.must("restoreText", references.length, kind === "json"),
    );
  }
}

function nextPiece(engine: Engine): Piece | undefined {
  if (!engine.call("nextPiece")) return undefined;
  const output = engine.bytes();
  return output[0] === LITERAL ? output.subarray(1) : (JSON.parse(new TextDecoder().decode(output)) as Hole);
}

/** Bytes in the form that they had in the document, such as base64. */
async function* inForm(
  form: string,
  raw: boolean,
  chunks: AsyncIterable<Uint8Array>,
  engine: Engine,
): AsyncGenerator<Uint8Array> {
  engine.give(form);
  engine.must("openForm", raw);
  for await (const chunk of chunks) {
    engine.give([chunk]);
    engine.call("writeForm");
    yield engine.bytes();
  }
  engine.call("closeForm");
  yield engine.bytes();
}

async function* chunksOf(id: string, reader: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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

/** The artifacts that a stored text refers to, as was noted when it was stored. */
function idsInside({ source }: ArtifactRef): string[] {
  const references: unknown = source["references"];
  if (!Array.isArray(references)) return [];
  return references.flatMap((reference: { readonly uri?: unknown } | null) => {
    const [, id] = /^artifact:\/\/([\w.-]+)\?/.exec(String(reference?.uri)) ?? [];
    return id === undefined ? [] : [id];
  });
}

/** A failure of the store, with the artifact that it is about. */
function about(id: string, error: unknown): SluiceError {
  const failure = storageError(error, "read");
  const { code, message, cause } = failure;
  if (message.includes(id)) return failure;
  return new SluiceError(code, `artifact ${id.slice(0, MAX_ID)}: ${message}`, {}, { cause: cause ?? error });
}

function gone(id: string): SluiceError {
  const name = id.slice(0, MAX_ID);
  return new SluiceError(
    "E_NOT_FOUND",
    name.startsWith("truncated_")
      ? `artifact ${name} was never stored, as its source.warning says: it cannot be restored; call the tool again`
      : `artifact ${name} is not in this scope of the store, or no longer: name its scope and store, or call the tool again`,
  );
}

interface Carrier {
  readonly _meta?: Readonly<Record<string, unknown>> | null;
  readonly result?: { readonly _meta?: Readonly<Record<string, unknown>> | null } | null;
}

/** Whether a document carries its own references: where the core writes them, not wherever the key stands. */
function carriesRefs(json: string): boolean {
  if (!json.includes('"sluice/refs"')) return false;
  const root = parsed(json) as Carrier | null;
  return [root, root?.result].some((holder) => Array.isArray(holder?.["_meta"]?.["sluice/refs"]));
}

/** Null for what is not JSON: of a document the core says where it is not. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return null;
  }
}

/**
 * Keeps `refs` for the reduced document `json`, where it does not carry them. For an array or a text that only looks as
 * if it had some, it is kept that there are none: another original may be reduced to the same. Where the store fails the
 * answer is as good, but cannot be restored.
 */
export async function keepSidecarRefs(
  access: StoreAccess,
  options: TransformOptions,
  json: string,
  refs = "[]",
): Promise<void> {
  if (carriesRefs(json) || !json.includes("artifact://")) return;
  if (refs === "[]" && json.trimStart().startsWith("{")) return;
  const of = oneSpelling(json);
  const source = { restores_chars: of.length, kept_at: performance.timeOrigin + performance.now() };
  const info = { ...infoOf(options, source), mime_type: MIME_TYPE };
  const keep = (): Promise<void> =>
    access.call("write", async (store) => {
      try {
        await store.putText(JSON.stringify({ of, refs }), info);
      } catch (error) {
        const { code, message, cause } = storageError(error, "write");
        const what = "The references of this result were not kept, so restore cannot put back what was taken out";
        throw new SluiceError(code, `${what}: ${message}`, {}, { cause });
      }
    });
  await access.attempt(keep, () => undefined);
}

/**
 * The references kept for `json`, or nothing. Two originals may be reduced to the same document, such as a string
 * and an array of the same bytes: what was kept last is meant. Throws E_STORE_… when the store fails, E_EXPIRED
 * when what may have been meant has expired.
 */
async function sidecarRefs(store: ArtifactStore, scope: ArtifactScope | undefined, json: string): Promise<string> {
  if (carriesRefs(json) || !json.includes("artifact://")) return "";
  const wanted = oneSpelling(json);
  let expired: SluiceError | undefined;
  for (const { id } of await candidates(store, scope ?? {}, wanted.length)) {
    try {
      const bytes = await guarded("read", () => store.get(id, scope));
      const kept = bytes && recordOf(bytes, id);
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

function recordOf(bytes: Uint8Array, id: string): Kept {
  const kept = parsed(new TextDecoder().decode(bytes)) as Partial<Kept> | null;
  if (typeof kept?.of === "string" && typeof kept.refs === "string") return { of: kept.of, refs: kept.refs };
  throw new SluiceError(
    "E_STORE_CORRUPT",
    `The references in ${id} are damaged: delete it, and call the tool again to restore its result.`,
  );
}

/** What was kept for documents of this length, the newest first. */
async function candidates(store: ArtifactStore, scope: ArtifactScope, chars: number): Promise<ArtifactRef[]> {
  const found: ArtifactRef[] = [];
  await guarded("read", async () => {
    for await (const ref of store.list(scope)) {
      if (ref.mime_type === MIME_TYPE && ref.source["restores_chars"] === chars) found.push(ref);
    }
  });
  return found.sort((left, right) => Number(right.source["kept_at"]) - Number(left.source["kept_at"]));
}

// White space and escapes may change on the way of a document; its value does not.
function oneSpelling(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}

/** What was noted of a reference when the text was stored: `inner_ref` in `wasm/include/sluice/restore.h`. */
interface Reference {
  readonly offset: number;
  readonly uri: string;
  /** Of what is no run of bytes. */
  readonly kind?: string;
}

/**
 * The text piece by piece, in constant memory; null in place of a run that the store does not give back. Null where it
 * does not give the text.
 */
export async function textOf(
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
  /** Where text goes on behind the last reference. */
  let resume = 0;
  for await (const chunk of chunks) {
    const end = at + chunk.length;
    let next = references[0];
    for (; next !== undefined && next.offset < end; next = references[0]) {
      if (next.offset > resume) yield chunk.subarray(Math.max(resume, at) - at, next.offset - at);
      yield* written(next, scope, engine, access);
      resume = next.offset + next.uri.length;
      references.shift();
    }
    if (resume < end) yield chunk.subarray(Math.max(resume, at) - at);
    at = end;
  }
}

/** A run in the form that it had. Texts inside a text are no runs of its own. */
async function* written(
  { uri, kind }: Reference,
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
  const form = withoutPrefix(new URLSearchParams(query).get("form") ?? "");
  yield* inForm(form, true, chunks, engine);
}

/** The form of a run of a `data:` URI without the URI's beginning. */
function withoutPrefix(form: string): string {
  const bare = form.replace("-data", "");
  return bare === "base64" ? "" : bare;
}

/**
 * Putting back what the mcp dialect took out.
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { storageError } from "../errors/storage.js";
import type { Engine, EnginePool } from "./engine.js";

/** Texts inside texts that are followed: more than one message has segments, so what goes deeper refers to itself. */
const MAX_DEPTH = 320;

/** First byte of a piece that is source text as it is: `=`. */
const LITERAL = 0x3d;

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
   * The document, `refs` being entries that were kept beside it.
   *
   * @throws SluiceError E_RESTORE_REFS; with the artifact's id E_NOT_FOUND (unknown, in another scope, or never
   * stored), E_EXPIRED, E_STORE_CORRUPT, E_STORE_DENIED, E_STORE_READ. All but damage is told before the first byte.
   */
  async *document(json: string, refs: string): AsyncGenerator<Uint8Array> {
    const entries = encoder.encode(refs);
    yield* this.#cut([encoder.encode(json), entries], 0, (core) =>
      refs === "" ? core.restore() : core.restoreWith(entries.length),
    );
  }

  async *#cut(
    input: readonly Uint8Array[],
    depth: number,
    cut: Parameters<Engine["tell"]>[1],
  ): AsyncGenerator<Uint8Array> {
    const engine = await this.#pool.take();
    try {
      engine.tell(input, cut);
      if (depth === 0) {
        // Half a document helps nobody: what is gone is told before the first byte.
        await this.#checkHoles(engine);
        engine.tell(input, cut);
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
    const reader = await reading(id, () => this.#store.openReader(id, this.#at()));
    if (reader === null) throw gone(id);
    engine.tell(form, (core) => core.openForm(raw));
    for await (const chunk of chunksOf(id, reader)) {
      yield engine.call((core) => {
        core.input(chunk.length).set(chunk);
        core.writeForm();
        return core.output().slice();
      });
    }
    yield engine.call((core) => {
      core.closeForm();
      return core.output().slice();
    });
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
    yield* this.#cut([bytes, references], depth, (core) => core.restoreText(references.length, kind === "json"));
  }

  #at(): { readonly scope?: ArtifactScope } {
    return this.#scope === undefined ? {} : { scope: this.#scope };
  }
}

function nextPiece(engine: Engine): Piece | undefined {
  return engine.call((core) => {
    if (!core.nextPiece()) return undefined;
    const output = core.output();
    if (output[0] === LITERAL) return output.slice(1);
    return JSON.parse(new TextDecoder().decode(output)) as Hole;
  });
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

/** Longest id that is repeated: a document may name anything. */
const MAX_ID = 200;

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

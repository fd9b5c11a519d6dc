/**
 * What files say of themselves beyond kind and size: pages, sheets, entries, length. A module of its own tells it, which is loaded
 * with the first file of such a kind; for PDFs, which are most of them, there is one that knows nothing else.
 * @module
 */
import { compileSource, Engine, type WasmSource } from "./engine.js";
import type createFactsModule from "./facts.mjs";
import type { Facts } from "./facts.mjs";
import { instantiate } from "./instantiate.js";

/**
 * Milliseconds that a result waits for the module, and that pass before one that could not be loaded is tried again. Tests set them
 * lower.
 */
export const FACTS_PATIENCE = { load: 3_000, again: 60_000 };

/** A glue, and where the module is that it glues. Bundlers find both by these forms; `place` throws where modules have no address. */
interface FactsParts {
  readonly glue: () => Promise<{ readonly default: typeof createFactsModule }>;
  readonly place: () => URL;
}

const ALL: FactsParts = {
  glue: () => import("./facts.mjs"),
  place: () => new URL("./facts.wasm", import.meta.url),
};

const PDF: FactsParts = {
  glue: () => import("./pdf.mjs"),
  place: () => new URL("./pdf.wasm", import.meta.url),
};

/** Readers by what their module is compiled from. */
const readers = new WeakMap<object, FactsReader>();

/**
 * The description of a file from the evidence that the core gave of it. Undefined without the module: what the core said then
 * stands. Never throws.
 */
export function tellFacts(evidence: Uint8Array, source: WasmSource | undefined): Promise<string | undefined> {
  // One that is loaded already tells PDFs, too.
  const isPdf = source === undefined && !readers.has(ALL) && readEvidence(evidence).mime === "application/pdf";
  const parts = isPdf ? PDF : ALL;
  const key = source ?? parts;
  let reader = readers.get(key);
  if (reader === undefined) readers.set(key, (reader = new FactsReader(parts, source)));
  return reader.tell(evidence);
}

class FactsReader {
  readonly #parts: FactsParts;
  readonly #source: WasmSource | undefined;
  #compiled: Promise<WebAssembly.Module> | undefined;
  /** Undefined within: it could not be loaded, or not in time. */
  #engine: Promise<Engine<Facts> | undefined> | undefined;
  #triedAt = 0;

  constructor(parts: FactsParts, source: WasmSource | undefined) {
    this.#parts = parts;
    this.#source = source;
  }

  async tell(evidence: Uint8Array): Promise<string | undefined> {
    this.#engine ??= this.#load();
    const engine = await this.#engine;
    if (engine === undefined) {
      if (performance.now() - this.#triedAt >= FACTS_PATIENCE.again) this.#engine = undefined;
      return undefined;
    }
    try {
      engine.give([(await decodeOldText(evidence)) ?? evidence]);
      engine.call("tell");
      return engine.ask("output") || undefined;
    } catch {
      return undefined;
    } finally {
      // After a trap the next file gets another instance.
      if (!engine.reusable) this.#engine = undefined;
    }
  }

  #load(): Promise<Engine<Facts> | undefined> {
    this.#triedAt = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), FACTS_PATIENCE.load);
    });
    const made = this.#make().catch(() => {
      this.#compiled = undefined;
      return undefined;
    });
    const engine = Promise.race([made, late]);
    void this.#settle(made, engine).finally(() => clearTimeout(timer));
    return engine;
  }

  /** What came late serves those that come later. */
  async #settle(made: Promise<Engine<Facts> | undefined>, engine: Promise<unknown>): Promise<void> {
    if ((await made) !== undefined && this.#engine === engine) this.#engine = made;
  }

  async #make(): Promise<Engine<Facts>> {
    const { glue, place } = this.#parts;
    this.#compiled ??= (async () => compileSource(this.#source ?? place()))();
    const [{ default: create }, compiled] = await Promise.all([glue(), this.#compiled]);
    const module = await instantiate(create, compiled, "Facts");
    return new Engine(module, new module.Facts());
  }
}

/** Bytes of a text of which the first line is told. */
const FIRST_LINE = 512;

/**
 * Media type and head of a file. The core writes evidence as numbers of eight bytes, the lowest first (the size, 1 if the head is all, the
 * sizes of media type, extension, label and head), these four, and the tail.
 */
function readEvidence(evidence: Uint8Array): { readonly mime: string; readonly head: Uint8Array } {
  const view = new DataView(evidence.buffer, evidence.byteOffset, evidence.byteLength);
  const [, , type = 0, extension = 0, label = 0, size = 0] = [0, 1, 2, 3, 4, 5].map((at) =>
    Number(view.getBigUint64(at * 8, true)),
  );
  const begin = 48 + type + extension + label;
  return {
    mime: new TextDecoder().decode(evidence.subarray(48, 48 + type)),
    head: evidence.subarray(begin, begin + size),
  };
}

/**
 * The evidence of a text that the core could not read, as one of a text that it can: what its encoding is called, and its first line.
 * Undefined for any other file.
 */
async function decodeOldText(evidence: Uint8Array): Promise<Uint8Array | undefined> {
  const { mime, head } = readEvidence(evidence);
  if (mime !== "application/octet-stream" || head.includes(0)) return undefined;
  const { detectEncoding, EncodingDecoder, nameEncoding } = await import("./text-encoding.js");
  const encoding = detectEncoding(head);
  if (encoding === undefined || encoding === "utf-8") return undefined;
  const line = new EncodingDecoder(encoding).push(head.subarray(0, FIRST_LINE)).split(/[\r\n]/, 1)[0] ?? "";
  return writeEvidence(evidence.slice(0, 8), "text/plain", `${nameEncoding(encoding)} text`, line);
}

function writeEvidence(size: Uint8Array, type: string, label: string, text: string): Uint8Array {
  const [types, labels, head] = [type, label, text].map((part) => new TextEncoder().encode(part)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const numbers = BigUint64Array.of(0n, 1n, BigInt(types.length), 0n, BigInt(labels.length), BigInt(head.length));
  const bytes = new Uint8Array(48 + types.length + labels.length + head.length);
  const view = new DataView(bytes.buffer);
  numbers.forEach((number, at) => view.setBigUint64(at * 8, number, true));
  bytes.set(size);
  bytes.set(types, 48);
  bytes.set(labels, 48 + types.length);
  bytes.set(head, 48 + types.length + labels.length);
  return bytes;
}

/**
 * The library's one object, a gate in front of a store: what it is for its users, and how it is put together of engines, messages
 * and restoring.
 * @module
 */
import { compileCore } from "#compile";
import { namespaceOf, type TruncatedRef } from "../artifacts/reference.js";
import { fullScope } from "../artifacts/scope.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { FUNCTION, isBytes, noBytes, wrong, type OptionTest } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import type { SluiceConfig } from "./config.js";
import { corePool, type Engine, type EnginePool } from "./engine.js";
import { Restorer } from "./restore.js";
import { StoreAccess, timedStore, type OnStoreFailure, type StoreDeps } from "./store-access.js";
import { Answer, Message, Stream, type MessageDeps } from "./transform.js";
import { jsonOf, piecesOf } from "./value.js";

/** How a reduced result is written. */
export type Dialect = "observation" | "mcp";

/** What a Sluice is made of. */
export interface SluiceOptions {
  /** Where artifacts go; a NoOpArtifactStore (one warning, nothing kept) when left out. */
  readonly store?: ArtifactStore;
  /** Asked for its artifact store where none is named, see `discoverArtifactStore`. */
  readonly stateStore?: unknown;
  /** What differs from the defaults. */
  readonly config?: SluiceConfig;
  /**
   * What comes of a result when the store fails at it: `"answer"`, when left out, gives the reduced result all the
   * same, with truncated refs for what was not stored and the errors in `failures`; `"throw"` throws the error.
   */
  readonly onStoreFailure?: OnStoreFailure;
}

/** Which call a result answers. */
export interface TransformOptions {
  /** Name of the tool that answered: chooses its `tool_fields`, names files. */
  readonly tool?: string;
  /** Prefix of artifact ids; `artifact` when left out. */
  readonly namespace?: string;
  /** Whose the artifacts are; left out, those of nobody. */
  readonly scope?: ArtifactScope;
  /** `observation` when left out. */
  readonly dialect?: Dialect;
  /** Whether the client is known to show images (`inline_media: "auto"`). */
  readonly clientShowsImages?: boolean;
  /**
   * Whether the value is what a transformer made of a result: no fields (L4), links (L1) or blocks (L2) are looked for, while
   * the gate, the limits of size (L0) and the guardrail hold. Defaults to false.
   */
  readonly transformed?: boolean;
  /** Bytes of the document up to which it is kept as it came, for `GatedResult.original`. Defaults to 0: it is not. */
  readonly keepOriginal?: number;
  /** Reads a resource for `resources.auto_read_if_size_under_bytes`; gives a `resources/read` result. What is none counts as not read. */
  readonly readResource?: (uri: string) => Promise<unknown>;
  /** Gives up, also while the store or `readResource` is waited for: what was begun is thrown away. */
  readonly signal?: AbortSignal;
}

/** A ref in an answer: of what was stored, or of what was not, with the reason in its `source`. */
export type AnswerRef = ArtifactRef | TruncatedRef;

/** What came of a result. */
export interface Transformed {
  /** JSON text: what the model sees (observation), or a CallToolResult (mcp). */
  readonly text: string;
  /** The same, parsed. */
  readonly value: unknown;
  /** Artifacts, in the order they appeared; those of links that were read come last. */
  readonly artifacts: readonly AnswerRef[];
  /** What the store failed at, each sentence once, at most 32; empty when all went well. */
  readonly failures: readonly SluiceError[];
  /** Whether anything differs from what the server sent. */
  readonly changed: boolean;
  /** Whether the guardrail cut the observation. */
  readonly clamped: boolean;
  /** How it did; left out where it did not. */
  readonly cut?: ClampReport;
  /** Bytes of JSON that came in. */
  readonly bytesIn: number;
  /** Bytes of JSON that go out. */
  readonly bytesOut: number;
  /** The entries of `_meta["sluice/refs"]` as JSON text, when the mcp dialect changed something. */
  readonly refs?: string;
}

/** A result on its way through the gate. */
export interface SluiceStream extends AsyncDisposable {
  /** Bytes of JSON text, in chunks of any size. Settles when the store has taken what came out. */
  write(chunk: Uint8Array): Promise<void>;
  /** Ends the document and gives what came of it. Throws E_JSON_END when it was not complete. */
  close(): Promise<Transformed>;
  /**
   * Ends the document without writing an answer yet: for whoever knows only now which tool it is of, or may need it in both
   * dialects. Whoever asks disposes of it. Throws E_JSON_END when the document was not complete.
   */
  end(): Promise<GatedResult>;
}

/** What an answer is written for; what is left out is as the stream was opened with. */
export type AnswerOptions = Pick<TransformOptions, "tool" | "dialect" | "scope" | "readResource" | "signal">;

/**
 * A result behind the gate, its segments stored. Answers are written from what is held of it, so none of them needs the store to
 * give anything back.
 */
export interface GatedResult extends AsyncDisposable {
  /** The document as it came, in pieces, where `keepOriginal` asked for it and it is no longer than that. */
  readonly original: readonly Uint8Array[] | undefined;
  /**
   * Writes an answer; may be called again, one call after the other. With a dialect of `mcp` the stream has to be opened with it.
   * In another scope what was stored is stored there too.
   */
  answer(options?: AnswerOptions): Promise<Transformed>;
}

/** How an observation is clamped. */
export interface ClampOptions {
  /** Unicode code points of JSON that may be left, at least 256; as `guardrail.max_observation_chars` says when left out. */
  readonly maxChars?: number;
}

/** How the guardrail cut an observation. */
export interface ClampReport {
  /** Unicode code points of JSON text that there were. */
  readonly originalChars: number;
  /** As {@link Clamp.method} says it; `stored` where the whole was stored, and a reference is left. */
  readonly method: string;
}

/** What the guardrail made of an observation. */
export interface Clamp {
  /** JSON text within the limit. */
  readonly text: string;
  /** The same, parsed. */
  readonly value: unknown;
  /** Whether it was too long. */
  readonly changed: boolean;
  /** Unicode code points of JSON text. */
  readonly originalChars: number;
  /** The same of what is left. */
  readonly clampedChars: number;
  /** What was cut: `none`, `space` between tokens, `fields`, `structure`, or `text`: a string of cut JSON. */
  readonly method: string;
}

/** What kind of file bytes are the beginning of. */
export interface Sniffed {
  /** e.g. `image/png`; `application/octet-stream` for what is not known. */
  readonly mime_type: string;
  /** e.g. `png`, without a dot. */
  readonly extension: string;
  /** e.g. `PNG image, 640 × 480, 1.0 MB` */
  readonly description: string;
}

/** What somebody says of a file that is looked at. */
export interface FileClaim {
  /** Its media type. */
  readonly mime_type?: string | null | undefined;
  /** Its name. */
  readonly filename?: string | null | undefined;
}

/** One file that streams by. Dispose of it, also where it was not finished. */
export interface FileLook extends Disposable {
  /** The next bytes, in chunks of any size; they are not kept. */
  push(bytes: Uint8Array): void;
  /** What kind of file it was. Nothing may be pushed behind it. */
  finish(): Sniffed;
}

/** A gate in front of a store. One serves any number of results, also at the same time. */
export interface Sluice {
  /**
   * Reduces a whole result: a CallToolResult, a JSON-RPC response, a content array or any JSON value. Bytes in it, at any depth,
   * become artifacts: typed arrays, `DataView`, `ArrayBuffer`, `Blob`, `Response`, `ReadableStream`, `Readable` of Node, async
   * generators. A Map with string keys is an object; another Map and a Set are lists.
   */
  transform(result: unknown, options?: TransformOptions): Promise<Transformed>;
  /** The same for bytes of JSON that arrive in pieces. */
  open(options?: TransformOptions): SluiceStream;
  /** The guardrail alone, for a value that any tool returned. */
  clamp(observation: unknown, options?: ClampOptions): Clamp;
  /** The same for JSON text, of which nothing is written anew that stays: numbers keep all their digits. */
  clampText(json: string, options?: ClampOptions): Clamp;
  /** Gives back what `transform(…, { dialect: "mcp" })` was given. */
  restore(value: unknown, options?: { readonly scope?: ArtifactScope }): Promise<unknown>;
  /** The same as a stream of JSON text, for results that do not fit in memory. */
  restoreStream(json: string, options?: { readonly scope?: ArtifactScope }): AsyncIterable<Uint8Array>;
  /** What kind of file begins with these bytes; `size` is the whole file's when `head` is only its first part. */
  sniff(head: Uint8Array, size?: number): Sniffed;
  /**
   * Looks at a whole file as it streams by: what `sniff` says, and what only the whole tells, such as how many rows there are. Of
   * what is said to be a table, by its type or its name, short ones are counted too.
   */
  look(said?: FileClaim): Promise<FileLook>;
}

const OPTIONS: Readonly<Record<Exclude<keyof TransformOptions, "namespace" | "scope">, OptionTest>> = {
  tool: ["a string", (value) => typeof value === "string"],
  dialect: ['"observation" or "mcp"', (value) => value === "observation" || value === "mcp"],
  clientShowsImages: ["true or false", (value) => typeof value === "boolean"],
  transformed: ["true or false", (value) => typeof value === "boolean"],
  keepOriginal: ["a number of bytes", (value) => Number.isSafeInteger(value) && (value as number) >= 0],
  readResource: FUNCTION,
  signal: ["an AbortSignal", (value) => value instanceof AbortSignal],
};
const TESTS = Object.entries(OPTIONS);
/** No text is longer: the core's memory has 32 bits. */
const MOST_CHARS = 2 ** 31;
const ON_FAILURE: readonly OnStoreFailure[] = ["answer", "throw"];

/** Bytes of a file that the core is handed at once. */
const PIECE = 1024 * 1024;

/** What a core is compiled from, where it is not the file beside the library. */
export type WasmSource = ArrayBuffer | ArrayBufferView | Response | URL;

/** Compiles the core, checks the configuration, gives a Sluice. Throws E_CORE_LOAD, E_CONFIG_…, E_INVALID_ARGUMENT. */
export async function createSluiceOver(deps: StoreDeps, config: SluiceConfig = {}, wasm?: WasmSource): Promise<Sluice> {
  if (!ON_FAILURE.includes(deps.onFailure)) {
    throw wrong("onStoreFailure", ON_FAILURE.map((known) => `"${known}"`).join(" or "));
  }
  const pool = corePool(await compiled(wasm), configText(config));
  return new StoreSluice(pool, deps, await pool.take());
}

function configText(config: SluiceConfig): string {
  try {
    return JSON.stringify(config);
  } catch (error) {
    throw new SluiceError("E_CONFIG_JSON", `the configuration is not JSON: ${(error as Error).message}`);
  }
}

/** The module of the library itself, compiled once for all who use it; after a failure it is tried again. */
let own: Promise<WebAssembly.Module> | undefined;

function compiled(wasm: WasmSource | undefined): Promise<WebAssembly.Module> {
  // `BufferSource` is a word of the DOM's types, which users in Node may not have.
  if (wasm !== undefined) return compileCore(wasm as BufferSource | Response | URL);
  own ??= compileCore().catch((error: unknown) => {
    own = undefined;
    throw error;
  });
  return own;
}

class StoreSluice implements Sluice {
  readonly #pool: EnginePool;
  readonly #deps: StoreDeps;
  readonly #resources: MessageDeps["resources"];
  readonly #reduced: MessageDeps["reduce"] = (...call) => this.#reduce(...call);
  /** For calls that answer at once; never lent to a message. */
  #idle: Engine;

  constructor(pool: EnginePool, deps: StoreDeps, idle: Engine) {
    this.#pool = pool;
    this.#deps = deps;
    this.#idle = idle;
    idle.call("policy");
    this.#resources = JSON.parse(idle.text()) as MessageDeps["resources"];
  }

  async transform(result: unknown, options: TransformOptions = {}): Promise<Transformed> {
    checkCall(options);
    return this.#reduce(result, options, new StoreAccess(this.#deps, options.signal));
  }

  async #reduce(result: unknown, options: TransformOptions, access: StoreAccess): Promise<Transformed> {
    const pieces = piecesOf(result);
    const message = new Message(this.#pool, await this.#pool.take(), this.#depsOf(options, access));
    try {
      for (const piece of pieces) {
        if (typeof piece === "string") await message.pushText(piece);
        else await message.pushSource(piece);
      }
      await message.finish();
      const answer = await message.answer();
      const [text] = pieces;
      const isPassed = !answer.changed && options.dialect === "mcp" && pieces.length === 1 && typeof text === "string";
      // A result that needed nothing: what went in comes out, the very object.
      return isPassed ? new Answer({ ...answer, text, value: result }) : answer;
    } finally {
      await message[Symbol.asyncDispose]();
    }
  }

  open(options: TransformOptions = {}): SluiceStream {
    checkCall(options);
    return new Stream(this.#pool, this.#depsOf(options, new StoreAccess(this.#deps, options.signal)));
  }

  clamp(observation: unknown, options: ClampOptions = {}): Clamp {
    return this.clampText(jsonOf(observation), options);
  }

  clampText(json: string, { maxChars }: ClampOptions = {}): Clamp {
    if (maxChars !== undefined && !(Number.isInteger(maxChars) && maxChars > 0 && maxChars <= MOST_CHARS)) {
      throw wrong("maxChars", `a whole number from 1 to ${MOST_CHARS}`);
    }
    return this.#now((engine) => {
      engine.give(json);
      engine.must("clamp", maxChars ?? 0);
      const text = engine.text();
      engine.call("report");
      const report = JSON.parse(engine.text()) as Record<string, unknown>;
      return {
        text,
        value: JSON.parse(text) as unknown,
        changed: report["clamped"] as boolean,
        originalChars: report["original_chars"] as number,
        clampedChars: report["clamped_chars"] as number,
        method: report["method"] as string,
      };
    });
  }

  async restore(value: unknown, options: { readonly scope?: ArtifactScope } = {}): Promise<unknown> {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    let text = "";
    for await (const piece of this.restoreStream(jsonOf(value), options)) {
      text += decoder.decode(piece, { stream: true });
    }
    return JSON.parse(text + decoder.decode());
  }

  async *restoreStream(json: string, options: { readonly scope?: ArtifactScope } = {}): AsyncGenerator<Uint8Array> {
    checkObject(options);
    fullScope(options.scope);
    if (typeof json !== "string") throw wrong("json", "JSON text; restore takes a value");
    yield* new Restorer(this.#pool, timedStore(this.#deps.store), options.scope).document(json);
  }

  sniff(head: Uint8Array, of?: number): Sniffed {
    if (!isBytes(head)) throw noBytes("head");
    const size = of ?? head.length;
    if (!Number.isSafeInteger(size) || size < 0) throw wrong("size", "a number of bytes");
    return this.#now((engine) => {
      engine.give([head]);
      engine.call("sniff", size);
      return JSON.parse(engine.text()) as Sniffed;
    });
  }

  async look({ mime_type, filename }: FileClaim = {}): Promise<FileLook> {
    return new EngineLook(await this.#pool.take(), this.#pool, [mime_type ?? "", filename ?? ""]);
  }

  #depsOf(options: TransformOptions, access: StoreAccess): MessageDeps {
    return { access, options, resources: this.#resources, reduce: this.#reduced };
  }

  #now<T>(use: (engine: Engine) => T): T {
    const idle = this.#idle;
    try {
      return use(idle);
    } finally {
      if (!idle.reusable) void this.#replace();
    }
  }

  async #replace(): Promise<void> {
    this.#idle = await this.#pool.take();
  }
}

/** A file that streams by one engine, which it holds until it is finished or disposed of. */
class EngineLook implements FileLook {
  readonly #pool: EnginePool;
  #engine: Engine | undefined;

  constructor(engine: Engine, pool: EnginePool, said: readonly string[]) {
    this.#engine = engine;
    this.#pool = pool;
    const [type = new Uint8Array(), name = new Uint8Array()] = said.map((text) => new TextEncoder().encode(text));
    engine.give([type, name]);
    engine.call("look", type.length);
  }

  push(bytes: Uint8Array): void {
    if (!isBytes(bytes)) throw noBytes("bytes");
    const engine = this.#held();
    for (let at = 0; at < bytes.length; at += PIECE) {
      engine.give([bytes.subarray(at, at + PIECE)]);
      engine.call("lookAt");
    }
  }

  finish(): Sniffed {
    const engine = this.#held();
    engine.call("looked");
    const { mime_type, extension, description } = JSON.parse(engine.text()) as Sniffed;
    this[Symbol.dispose]();
    return { mime_type, extension, description };
  }

  [Symbol.dispose](): void {
    if (this.#engine !== undefined) this.#pool.release(this.#engine);
    this.#engine = undefined;
  }

  #held(): Engine {
    if (this.#engine !== undefined) return this.#engine;
    throw new SluiceError("E_MISUSE", "This look at a file is over: begin another one.");
  }
}

/** Throws E_INVALID_ARGUMENT with the path of the option that is wrong, whether or not anything will be stored. */
function checkCall(options: TransformOptions): void {
  checkObject(options);
  for (const [name, [expected, holds]] of TESTS) {
    const value = options[name as keyof TransformOptions];
    if (value !== undefined && !holds(value)) throw wrong(name, expected);
  }
  if (options.namespace !== undefined) namespaceOf(options.namespace);
  if (options.scope !== undefined) fullScope(options.scope);
}

function checkObject(options: unknown): void {
  if (typeof options !== "object" || options === null) throw wrong("options", "an object");
}

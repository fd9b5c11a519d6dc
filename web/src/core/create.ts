/**
 * A Sluice over a store: engines, messages and restoring in one object.
 * @module
 */
import { compileCore } from "#compile";
import { namespaceOf } from "../artifacts/ids.js";
import { fullScope } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { FUNCTION, type OptionTest, isBytes, noBytes, wrong } from "../errors/arguments.js";
import type { MessageSurroundings } from "./answer.js";
import { Answer } from "./transformed.js";
import type { SluiceConfig } from "../config/types.js";
import { corePool, type Engine, type EnginePool } from "./engine.js";
import { Stream } from "./message.js";
import { Restorer } from "./restore.js";
import type {
  Clamp,
  ClampOptions,
  FileClaim,
  FileLook,
  Sluice,
  SluiceStream,
  Sniffed,
  Transformed,
  TransformOptions,
} from "./sluice.js";
import { StoreAccess, type OnStoreFailure, type StoreDeps } from "./store-access.js";
import { timedStore } from "./timed-store.js";
import { jsonOf, piecesOf } from "./value.js";

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
  readonly #resources: MessageSurroundings["resources"];
  readonly #reduced: MessageSurroundings["reduce"] = (...call) => this.#reduce(...call);
  /** For calls that answer at once; never lent to a message. */
  #desk: Engine;

  constructor(pool: EnginePool, deps: StoreDeps, desk: Engine) {
    this.#pool = pool;
    this.#deps = deps;
    this.#desk = desk;
    this.#resources = JSON.parse(desk.ask((core) => core.policy())) as MessageSurroundings["resources"];
  }

  async transform(result: unknown, options: TransformOptions = {}): Promise<Transformed> {
    checkCall(options);
    return this.#reduce(result, options, new StoreAccess(this.#deps, options.signal));
  }

  async #reduce(result: unknown, options: TransformOptions, access: StoreAccess): Promise<Transformed> {
    const pieces = piecesOf(result);
    await using stream = new Stream(this.#pool, this.#around(options, access));
    await stream.writePieces(pieces);
    const answer = await stream.close();
    const [text] = pieces;
    const isPassed = !answer.changed && options.dialect === "mcp" && pieces.length === 1 && typeof text === "string";
    // A result that needed nothing: what went in comes out, the very object.
    return isPassed ? new Answer({ ...answer, text, value: result }) : answer;
  }

  open(options: TransformOptions = {}): SluiceStream {
    checkCall(options);
    return new Stream(this.#pool, this.#around(options, new StoreAccess(this.#deps, options.signal)));
  }

  clamp(observation: unknown, options: ClampOptions = {}): Clamp {
    return this.clampText(jsonOf(observation), options);
  }

  clampText(json: string, { maxChars }: ClampOptions = {}): Clamp {
    if (maxChars !== undefined && !(Number.isInteger(maxChars) && maxChars > 0 && maxChars <= MOST_CHARS)) {
      throw wrong("maxChars", `a whole number from 1 to ${MOST_CHARS}`);
    }
    return this.#now((engine) => {
      engine.tell(json, (core) => core.clamp(maxChars ?? 0));
      const text = engine.ask(() => undefined);
      const report = JSON.parse(engine.ask((core) => core.report())) as Record<string, unknown>;
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
      engine.put([head], (core) => core.sniff(size));
      return JSON.parse(engine.ask(() => undefined)) as Sniffed;
    });
  }

  async look({ mime_type, filename }: FileClaim = {}): Promise<FileLook> {
    return new EngineLook(await this.#pool.take(), this.#pool, [mime_type ?? "", filename ?? ""]);
  }

  #around(options: TransformOptions, access: StoreAccess): MessageSurroundings {
    return { access, options, resources: this.#resources, reduce: this.#reduced };
  }

  #now<T>(use: (engine: Engine) => T): T {
    const desk = this.#desk;
    try {
      return use(desk);
    } finally {
      if (!desk.reusable) void this.#replace();
    }
  }

  async #replace(): Promise<void> {
    this.#desk = await this.#pool.take();
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
    engine.put([type, name], (core) => core.look(type.length));
  }

  push(bytes: Uint8Array): void {
    if (!isBytes(bytes)) throw noBytes("bytes");
    const engine = this.#held();
    for (let at = 0; at < bytes.length; at += PIECE) {
      engine.put([bytes.subarray(at, at + PIECE)], (core) => core.lookAt());
    }
  }

  finish(): Sniffed {
    const { mime_type, extension, description } = JSON.parse(this.#held().ask((core) => core.looked())) as Sniffed;
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
  namespaceOf(options.namespace);
  fullScope(options.scope);
}

function checkObject(options: unknown): void {
  if (typeof options !== "object" || options === null) throw wrong("options", "an object");
}

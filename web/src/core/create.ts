/**
 * A Sluice over a store: engines, messages and restoring in one object.
 * @module
 */
import { compileCore } from "#compile";
import type { ArtifactScope } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { Unchanged } from "./answer.js";
import { findBeside } from "./beside.js";
import { checkCall, checkMaxChars, checkOnFailure, checkRestore, isBytes, noBytes, wrong } from "./call.js";
import type { SluiceConfig } from "./config.js";
import { EnginePool, type Engine } from "./engine.js";
import type { MessageSurroundings } from "./message.js";
import { Restorer } from "./restoring.js";
import { EngineLook } from "./look.js";
import type {
  Clamp,
  ClampOptions,
  FileLook,
  Sluice,
  SluiceStream,
  Sniffed,
  Transformed,
  TransformOptions,
} from "./sluice.js";
import { StoreAccess, type StoreTerms } from "./store-access.js";
import { Stream } from "./stream.js";
import { jsonOf, piecesOf } from "./value.js";

/** What a core is compiled from, where it is not the file beside the library. */
export type WasmSource = ArrayBuffer | ArrayBufferView | Response | URL;

/** Compiles the core, checks the configuration, gives a Sluice. Throws E_CORE_LOAD, E_CONFIG_…, E_INVALID_ARGUMENT. */
export async function createSluiceOver(
  terms: StoreTerms,
  config: SluiceConfig = {},
  wasm?: WasmSource,
): Promise<Sluice> {
  checkOnFailure(terms.onFailure);
  const pool = new EnginePool(await compiled(wasm), configText(config));
  return new StoreSluice(pool, terms, await pool.take());
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
  readonly #terms: StoreTerms;
  readonly #resources: MessageSurroundings["resources"];
  readonly #reduced: MessageSurroundings["reduce"] = (...call) => this.#reduce(...call);
  /** For calls that answer at once; never lent to a message. */
  #desk: Engine;

  constructor(pool: EnginePool, terms: StoreTerms, desk: Engine) {
    this.#pool = pool;
    this.#terms = terms;
    this.#desk = desk;
    this.#resources = JSON.parse(desk.ask((core) => core.policy())) as MessageSurroundings["resources"];
  }

  async transform(result: unknown, options: TransformOptions = {}): Promise<Transformed> {
    checkCall(options, this.#terms.standIn);
    return this.#reduce(result, options, new StoreAccess(this.#terms, options.signal));
  }

  async #reduce(result: unknown, options: TransformOptions, access: StoreAccess): Promise<Transformed> {
    const pieces = piecesOf(result);
    await using stream = new Stream(this.#pool, this.#around(options, access));
    await stream.writePieces(pieces);
    const answer = await stream.close();
    const [text] = pieces;
    const isPassed = !answer.changed && options.dialect === "mcp" && pieces.length === 1 && typeof text === "string";
    return isPassed ? new Unchanged(answer, text, result) : answer;
  }

  open(options: TransformOptions = {}): SluiceStream {
    checkCall(options, this.#terms.standIn);
    return new Stream(this.#pool, this.#around(options, new StoreAccess(this.#terms, options.signal)));
  }

  clamp(observation: unknown, options: ClampOptions = {}): Clamp {
    return this.clampText(jsonOf(observation), options);
  }

  clampText(json: string, { maxChars }: ClampOptions = {}): Clamp {
    checkMaxChars(maxChars);
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
    checkRestore(options, this.#terms.standIn);
    if (typeof json !== "string") throw wrong("json", "JSON text; restore takes a value");
    const { store } = this.#terms;
    const restorer = new Restorer(this.#pool, store, options.scope);
    yield* restorer.document(json, await findBeside(store, options.scope, json));
  }

  sniff(head: Uint8Array, of?: number): Sniffed {
    if (!isBytes(head)) throw noBytes("head");
    const size = of ?? head.length;
    if (!Number.isSafeInteger(size) || size < 0) throw wrong("size", "a number of bytes");
    return this.#now((engine) => {
      engine.call((core) => {
        core.input(head.length).set(head);
        core.sniff(size);
      });
      return JSON.parse(engine.ask(() => undefined)) as Sniffed;
    });
  }

  async look(): Promise<FileLook> {
    return new EngineLook(await this.#pool.take(), this.#pool);
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

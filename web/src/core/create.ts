/**
 * A Sluice over a store: engines, messages and restoring in one object.
 * @module
 */
import { compileCore } from "#compile";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { findBeside } from "./beside.js";
import { EnginePool, type Engine } from "./engine.js";
import type { MessageSurroundings } from "./message.js";
import { Restorer } from "./restoring.js";
import type { Clamp, Sluice, SluiceConfig, SluiceStream, Sniffed, Transformed, TransformOptions } from "./sluice.js";
import { Stream } from "./stream.js";

/** What a core is compiled from, where it is not the file beside the library. */
export type WasmSource = BufferSource | Response | URL;

/** Compiles the core, checks the configuration, gives a Sluice. Throws E_CORE_LOAD and E_CONFIG_…. */
export async function createSluiceOver(
  store: ArtifactStore,
  config: SluiceConfig = {},
  wasm?: WasmSource,
): Promise<Sluice> {
  const pool = new EnginePool(await compiled(wasm), JSON.stringify(config));
  return new StoreSluice(pool, store, await pool.take());
}

/** The module of the library itself, compiled once for all who use it; after a failure it is tried again. */
let own: Promise<WebAssembly.Module> | undefined;

function compiled(wasm: WasmSource | undefined): Promise<WebAssembly.Module> {
  if (wasm !== undefined) return compileCore(wasm);
  own ??= compileCore().catch((error: unknown) => {
    own = undefined;
    throw error;
  });
  return own;
}

class StoreSluice implements Sluice {
  readonly #pool: EnginePool;
  readonly #store: ArtifactStore;
  readonly #resources: MessageSurroundings["resources"];
  /** For calls that answer at once; never lent to a message. */
  #desk: Engine;

  constructor(pool: EnginePool, store: ArtifactStore, desk: Engine) {
    this.#pool = pool;
    this.#store = store;
    this.#desk = desk;
    this.#resources = JSON.parse(desk.ask((core) => core.policy())) as MessageSurroundings["resources"];
  }

  async transform(result: unknown, options: TransformOptions = {}): Promise<Transformed> {
    const text = jsonOf(result);
    const stream = new Stream(this.#pool, this.#around(options));
    try {
      await stream.writeText(text);
      const answer = await stream.close();
      return !answer.changed && options.dialect === "mcp" ? new Unchanged(answer, text, result) : answer;
    } finally {
      await stream[Symbol.asyncDispose]();
    }
  }

  open(options: TransformOptions = {}): SluiceStream {
    return new Stream(this.#pool, this.#around(options));
  }

  clamp(observation: unknown): Clamp {
    return this.#now((engine) => {
      engine.tell(jsonOf(observation), (core) => core.clamp());
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
    const restorer = new Restorer(this.#pool, this.#store, options.scope);
    yield* restorer.document(json, await findBeside(this.#store, options.scope, json));
  }

  sniff(head: Uint8Array, size: number = head.length): Sniffed {
    return this.#now((engine) => {
      engine.call((core) => {
        core.input(head.length).set(head);
        core.sniff(size);
      });
      return JSON.parse(engine.ask(() => undefined)) as Sniffed;
    });
  }

  #around(options: TransformOptions): MessageSurroundings {
    return {
      store: this.#store,
      options,
      resources: this.#resources,
      reduce: (result, inner) => this.transform(result, inner),
    };
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

/** A result that needed nothing: what went in comes out, the very object. */
class Unchanged implements Transformed {
  readonly text: string;
  readonly value: unknown;
  readonly artifacts: Transformed["artifacts"];
  readonly changed = false;
  readonly clamped = false;
  readonly bytesIn: number;
  readonly bytesOut: number;

  constructor({ artifacts, bytesIn, bytesOut }: Transformed, text: string, value: unknown) {
    this.text = text;
    this.value = value;
    this.artifacts = artifacts;
    this.bytesIn = bytesIn;
    this.bytesOut = bytesOut;
  }
}

/** JSON text of a value. Throws E_INVALID_ARGUMENT for what JSON cannot say. */
function jsonOf(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch (error) {
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      `the value is not JSON: ${(error as Error).message}`,
      {},
      { cause: error },
    );
  }
  if (text === undefined) {
    throw new SluiceError("E_INVALID_ARGUMENT", `the value is not JSON: ${typeof value} has no JSON form`);
  }
  return text;
}

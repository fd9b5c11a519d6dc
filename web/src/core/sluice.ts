/**
 * `createSluiceOver` makes a `Sluice`, a gate in front of a store, from engines, messages and the restorer.
 * @module
 */
import { compileCore } from "#compile";
import { fullScope } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import type { SluiceConfig } from "../config/types.js";
import { StoreAccess, limitStoreTime, type MessageDeps, type StoreDeps } from "./store-access.js";
import {
  checkOptionNames,
  FUNCTION,
  isBytes,
  isObject,
  checkNamespace,
  noBytes,
  TEXT,
  wrong,
  type OptionTest,
} from "../errors/arguments.js";
import { groupDigits } from "./amounts.js";
import {
  compileSource,
  corePool,
  type DocumentModules,
  type Engine,
  type EnginePool,
  isModules,
  type WasmModules,
  type WasmSource,
} from "./engine.js";
import { tellFacts } from "./facts-module.js";
import { Restorer } from "./restore.js";
import { Answer, countClamp, Message, Stream } from "./transform.js";
import type {
  ArtifactTool,
  ArtifactToolsOptions,
  Clamp,
  ClampOptions,
  FileClaim,
  FileLook,
  OnStoreFailure,
  Sluice,
  SluiceStream,
  Sniffed,
  TransformOptions,
  Transformed,
} from "./types.js";
import { toJson, toPieces } from "./value.js";

export type { WasmModules, WasmSource } from "./engine.js";

/** First bytes of a file that are enough to recognise its type. */
export const MAGIC: number = 4096;

const OPTIONS: Readonly<Record<Exclude<keyof TransformOptions, "namespace" | "scope">, OptionTest>> = {
  tool: TEXT,
  dialect: ['"observation" or "mcp"', (value) => value === "observation" || value === "mcp"],
  clientShowsImages: ["true or false", (value) => typeof value === "boolean"],
  client: ["an object", (value) => isObject(value)],
  readTool: TEXT,
  transformed: ["true or false", (value) => typeof value === "boolean"],
  rewritten: ["true or false", (value) => typeof value === "boolean"],
  keepOriginal: ["a number of bytes", (value) => Number.isSafeInteger(value) && (value as number) >= 0],
  readResource: FUNCTION,
  signal: ["an AbortSignal", (value) => value instanceof AbortSignal],
};
const TESTS = Object.entries(OPTIONS);
const TRANSFORM_OPTIONS = [...Object.keys(OPTIONS), "namespace", "scope"] as (keyof TransformOptions)[];
/** The core's memory has 32 bits, so no text is longer. */
const MOST_CHARS = 2 ** 31;
const ON_FAILURE: readonly OnStoreFailure[] = ["answer", "throw"];

/** Bytes of a file that the core gets at a time. */
const PIECE = 1024 * 1024;

/** Compiles the core, checks the configuration and makes a Sluice. Throws E_CORE_LOAD, E_CONFIG_…, E_INVALID_ARGUMENT. */
export async function createSluiceOver(
  deps: StoreDeps,
  config: SluiceConfig = {},
  wasm?: WasmSource | WasmModules,
): Promise<Sluice> {
  if (!ON_FAILURE.includes(deps.onFailure)) {
    throw wrong("onStoreFailure", ON_FAILURE.map((known) => `"${known}"`).join(" or "));
  }
  const { core, documents, facts, tables }: Partial<WasmModules> =
    wasm === undefined ? {} : isModules(wasm) ? wasm : { core: wasm };
  const pool = corePool(await compileModule(core), configText(config));
  const idle = await pool.take();
  const resources = JSON.parse(idle.ask("policy")) as MessageDeps["resources"];
  return new StoreSluice(pool, { ...deps, documents, facts, tables }, idle, resources);
}

function configText(config: SluiceConfig): string {
  try {
    return JSON.stringify(config);
  } catch (error) {
    throw new SluiceError("E_CONFIG_JSON", `the configuration is not JSON: ${(error as Error).message}`);
  }
}

/** The library's own module, compiled once. Compiling is tried again after a failure. */
let ownModule: Promise<WebAssembly.Module> | undefined;

function compileModule(wasm: WasmSource | undefined): Promise<WebAssembly.Module> {
  if (wasm !== undefined) return compileSource(wasm);
  ownModule ??= compileCore().catch((error: unknown) => {
    ownModule = undefined;
    throw error;
  });
  return ownModule;
}

class StoreSluice implements Sluice {
  readonly #pool: EnginePool;
  readonly #deps: StoreDeps;
  readonly #resources: MessageDeps["resources"];
  /** Names of the tools that were given, by namespace; that for all namespaces by none. */
  readonly #readTools: Map<string | undefined, string>;
  /** The store access of the message whose links it reads. A message of any other Sluice has one of its own. */
  readonly #access: StoreAccess | undefined;
  /** For synchronous calls. Messages never get it. */
  #idle: Engine;

  constructor(
    pool: EnginePool,
    deps: StoreDeps,
    idle: Engine,
    resources: MessageDeps["resources"],
    readTools: Map<string | undefined, string> = new Map(),
    access?: StoreAccess,
  ) {
    this.#pool = pool;
    this.#deps = deps;
    this.#idle = idle;
    this.#resources = resources;
    this.#readTools = readTools;
    this.#access = access;
  }

  get documents(): DocumentModules | undefined {
    return this.#deps.documents;
  }

  get tables(): WasmSource | undefined {
    return this.#deps.tables;
  }

  readonly #reduce: MessageDeps["reduce"] = (result, options, access) => {
    const within = [this.#pool, this.#deps, this.#idle, this.#resources, this.#readTools, access] as const;
    return new StoreSluice(...within).transform(result, options);
  };

  /**
   * What a message needs. Links that it reads are reduced over the same store. Throws E_INVALID_ARGUMENT with the path of the option
   * that is wrong, whether or not anything will be stored.
   */
  #collectDeps(options: TransformOptions): MessageDeps {
    checkOptionNames(options, "a transformation", TRANSFORM_OPTIONS);
    for (const [name, [expected, holds]] of TESTS) {
      const value = options[name as keyof TransformOptions];
      if (value !== undefined && !holds(value)) throw wrong(name, expected);
    }
    const { namespace, scope, signal } = options;
    if (namespace !== undefined) checkNamespace(namespace);
    if (scope !== undefined) fullScope(scope);
    const given = this.#readTools.get(namespace) ?? this.#readTools.get(undefined);
    const readTool = options.readTool ?? given ?? this.#deps.readTool?.(namespace ?? "");
    const access = this.#access ?? new StoreAccess(this.#deps, signal);
    const { show, documents, facts } = this.#deps;
    return { access, options, readTool, resources: this.#resources, reduce: this.#reduce, show, documents, facts };
  }

  async transform(result: unknown, options: TransformOptions = {}): Promise<Transformed> {
    const deps = this.#collectDeps(options);
    const pieces = toPieces(result);
    const message = new Message(this.#pool, await this.#pool.take(), deps);
    try {
      for (const piece of pieces) {
        if (typeof piece === "string") await message.pushText(piece);
        else await message.pushSource(piece);
      }
      await message.finish();
      const answer = await message.answer();
      const [text] = pieces;
      const isPassed = !answer.changed && options.dialect === "mcp" && pieces.length === 1 && typeof text === "string";
      // An unchanged result is the caller's own object.
      return isPassed ? new Answer({ ...answer, text, value: result }) : answer;
    } finally {
      await message[Symbol.asyncDispose]();
    }
  }

  tools(options: ArtifactToolsOptions = {}): readonly ArtifactTool[] {
    const { namespace, scope } = checkOptionNames(options, "tools", ["clientShowsImages", "namespace", "scope"]);
    if (namespace !== undefined) checkNamespace(namespace);
    const given =
      this.#deps.tools?.(limitStoreTime(this.#deps.store), { ...options, scope: fullScope(scope) }, this) ?? [];
    const [reader] = given;
    if (reader !== undefined) this.#readTools.set(namespace, reader.name);
    return given;
  }

  open(options: TransformOptions = {}): SluiceStream {
    return new Stream(this.#pool, this.#collectDeps(options));
  }

  clamp(observation: unknown, options: ClampOptions = {}): Clamp {
    return this.clampText(toJson(observation), options);
  }

  clampText(json: string, options: ClampOptions = {}): Clamp {
    const { maxChars } = checkOptionNames(options, "clamp", ["maxChars"]);
    if (maxChars !== undefined && !(Number.isInteger(maxChars) && maxChars > 0 && maxChars <= MOST_CHARS)) {
      throw wrong("maxChars", `a whole number from 1 to ${groupDigits(MOST_CHARS)}`);
    }
    return this.#withIdle((engine) => {
      engine.give(json);
      const text = engine.ask("clamp", maxChars ?? 0);
      const report = JSON.parse(engine.ask("report")) as Record<string, unknown>;
      if (report["clamped"] === true) countClamp(report["original_chars"] as number, text);
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

  async restore<Value>(value: Value, options: { readonly scope?: ArtifactScope } = {}): Promise<Value> {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    let text = "";
    for await (const piece of this.restoreStream(toJson(value), options)) {
      text += decoder.decode(piece, { stream: true });
    }
    return JSON.parse(text + decoder.decode()) as Value;
  }

  async *restoreStream(json: string, options: { readonly scope?: ArtifactScope } = {}): AsyncGenerator<Uint8Array> {
    if (typeof options !== "object" || (options as unknown) === null) throw wrong("options", "an object");
    fullScope(options.scope);
    if (typeof json !== "string") throw wrong("json", "JSON text; restore takes a value");
    yield* new Restorer(this.#pool, limitStoreTime(this.#deps.store), options.scope).document(json);
  }

  async sniff(head: Uint8Array, of?: number): Promise<Sniffed> {
    if (!isBytes(head)) throw noBytes("head");
    const size = of ?? head.length;
    if (!Number.isSafeInteger(size) || size < 0) throw wrong("size", "a number of bytes");
    const told = this.#withIdle((engine) => {
      engine.give([head]);
      return readReport(engine, engine.ask("sniff", size));
    });
    return withFacts(told, this.#deps.facts);
  }

  async look(claim: FileClaim = {}): Promise<FileLook> {
    return new EngineLook(await this.#pool.take(), this.#pool, claim, this.#deps.facts);
  }

  /** Uses the idle engine, and has it replaced if it broke or its memory grew too far. */
  #withIdle<T>(use: (engine: Engine) => T): T {
    const idle = this.#idle;
    try {
      return use(idle);
    } finally {
      if (!idle.reusable) void this.#replace();
    }
  }

  async #replace(): Promise<void> {
    try {
      this.#idle = await this.#pool.take();
    } catch {
      // There may be no memory for another one now. The next call tries again.
    }
  }
}

/** A file that streams by one engine, which it holds until it is finished or disposed of. */
class EngineLook implements FileLook {
  readonly #pool: EnginePool;
  readonly #facts: WasmSource | undefined;
  #engine: Engine | undefined;

  constructor(engine: Engine, pool: EnginePool, { mime_type, filename }: FileClaim, facts: WasmSource | undefined) {
    this.#engine = engine;
    this.#pool = pool;
    this.#facts = facts;
    const encoder = new TextEncoder();
    const type = encoder.encode(mime_type ?? "");
    engine.give([type, encoder.encode(filename ?? "")]);
    engine.call("look", type.length);
  }

  push(bytes: Uint8Array): void {
    if (!isBytes(bytes)) throw noBytes("bytes");
    const engine = this.#hold();
    for (let at = 0; at < bytes.length; at += PIECE) {
      engine.give([bytes.subarray(at, at + PIECE)]);
      engine.call("lookAt");
    }
  }

  async finish(): Promise<Sniffed> {
    const engine = this.#hold();
    const told = readReport(engine, engine.ask("looked"));
    this[Symbol.dispose]();
    return withFacts(told, this.#facts);
  }

  [Symbol.dispose](): void {
    if (this.#engine !== undefined) this.#pool.release(this.#engine);
    this.#engine = undefined;
  }

  #hold(): Engine {
    if (this.#engine !== undefined) return this.#engine;
    throw new SluiceError("E_MISUSE", "This sniffer has given its answer: begin another one.");
  }
}

/** What the core told of a file, and the evidence for its facts. */
interface FileReport {
  readonly told: Sniffed;
  readonly evidence: Uint8Array | undefined;
}

function readReport(engine: Engine, json: string): FileReport {
  const { mime_type, extension, description } = JSON.parse(json) as Sniffed;
  const evidence = engine.call("evidence") === 0 ? undefined : engine.bytes();
  return { told: { mime_type, extension, description }, evidence };
}

async function withFacts({ told, evidence }: FileReport, facts: WasmSource | undefined): Promise<Sniffed> {
  const description = evidence && (await tellFacts(evidence, facts));
  return description === undefined ? told : { ...told, description };
}

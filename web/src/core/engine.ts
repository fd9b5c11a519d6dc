/**
 * Instances of the core, made from one compiled module and lent to one message at a time.
 * @module
 */
import { compileCore } from "#compile";
import createCoreModule from "./core.mjs";
import type { Core } from "./core.mjs";
import { SluiceError } from "../errors/error.js";
import { instantiate } from "./instantiate.js";

/** Idle instances that are kept. */
const MAX_IDLE = 4;

/** Instances with more bytes of memory are dropped: WebAssembly memory never shrinks. */
const MAX_KEPT_MEMORY = 64 * 1024 * 1024;

/** Characters of a text that is not given again while the core still holds it: the descriptions of calls, not documents. */
const MAX_HELD = 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The methods that bytes go in and out by. */
type Buffers = Pick<Core, "input" | "output">;

/** The names of methods of `C`. */
type Methods<C> = {
  [M in keyof C]: C[M] extends (...args: never) => unknown ? M : never;
}[keyof C];

type Arguments<Method> = Method extends (...args: infer Taken) => unknown ? Taken : never;
type Result<Method> = Method extends (...args: never) => infer Given ? Given : never;

/**
 * One instance. Its holder has it alone, so views stay valid until the next call. An exception out of WebAssembly breaks the
 * instance: it is never used again. Nothing has to be freed: the memory goes with the last reference to the engine.
 */
export class Engine<C extends Buffers = Core> {
  /** `HEAPU8` is another view each time that memory has grown. */
  readonly #module: { readonly HEAPU8: Uint8Array };
  readonly #core: C;
  /** This engine by the methods that every core has: the compiler does not see them in a `C` that it does not know. */
  readonly #buffers: Engine<Buffers> = this;
  /** What the input buffer still holds, if it is a short text. */
  #given: string | undefined;
  #isBroken = false;

  constructor(module: { readonly HEAPU8: Uint8Array }, core: C) {
    this.#module = module;
    this.#core = core;
  }

  /** Whether it may serve another message. */
  get reusable(): boolean {
    return !this.#isBroken && this.#module.HEAPU8.length <= MAX_KEPT_MEMORY;
  }

  /** Calls a method of the core. Throws the error that it wrote if it answers false, E_CORE_TRAP on a trap. */
  call<M extends Methods<C>>(method: M, ...args: Arguments<C[M]>): Result<C[M]> {
    if (this.#isBroken) throw toTrapError();
    let answer: Result<C[M]>;
    try {
      const core = this.#core as Record<M, (...args: Arguments<C[M]>) => Result<C[M]>>;
      answer = core[method](...args);
    } catch (error) {
      this.#isBroken = true;
      throw toTrapError(error);
    }
    if (answer === false) throw parseCoreError(decoder.decode(this.#buffers.call("output")));
    return answer;
  }

  /** Fills the input buffer for the next call with a text, or with pieces of bytes one after the other. */
  give(said: string | readonly Uint8Array[]): void {
    if (said === this.#given) return;
    const pieces = typeof said === "string" ? [encoder.encode(said)] : said;
    let size = 0;
    for (const piece of pieces) size += piece.length;
    const input = this.#buffers.call("input", size);
    let at = 0;
    for (const piece of pieces) {
      input.set(piece, at);
      at += piece.length;
    }
    this.#given = typeof said === "string" && said.length <= MAX_HELD ? said : undefined;
  }

  /** Calls a method and gives what it wrote, as text: `ask("output")` is what the last call wrote. */
  ask<M extends Methods<C>>(method: M, ...args: Arguments<C[M]>): string {
    this.call(method, ...args);
    return decoder.decode(this.#buffers.call("output"));
  }

  /** A copy of what the last call wrote. */
  bytes(): Uint8Array {
    return this.#buffers.call("output").slice();
  }
}

/** Makes engines and takes them back. */
export class EnginePool<C extends Buffers = Core> {
  readonly #make: () => Promise<Engine<C>>;
  readonly #idle: Engine<C>[] = [];

  constructor(make: () => Promise<Engine<C>>) {
    this.#make = make;
  }

  /** An engine that no other caller has. Throws what making one throws. */
  async take(): Promise<Engine<C>> {
    return this.#idle.pop() ?? this.#make();
  }

  /** Gives an engine back. It is dropped if it is broken, if its memory has grown too far, or if enough are idle. */
  release(engine: Engine<C>): void {
    if (engine.reusable && this.#idle.length < MAX_IDLE) this.#idle.push(engine);
  }
}

/** `WebAssembly.Module`, where the platform's types have that name: those of Node 20 do not. */
export type WasmModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } }
  ? Module & object
  : never;

/**
 * What the core is compiled from, in place of the file beside the library: its bytes, where they are, or the compiled module,
 * which runtimes such as Cloudflare Workers make of an import of `mcp-sluice/core.wasm`.
 */
export type WasmSource = ArrayBuffer | ArrayBufferView | Response | URL | WasmModule;

/** The modules that read PDF and pictures, by the names of their files in `mcp-sluice/documents/`. */
export type DocumentModule = "pdfium" | "jpeg-decoder" | "jpeg-encoder" | "png" | "webp-decoder";

/** Compiled modules, for runtimes that compile none. Without one, what needs it is not read. */
export type DocumentModules = Readonly<Partial<Record<DocumentModule, WasmModule>>>;

/** Every module, where more than the core has to be handed in: in Cloudflare Workers. */
export interface WasmModules {
  /** The core: what an import of `mcp-sluice/core.wasm` gives. */
  readonly core: WasmSource;
  /** What imports of `mcp-sluice/documents/….wasm` give. */
  readonly documents?: DocumentModules;
  /**
   * What an import of `mcp-sluice/facts.wasm` gives, or where it is: it tells how many pages, sheets or minutes a file has. Without it
   * a file is told by kind and size.
   */
  readonly facts?: WasmSource;
  /** What an import of `mcp-sluice/tables.wasm` gives, or where it is: it answers queries. */
  readonly tables?: WasmSource;
}

/** Tells a set of modules from a source of the core alone. */
export function isModules(wasm: WasmSource | WasmModules): wasm is WasmModules {
  return "core" in wasm;
}

/** A compiled module. Users who compile for Node alone do not have the name `WebAssembly.Module`. */
type CompiledModule = object;

/** Compiles a source, unless it is compiled already: some runtimes do not allow that. Throws E_CORE_LOAD. */
export async function compileSource(source: WasmSource): Promise<WebAssembly.Module> {
  // Not `instanceof`: a module of another realm is as good.
  const isCompiled: boolean = Object.prototype.toString.call(source) === "[object WebAssembly.Module]";
  // `BufferSource` is a word of the DOM's types, which users in Node may not have.
  return isCompiled ? source : compileCore(source as BufferSource | Response | URL);
}

/**
 * Engines with a configuration, which is JSON text.
 *
 * @throws when an engine is taken: SluiceError E_CONFIG_… with the path of the key that is wrong.
 */
export function corePool(compiled: CompiledModule, config: string): EnginePool {
  return new EnginePool(async () => {
    const module = await instantiate(createCoreModule, compiled, "Core");
    const engine = new Engine(module, new module.Core());
    engine.give(config);
    engine.call("configure");
    return engine;
  });
}

/** The error of an instance that is of no further use. */
function toTrapError(cause?: unknown): SluiceError {
  return new SluiceError(
    "E_CORE_TRAP",
    "the core failed on this input and was restarted; the input is unchanged: pass it on as it is, and report the failure",
    {},
    { cause },
  );
}

/** The error that the core wrote: `{"code":…,"message":…}`, and its place if it has one. */
function parseCoreError(json: string): SluiceError {
  const { code, message, ...place } = JSON.parse(json) as ReturnType<SluiceError["toJSON"]>;
  return new SluiceError(code, message, place);
}

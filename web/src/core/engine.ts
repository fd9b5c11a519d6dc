/**
 * Instances of the core: made from one compiled module, lent to one message at a time.
 * @module
 */
import createCoreModule from "./core.mjs";
import type { Core, CoreModule } from "./core.mjs";
import { instantiate, MAX_KEPT_MEMORY, trapped } from "./instance.js";
import { SluiceError, type ErrorCode } from "../errors/error.js";

/** Idle instances that are kept. */
const MAX_IDLE = 4;

/** Characters of text handed to the encoder at a time. */
const TEXT_PIECE = 65_536;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * One instance. Whoever holds it has it alone, so its views stay valid until the next call. An exception out of
 * WebAssembly leaves an instance broken: it is then never used again.
 */
export class Engine {
  readonly #module: CoreModule;
  readonly #core: Core;
  #broken = false;

  constructor(module: CoreModule) {
    this.#module = module;
    this.#core = new module.Core();
  }

  /** Whether it may serve another message. */
  get reusable(): boolean {
    return !this.#broken && this.#module.HEAPU8.length <= MAX_KEPT_MEMORY;
  }

  /** Calls into the core. Throws E_CORE_TRAP when it fails in a way that it should not. */
  call<T>(use: (core: Core) => T): T {
    if (this.#broken) throw trapped();
    try {
      return use(this.#core);
    } catch (error) {
      if (error instanceof SluiceError) throw error;
      this.#broken = true;
      throw trapped(error);
    }
  }

  /** Calls what can fail; throws the error it tells of. */
  must(use: (core: Core) => boolean): void {
    this.call((core) => {
      if (!use(core)) throw errorOf(decoder.decode(core.output()));
    });
  }

  /** Puts a text, or bytes one behind the other, into the input buffer and calls. */
  tell(said: string | readonly Uint8Array[], use: (core: Core) => boolean): void {
    const pieces = typeof said === "string" ? [encoder.encode(said)] : said;
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.must((core) => {
      const input = core.input(size);
      for (let at = 0, next = 0; next < pieces.length; next += 1) {
        const piece = pieces[next] as Uint8Array;
        input.set(piece, at);
        at += piece.length;
      }
      return use(core);
    });
  }

  /** Puts a text into the input buffer and calls what answers whether it was done. */
  put(said: string, use: (core: Core) => boolean): boolean {
    const bytes = encoder.encode(said);
    return this.call((core) => {
      core.input(bytes.length).set(bytes);
      return use(core);
    });
  }

  /** What a call writes, as text. */
  ask(use: (core: Core) => void): string {
    return this.call((core) => {
      use(core);
      return decoder.decode(core.output());
    });
  }

  /** What a call writes, given a text, as bytes of its own. */
  bytesFor(text: string, use: (core: Core) => void): Uint8Array {
    const bytes = encoder.encode(text);
    return this.call((core) => {
      core.input(bytes.length).set(bytes);
      use(core);
      return core.output().slice();
    });
  }

  /** Hands bytes of the document to the gate. */
  push(bytes: Uint8Array): void {
    this.must((core) => {
      core.body(bytes.length).set(bytes);
      return core.push(bytes.length);
    });
  }

  /** Hands text from `start` on to the gate, at most TEXT_PIECE characters; gives the next start and the bytes. */
  pushText(text: string, start: number): { readonly next: number; readonly bytes: number } {
    let next = Math.min(text.length, start + TEXT_PIECE);
    // Never between the halves of a surrogate pair: apart, each would become U+FFFD.
    if (next < text.length && isHighSurrogate(text.charCodeAt(next - 1))) next -= 1;
    const piece = start === 0 && next === text.length ? text : text.slice(start, next);
    let bytes = 0;
    this.must((core) => {
      bytes = encoder.encodeInto(piece, core.body(piece.length * 3)).written;
      return core.push(bytes);
    });
    return { next, bytes };
  }
}

/** Makes engines and takes them back. */
export class EnginePool {
  readonly #compiled: WebAssembly.Module;
  readonly #config: string;
  readonly #idle: Engine[] = [];

  constructor(compiled: WebAssembly.Module, config: string) {
    this.#compiled = compiled;
    this.#config = config;
  }

  /** An idle engine, if there is one. */
  takeIdle(): Engine | undefined {
    return this.#idle.pop();
  }

  /** An engine with the configuration read. Throws E_CONFIG_… when it is wrong. */
  async take(): Promise<Engine> {
    return this.#idle.pop() ?? this.#make();
  }

  /** Gives an engine back; a broken or swollen one is dropped. */
  release(engine: Engine): void {
    if (engine.reusable && this.#idle.length < MAX_IDLE) this.#idle.push(engine);
  }

  async #make(): Promise<Engine> {
    const engine = new Engine(await instantiate(createCoreModule, this.#compiled));
    engine.tell(this.#config, (core) => core.configure());
    return engine;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The error behind `{"code":…,"message":…,…}`. */
function errorOf(json: string): SluiceError {
  const { code, message, ...place } = JSON.parse(json) as {
    code: ErrorCode;
    message: string;
    line?: number;
    column?: number;
    path?: string;
  };
  return new SluiceError(code, message, place);
}

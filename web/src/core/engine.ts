/**
 * Instances of the core: made from one compiled module, lent to one message at a time.
 * @module
 */
import createCoreModule from "./core.mjs";
import type { Core, CoreModuleOptions } from "./core.mjs";
import { SluiceError } from "../errors/error.js";

/** Idle instances that are kept. */
const MAX_IDLE = 4;

/** Memory in bytes beyond which an instance is not kept: WebAssembly memory never shrinks. */
const MAX_KEPT_MEMORY = 64 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What an instance takes and gives bytes by. */
type Buffers = Pick<Core, "input" | "output">;

/** What goes into the input buffer: a text, or bytes one behind the other. */
type Input = string | readonly Uint8Array[];

/**
 * One instance. Whoever holds it has it alone, so its views stay valid until the next call. An exception out of
 * WebAssembly leaves an instance broken: it is then never used again.
 */
export class Engine<C extends Buffers = Core> {
  readonly #module: { readonly HEAPU8: Uint8Array };
  readonly #core: C;
  #broken = false;

  constructor(module: { readonly HEAPU8: Uint8Array }, core: C) {
    this.#module = module;
    this.#core = core;
  }

  /** Whether it may serve another message. */
  get reusable(): boolean {
    return !this.#broken && this.#module.HEAPU8.length <= MAX_KEPT_MEMORY;
  }

  /** Calls into the core. Throws E_CORE_TRAP when it fails in a way that it should not. */
  call<T>(use: (core: C) => T): T {
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
  must(use: (core: C) => boolean): void {
    this.call((core) => {
      if (!use(core)) throw errorOf(decoder.decode(core.output()));
    });
  }

  /** Fills the input buffer and calls. */
  put<T>(said: Input, use: (core: C) => T): T {
    return this.call((core) => {
      fill(core, said);
      return use(core);
    });
  }

  /** Fills the input buffer and calls what can fail; throws the error it tells of. */
  tell(said: Input, use: (core: C) => boolean): void {
    this.must((core) => {
      fill(core, said);
      return use(core);
    });
  }

  /** What a call writes, as text. */
  ask(use: (core: C) => void): string {
    return this.call((core) => {
      use(core);
      return decoder.decode(core.output());
    });
  }
}

/** Makes engines and takes them back. */
export class EnginePool<C extends Buffers = Core> {
  readonly #make: () => Promise<Engine<C>>;
  readonly #idle: Engine<C>[] = [];

  constructor(make: () => Promise<Engine<C>>) {
    this.#make = make;
  }

  /** An engine that nobody else has. Throws what making one throws. */
  async take(): Promise<Engine<C>> {
    return this.#idle.pop() ?? this.#make();
  }

  /** Gives an engine back; a broken or swollen one is dropped. */
  release(engine: Engine<C>): void {
    if (engine.reusable && this.#idle.length < MAX_IDLE) this.#idle.push(engine);
  }
}

/** Engines of the core with the configuration read. Taking one throws E_CONFIG_… when that is wrong. */
export function corePool(compiled: WebAssembly.Module, config: string): EnginePool {
  return new EnginePool(async () => {
    const module = await instantiate(createCoreModule, compiled);
    const engine = new Engine(module, new module.Core());
    engine.tell(config, (core) => core.configure());
    return engine;
  });
}

/** Makes an instance of a compiled module with the glue that was built for it. */
export async function instantiate<Module>(
  glue: (options: CoreModuleOptions) => Promise<Module>,
  compiled: WebAssembly.Module,
): Promise<Module> {
  return new Promise((resolve, reject) => {
    const made = glue({
      // The glue would wait for ever when this fails: the failure is reported here.
      instantiateWasm: (imports, receive) => {
        WebAssembly.instantiate(compiled, imports).then(receive, reject);
        return {};
      },
      locateFile: (name) => name,
      print: () => undefined,
      printErr: () => undefined,
    });
    made.then(resolve, reject);
  });
}

function fill(core: Buffers, said: Input): void {
  const pieces = typeof said === "string" ? [encoder.encode(said)] : said;
  const input = core.input(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    input.set(piece, at);
    at += piece.length;
  }
}

/** The error of an instance that is of no further use. */
function trapped(cause?: unknown): SluiceError {
  return new SluiceError(
    "E_CORE_TRAP",
    "the core failed on this input and was replaced; the input is untouched: pass it on as it is, and report it",
    {},
    { cause },
  );
}

/** The error behind `{"code":…,"message":…,…}`. */
function errorOf(json: string): SluiceError {
  const { code, message, ...place } = JSON.parse(json) as ReturnType<SluiceError["toJSON"]>;
  return new SluiceError(code, message, place);
}

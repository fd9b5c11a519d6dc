/**
 * A file that streams by one engine.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { isBytes, noBytes } from "./call.js";
import type { Engine, EnginePool } from "./engine.js";
import type { FileLook, Sniffed } from "./sluice.js";

/** Bytes that the core is handed at once. */
const PIECE = 1024 * 1024;

/** Holds its engine until it is finished or disposed of. */
export class EngineLook implements FileLook {
  readonly #pool: EnginePool;
  #engine: Engine | undefined;

  constructor(engine: Engine, pool: EnginePool) {
    this.#engine = engine;
    this.#pool = pool;
    engine.call((core) => core.look());
  }

  push(bytes: Uint8Array): void {
    if (!isBytes(bytes)) throw noBytes("bytes");
    const engine = this.#held();
    for (let at = 0; at < bytes.length; at += PIECE) {
      const piece = bytes.subarray(at, at + PIECE);
      engine.call((core) => {
        core.input(piece.length).set(piece);
        core.lookAt();
      });
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

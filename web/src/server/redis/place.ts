/**
 * Where a state keeps what: all keys begin alike, and are in one slot of a cluster.
 * @module
 */
import { createHash } from "node:crypto";
import type { Script } from "../../redis/server.js";

/** Who runs scripts, such as a `RedisServer`. */
export interface ScriptRunner {
  /** The script's reply. Throws SluiceError E_STORE_…. */
  run(script: Script, keys: readonly string[], words: readonly string[]): Promise<unknown>;
}

/** The keys of one state. Names may hold anything, and so are hashed. */
export class Place {
  readonly #stem: string;

  /** `stem`: what all keys begin with, in braces. */
  constructor(stem: string) {
    // The number is of how things are kept: the same as that of runs.
    this.#stem = `${stem}:1:`;
  }

  /** The key of all of a kind. */
  all(kind: string): string {
    return `${this.#stem}${kind}`;
  }

  /** The key of one of a kind, of which the hash is known. */
  one(kind: string, hash: string): string {
    return `${this.#stem}${kind}:${hash}`;
  }
}

/** 64 hexadecimal digits for a name. */
export function hashOf(name: string): string {
  return createHash("sha256").update(JSON.stringify(name)).digest("hex");
}

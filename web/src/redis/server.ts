/**
 * Runs scripts on a Redis server in bounded time, with retries, and reads replies of any client.
 * @module
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import type { StorageAct } from "../errors/storage.js";
import { OwnConnection } from "./connection.js";
import { isUnknownScript, mayPass, NoAnswer, redisError } from "./failures.js";
import type { RedisCommands } from "./options.js";

/** Milliseconds between two attempts: at first, and at most. */
const PAUSE = 50;
const LONGEST_PAUSE = 1000;

/** Runs scripts on a server. */
export class RedisServer {
  readonly #commands: RedisCommands;
  readonly #own: OwnConnection | undefined;
  readonly #timeout: number;
  readonly #working = new Set<Promise<unknown>>();
  #isClosed = false;

  /** `timeout`: milliseconds for each script, with all attempts. */
  constructor(server: string | RedisCommands, timeout: number) {
    this.#own = typeof server === "string" ? new OwnConnection(server, timeout) : undefined;
    this.#commands = this.#own ?? (server as RedisCommands);
    this.#timeout = timeout;
  }

  /** The script's reply. Throws SluiceError E_STORE_…. */
  async run(script: Script, keys: readonly string[], words: readonly string[]): Promise<unknown> {
    if (this.#isClosed) throw new SluiceError("E_STORE_CLOSED", "The store was closed: create another one.");
    const work = this.#tried(script, [String(keys.length), ...keys, ...words]);
    this.#working.add(work);
    try {
      return await work;
    } finally {
      this.#working.delete(work);
    }
  }

  /** Waits for running scripts, and closes the connection if it is ours. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#working);
    this.#own?.close();
  }

  /** Tries until it succeeds, fails for good, or the time is up. */
  async #tried(script: Script, words: readonly string[]): Promise<unknown> {
    let failure: unknown;
    const work = async (signal: AbortSignal): Promise<unknown> => {
      for (let pause = PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
        try {
          failure = undefined;
          return await this.#answered(script, words, signal);
        } catch (error) {
          if (signal.aborted || !mayPass(error, script.isRepeatable)) throw error;
          failure = error;
        }
        await sleep(pause, undefined, { signal });
      }
    };
    const late = (): Error => new NoAnswer(this.#timeout / 1000);
    try {
      return await untilLate(work, { most: this.#timeout, late, signal: undefined });
    } catch (error) {
      throw redisError(error instanceof NoAnswer && failure !== undefined ? failure : error, script.act);
    }
  }

  /** A restarted server has no scripts. */
  async #answered(script: Script, words: readonly string[], abortSignal: AbortSignal): Promise<unknown> {
    try {
      return await this.#commands.sendCommand(["EVALSHA", script.sha, ...words], { abortSignal });
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return this.#commands.sendCommand(["EVAL", script.text, ...words], { abortSignal });
    }
  }
}

/** The keys of one store. All begin with its stem, and so share one slot of a cluster. */
export class RedisKeys {
  readonly #stem: string;

  /** `stem`: a name in braces. */
  constructor(stem: string) {
    // The number is the version of what is stored.
    this.#stem = `${stem}:1:`;
  }

  /** The key of all entries of a kind. */
  all(kind: string): string {
    return `${this.#stem}${kind}`;
  }

  /** The key of one entry, by the hash of its name. */
  one(kind: string, hash: string): string {
    return `${this.#stem}${kind}:${hash}`;
  }
}

/** 64 hexadecimal digits for a name, which may be any string. */
export function hashOf(name: string): string {
  return createHash("sha256").update(JSON.stringify(name)).digest("hex");
}

/** A script. */
export interface Script {
  readonly text: string;
  /** The SHA-1 by which the server knows it. */
  readonly sha: string;
  readonly act: StorageAct;
  /** Whether it may be sent again if it is unknown whether it ran. */
  readonly isRepeatable: boolean;
}

/** Makes a script. */
export function plainScript(
  act: StorageAct,
  text: string,
  { isRepeatable }: { readonly isRepeatable: boolean },
): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex"), act, isRepeatable };
}

/** A reply that is a text or null. Throws SluiceError E_STORE_READ for anything else. */
export function textOf(reply: unknown): string | null {
  if (reply === null || typeof reply === "string") return reply;
  throw strangeReply();
}

/** A reply that is a list of texts. Throws SluiceError E_STORE_READ for anything else. */
export function textsOf(reply: unknown): readonly string[] {
  if (Array.isArray(reply) && reply.every((each) => typeof each === "string")) return reply;
  throw strangeReply();
}

/** A reply that is 1 or 0, as a number or a string. Throws SluiceError E_STORE_WRITE for anything else. */
export function isDone(reply: unknown): boolean {
  const said = typeof reply === "number" || typeof reply === "bigint" ? String(reply) : reply;
  if (said === "1" || said === "0") return said === "1";
  throw new SluiceError(
    "E_STORE_WRITE",
    "The client changes the server's replies: configure it to return numbers as numbers.",
  );
}

/** The error for unexpected replies. */
export function strangeReply(): SluiceError {
  return new SluiceError(
    "E_STORE_READ",
    "The client returns replies that are not strings: configure it to return strings.",
  );
}

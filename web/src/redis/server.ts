/**
 * Runs scripts on a Redis server in bounded time, with retries, and reads replies of any client.
 * @module
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import { layoutText } from "../errors/layout.js";
import type { StorageAct } from "../errors/storage.js";
import { OwnConnection } from "./connection.js";
import { DAMAGED, isUnknownScript, mayPass, NEWER, NoAnswer, redisError } from "./failures.js";
import type { RedisCommands } from "./options.js";

/** Milliseconds between two attempts: at first, and at most. */
const PAUSE = 50;
const LONGEST_PAUSE = 1000;

/** Runs scripts on a server. */
export class RedisServer {
  readonly #commands: RedisCommands;
  readonly #own: OwnConnection | undefined;
  readonly #timeout: number;
  readonly #version: string;
  readonly #working = new Set<Promise<unknown>>();
  #isClosed = false;

  /**
   * `timeout`: milliseconds for each script, with all attempts. `keys`: those of the scripts, which all look at the version of what
   * is stored first.
   */
  constructor(server: string | RedisCommands, timeout: number, keys: RedisKeys) {
    this.#version = keys.version;
    this.#own = typeof server === "string" ? new OwnConnection(server, timeout) : undefined;
    this.#commands = this.#own ?? (server as RedisCommands);
    this.#timeout = timeout;
  }

  /** The script's reply. Throws SluiceError E_STORE_…. */
  async run(script: Script, keys: readonly string[], words: readonly string[]): Promise<unknown> {
    if (this.#isClosed) throw new SluiceError("E_STORE_CLOSED", "The store was closed: create another one.");
    const work = this.#tryUntilDone(script, [String(keys.length + 1), ...keys, this.#version, ...words]);
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
  async #tryUntilDone(script: Script, words: readonly string[]): Promise<unknown> {
    let failure: unknown;
    const work = async (signal: AbortSignal): Promise<unknown> => {
      for (let pause = PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
        try {
          failure = undefined;
          return await this.#ask(script, words, signal);
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
  async #ask(script: Script, words: readonly string[], abortSignal: AbortSignal): Promise<unknown> {
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
  /** The key of the version, which no version's own keys contain. */
  readonly version: string;
  readonly #stem: string;

  /** `stem`: a name in braces. */
  constructor(stem: string) {
    this.version = `${stem}:version`;
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
export function hashName(name: string): string {
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

const VERSION = layoutText("state");

/**
 * Before all else, in the same step of the server: refuses what a newer version wrote. A script that writes leaves the version where
 * there is none, also in a server that took the place of another. It does not insist: a server that is full still deletes. The version
 * is the last key, which the script itself does not see.
 */
const writeVersionCheck = (act: StorageAct): string => `
local given, KEYS = KEYS, {}
for at = 1, #given - 1 do KEYS[at] = given[at] end
do
  local version = redis.call('GET', given[#given])
  if version and version ~= '${VERSION}' then
    local said = string.match(version, '^{"sluice":"state","version":(%d+)}')
    return redis.error_reply(said and '${NEWER} another version wrote this' or '${DAMAGED} this is no version')
  end
  ${act === "write" ? `if not version then redis.pcall('SET', given[#given], '${VERSION}') end` : ""}
end
`;

/** Makes a script, of which nothing happens where another version of Sluice has written. */
export function plainScript(
  act: StorageAct,
  script: string,
  { isRepeatable }: { readonly isRepeatable: boolean },
): Script {
  const text = `${writeVersionCheck(act)}${script}`;
  return { text, sha: createHash("sha1").update(text).digest("hex"), act, isRepeatable };
}

/** A reply that is a text or null. Throws SluiceError E_STORE_READ for anything else. */
export function readReplyText(reply: unknown): string | null {
  if (reply === null || typeof reply === "string") return reply;
  throw strangeReply();
}

/** A reply that is a list of texts. Throws SluiceError E_STORE_READ for anything else. */
export function readReplyTexts(reply: unknown): readonly string[] {
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

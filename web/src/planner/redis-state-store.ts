/**
 * A state store in Redis, for Node.
 * @module
 */
import { hashed } from "./file-state/state-folder.js";
import { checkedOptions, type RedisOptions } from "../redis/options.js";
import { isDone, RedisServer, type Script, textOf } from "../redis/server.js";
import { ADD, CLAIM, FORGET, HISTORY, LOAD, type Page, pageOf, RELEASE, SAVE, TAKE, UPDATE } from "./redis-scripts.js";
import {
  bytesOf,
  type DatedText,
  type AfterRelease,
  CollectionStateStore,
  StateLimits,
  type StateStoreOptions,
} from "./state-store.js";

/** Which server, and bounds. Either `url` or `client` is given. */
export interface RedisStateStoreOptions extends StateStoreOptions, RedisOptions {}

/**
 * A Redis server, for any number of machines at once; any of them may be killed at any time. What is saved outlives the
 * server's own end as far as the server writes it to its disk: with `appendonly yes` and `appendfsync always`, all of it.
 *
 * Replicas learn of it later: where one takes the server's place, the last that was saved may be missing, and a claim too.
 * A server that throws away what it has no memory for (`maxmemory-policy` other than `noeviction`) throws away runs.
 *
 * Whatever is changed is changed by one script inside the server, and claims end by the server's clock unless `clock` is
 * given. Tokens, ids and owners are hashed; what is kept is not. All keys of a store are in one slot of a cluster. Everything
 * goes by itself when it is too old, and the store's last key with it.
 *
 * A call waits for a server that is away, or not ready, until its own `timeoutSeconds` are over; `loadHistory` asks several
 * times, for about a megabyte each. Then, and where the server refuses what is asked, it throws SluiceError: E_STORE_FULL where
 * the server has no memory left; E_STORE_DENIED for a wrong password, for want of rights, and of a replica; E_STORE_CORRUPT;
 * E_TOO_LARGE for what a store with a larger `maxBytes` saved; E_STORE_CLOSED after it was disposed of; E_MISUSE where
 * `@redis/client` is not installed; else E_STORE_READ or E_STORE_WRITE. Of a change that throws one of these last two nobody
 * knows whether it was made. The next call connects anew.
 *
 * @example
 * await using stateStore = new RedisStateStore({ url: "redis://localhost:6379" });
 * const planner = new ReactPlanner({ catalog, llm, stateStore, artifactStore });
 */
export class RedisStateStore extends CollectionStateStore implements AsyncDisposable {
  readonly #server: RedisServer;

  /** Connects when it is first used. Throws SluiceError E_INVALID_ARGUMENT for what is no server, and a bound that is none. */
  constructor(options: RedisStateStoreOptions) {
    const { server: given, stem, timeout } = checkedOptions(options);
    const limits = new StateLimits(options);
    const server = new RedisServer(given, timeout);
    const room = (name: string): RedisCollection =>
      new RedisCollection(name, { server, limits, stem, hasClock: options.clock !== undefined });
    super(limits, { runs: room("runs"), events: room("events"), bindings: room("bindings"), oauth: room("oauth") });
    this.#server = server;
  }

  /** Waits for what is under way, and ends the connection, unless it is a client of the host's. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
  }
}

/** Milliseconds: nothing is kept longer, so that numbers stay exact. */
const MAX_AGE = 10 * 365 * 24 * 60 * 60 * 1000;
const MANY = 1e15;

/** The place of a room, and what it is bounded by. */
interface CollectionParts {
  readonly server: RedisServer;
  readonly limits: StateLimits;
  /** What all keys begin with: braces around a part of it keep them together in a cluster. */
  readonly stem: string;
  /** False: the server's clock is the one that counts. */
  readonly hasClock: boolean;
}

/** One room; its keys are `<stem>:1:<name>` and `<stem>:1:<name>:<hash>`. */
class RedisCollection {
  readonly #parts: CollectionParts;
  readonly #index: string;
  #order = 0;

  constructor(name: string, parts: CollectionParts) {
    this.#parts = parts;
    // The number is of how things are kept.
    this.#index = `${parts.stem}:1:${name}`;
  }

  /** Keeps a text for so many milliseconds at most, in place of what was there, and claimed by nobody. */
  async save(name: string, text: string, age = Infinity): Promise<void> {
    isDone(await this.#run(SAVE, name, this.#age(age), this.#most, text));
  }

  /** The text; null where there is none, or no longer. */
  async load(name: string): Promise<string | null> {
    return textOf(await this.#run(LOAD, name, amount(this.#parts.limits.maxBytes)));
  }

  /** As `load`, and it is gone. */
  async take(name: string): Promise<string | null> {
    return textOf(await this.#run(TAKE, name, amount(this.#parts.limits.maxBytes)));
  }

  async forget(name: string): Promise<void> {
    isDone(await this.#run(FORGET, name));
  }

  /** False where there is nothing, or it is another's. `lease` in milliseconds. */
  async claim(name: string, owner: string, lease: number): Promise<boolean> {
    return isDone(await this.#run(CLAIM, name, hashed(owner), amount(lease)));
  }

  /** Keeps another text, claimed as before. False where it is not the owner's. */
  async update(name: string, owner: string, text: string): Promise<boolean> {
    return isDone(await this.#run(UPDATE, name, hashed(owner), this.#age(Infinity), text));
  }

  /** False where it is not the owner's. */
  async release(name: string, owner: string, then: AfterRelease): Promise<boolean> {
    return isDone(await this.#run(RELEASE, name, hashed(owner), then));
  }

  /** Adds a text behind those that were added before. */
  async add(name: string, text: string): Promise<void> {
    const { maxEvents, maxHistoryBytes } = this.#parts.limits;
    const bounds = [this.#most, amount(maxEvents), amount(maxHistoryBytes)];
    isDone(await this.#run(ADD, name, this.#age(Infinity), ...bounds, text));
  }

  /** What was added, oldest first, without what is too large. Asked for in pieces: the server serves others in between. */
  async all(name: string): Promise<readonly DatedText[]> {
    const { limits } = this.#parts;
    const found: DatedText[] = [];
    const sizes: number[] = [];
    for (let next: Page["next"] = ["0", ""]; next !== undefined;) {
      const bounds = [this.#age(Infinity), amount(limits.maxBytes)];
      const page = pageOf(await this.#run(HISTORY, name, ...bounds, ...next), next[0]);
      found.unshift(...page.found.toReversed());
      sizes.unshift(...page.found.map(({ text }) => bytesOf(text)).toReversed());
      const first = limits.firstKept(sizes);
      if (first > 0) return found.slice(first);
      next = page.next;
    }
    return found;
  }

  get #most(): string {
    return amount(this.#parts.limits.maxKept);
  }

  #age(wanted: number): string {
    return amount(Math.min(wanted, this.#parts.limits.maxAge, MAX_AGE));
  }

  #run(script: Script, name: string, ...words: readonly string[]): Promise<unknown> {
    const keys = [`${this.#index}:${hashed(name)}`, this.#index];
    return this.#parts.server.run(script, keys, [...this.#time(), ...words]);
  }

  /** The time; empty for that of the server. Of what is saved in one millisecond, the order. */
  #time(): readonly [now: string, order: string] {
    if (!this.#parts.hasClock) return ["", ""];
    this.#order = (this.#order + 1) % 1000;
    return [String(this.#parts.limits.now()), String(this.#order / 1000)];
  }
}

/** A whole number above 0 that Lua reads as it is. */
function amount(value: number): string {
  return String(Math.max(1, Math.min(Math.floor(value), MANY)));
}

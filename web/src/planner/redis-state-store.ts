/**
 * A state store in Redis, for Node.
 * @module
 */
import { checkedOptions, type RedisStateStoreOptions } from "./redis-state/options.js";
import { Room } from "./redis-state/room.js";
import { RedisServer } from "./redis-state/server.js";
import { bindingKey, bindingOf, eventOf, leaseOf, lifeOf, named, StateLimits, valueOf } from "./state-limits.js";
import type { Released, RemoteBinding, StateEvent, StateStore, StoredEvent } from "./state-store.js";

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
export class RedisStateStore implements StateStore, AsyncDisposable {
  readonly #limits: StateLimits;
  readonly #server: RedisServer;
  readonly #runs: Room;
  readonly #oauth: Room;
  readonly #events: Room;
  readonly #bindings: Room;

  /** Connects when it is first used. Throws SluiceError E_INVALID_ARGUMENT for what is no server, and a bound that is none. */
  constructor(options: RedisStateStoreOptions) {
    const { server, stem, timeout } = checkedOptions(options);
    this.#limits = new StateLimits(options);
    this.#server = new RedisServer(server, timeout);
    const parts = { server: this.#server, limits: this.#limits, stem, hasClock: options.clock !== undefined };
    this.#runs = new Room("runs", parts);
    this.#oauth = new Room("oauth", parts);
    this.#events = new Room("events", parts);
    this.#bindings = new Room("bindings", parts);
  }

  async savePlannerState(token: string, payload: unknown): Promise<void> {
    named(token, "token");
    if (payload === null) return this.#runs.forget(token);
    return this.#runs.save(token, this.#limits.text(payload));
  }

  async loadPlannerState(token: string): Promise<unknown> {
    return valueOf(await this.#runs.load(named(token, "token")));
  }

  async claimPlannerState(token: string, owner: string, leaseSeconds: number): Promise<boolean> {
    return this.#runs.claim(named(token, "token"), named(owner, "owner"), leaseOf(leaseSeconds));
  }

  async updatePlannerState(token: string, owner: string, payload: unknown): Promise<boolean> {
    return this.#runs.update(named(token, "token"), named(owner, "owner"), this.#limits.textOfSomething(payload));
  }

  async releasePlannerState(token: string, owner: string, then: Released): Promise<boolean> {
    return this.#runs.release(named(token, "token"), named(owner, "owner"), then);
  }

  async saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void> {
    named(state, "state");
    const life = lifeOf(seconds);
    return this.#oauth.save(state, this.#limits.text(payload), life);
  }

  async loadOAuthState(state: string): Promise<unknown> {
    return valueOf(await this.#oauth.load(named(state, "state")));
  }

  async takeOAuthState(state: string): Promise<unknown> {
    return valueOf(await this.#oauth.take(named(state, "state")));
  }

  async saveEvent(traceId: string, event: StateEvent): Promise<void> {
    return this.#events.add(named(traceId, "traceId"), this.#limits.text(eventOf(event)));
  }

  async loadHistory(traceId: string): Promise<readonly StoredEvent[]> {
    const texts = await this.#events.all(named(traceId, "traceId"));
    return texts.map(({ at, text }) => ({ at, event: valueOf(text) as StateEvent }));
  }

  async saveRemoteBinding(binding: RemoteBinding): Promise<void> {
    const checked = bindingOf(binding);
    const key = bindingKey(checked.trace_id, checked.task_id);
    return this.#bindings.save(key, this.#limits.text(checked));
  }

  async loadRemoteBinding(traceId: string, taskId: string): Promise<RemoteBinding | null> {
    return valueOf(await this.#bindings.load(bindingKey(traceId, taskId))) as RemoteBinding | null;
  }

  /** Waits for what is under way, and ends the connection, unless it is a client of the host's. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
  }
}

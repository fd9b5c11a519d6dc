/**
 * The sessions over which resources are read: one for everybody, or one for each user.
 * @module
 */
import { userKey } from "../auth/owner.js";
import type { ToolContext } from "../context.js";
import type { ResourceConnection } from "./connection.js";
import { MAX_OWNERS, RENEWAL_TIME } from "./limits.js";
import { Subscriptions } from "./subscriptions.js";

interface Owner {
  connection: ResourceConnection | undefined;
  readonly subscriptions: Subscriptions;
}

/** What is remembered of sessions, beyond the connections that they are made of. */
export class Owners {
  readonly #isPerUser: boolean;
  readonly #onReplaced: () => void;
  readonly #closing = new AbortController();
  /** Least recently used first. */
  readonly #owners = new Map<string, Owner>();

  /** `onReplaced` is told when a session goes on over another connection: notices may have been missed. */
  constructor(isPerUser: boolean, onReplaced: () => void) {
    this.#isPerUser = isPerUser;
    this.#onReplaced = onReplaced;
  }

  /** The subscriptions of whoever calls, whose session has this connection now. */
  meet(context: ToolContext, connection: ResourceConnection): Subscriptions {
    const key = this.#isPerUser ? userKey(context) : "";
    const owner = this.#owners.get(key) ?? { connection: undefined, subscriptions: new Subscriptions() };
    this.#owners.delete(key);
    this.#owners.set(key, owner);
    this.#makeRoom();
    const before = owner.connection;
    owner.connection = connection;
    if (before !== undefined && before !== connection) {
      this.#onReplaced();
      void this.#renew(owner, connection);
    }
    return owner.subscriptions;
  }

  /** Whether anybody wants to know of a resource's changes. */
  want(uri: string): boolean {
    for (const { subscriptions } of this.#owners.values()) if (subscriptions.has(uri)) return true;
    return false;
  }

  /** Asks for nothing any more. */
  close(): void {
    this.#closing.abort();
    this.#owners.clear();
  }

  /** Nobody waits for it: whoever subscribed hears nothing where the source refuses, and reads what it has then. */
  async #renew({ subscriptions }: Owner, connection: ResourceConnection): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(RENEWAL_TIME)]);
    for (const uri of subscriptions.uris) {
      if (signal.aborted) return;
      await connection.subscribe(uri, signal).catch(() => undefined);
    }
  }

  #makeRoom(): void {
    for (const key of this.#owners.keys()) {
      if (this.#owners.size <= MAX_OWNERS) return;
      this.#owners.delete(key);
    }
  }
}

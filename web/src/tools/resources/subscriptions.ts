/**
 * Who wants to know of which resources' changes, over which session, and how often they are told.
 * @module
 */
import { untilAborted } from "../../core/abort.js";
import { userKey } from "../auth/owner.js";
import { Turns } from "../auth/turns.js";
import type { ToolContext } from "../context.js";
import { ToolClientError } from "../errors.js";
import type { ResourceConnection } from "./connection.js";
import type { ResourceEvent } from "../event.js";
import { MAX_OWNERS, MAX_SUBSCRIPTIONS, RENEWAL_TIME } from "./limits.js";

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

/** Counts by URI: the source is asked when the first one comes and when the last one goes. */
export class Subscriptions {
  readonly #counts = new Map<string, number>();
  /** What the source is being asked for: it may tell of it before it answers. */
  readonly #asking = new Set<string>();
  /** For each URI one step follows the other. */
  readonly #turns = new Turns();

  /** URIs that somebody wants to know of. */
  get uris(): readonly string[] {
    return [...this.#counts.keys()];
  }

  /** Whether somebody wants to know of it. */
  has(uri: string): boolean {
    return this.#counts.has(uri) || this.#asking.has(uri);
  }

  /** One more; `subscribe` is called for the first. Throws what it throws: then nothing was counted. */
  add(uri: string, signal: AbortSignal, subscribe: () => Promise<void>): Promise<void> {
    return this.#step(uri, signal, async () => {
      const count = this.#counts.get(uri) ?? 0;
      if (count === 0) {
        if (this.#counts.size >= MAX_SUBSCRIPTIONS) throw tooMany();
        this.#asking.add(uri);
        // Of one URI no two steps are under way at a time.
        await subscribe().finally(() => this.#asking.delete(uri));
      }
      this.#counts.set(uri, count + 1);
    });
  }

  /** One less; `unsubscribe` is called for the last, which is gone whatever comes of it. Without one, nothing is done. */
  remove(uri: string, signal: AbortSignal, unsubscribe: () => Promise<void>): Promise<void> {
    return this.#step(uri, signal, async () => {
      const count = this.#counts.get(uri) ?? 0;
      if (count > 1) this.#counts.set(uri, count - 1);
      if (count !== 1) return;
      this.#counts.delete(uri);
      await unsubscribe();
    });
  }

  #step(uri: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const step = this.#turns.take(uri, async () => {
      signal.throwIfAborted();
      await work();
    });
    return untilAborted(step, signal);
  }
}

function tooMany(): ToolClientError {
  return new ToolClientError(
    `This session asks for changes of ${MAX_SUBSCRIPTIONS} resources already: unsubscribe from some of them.`,
  );
}

/** Milliseconds between two events of the same change. */
const PAUSE = 100;

/** Tells at once what was not told for a while, and what is said meanwhile at its end, once. */
export class Changes {
  readonly #onEvent: (event: ResourceEvent) => void;
  /** What was told in this while, and what is to be told at its end. */
  #told = new Map<string, ResourceEvent | undefined>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onEvent: (event: ResourceEvent) => void) {
    this.#onEvent = onEvent;
  }

  tell(event: ResourceEvent): void {
    const key = keyOf(event);
    if (this.#told.has(key)) {
      this.#told.set(key, event);
      return;
    }
    this.#told.set(key, undefined);
    this.#wait();
    this.#onEvent(event);
  }

  /** Tells nothing more of what was said so far. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#told.clear();
  }

  #wait(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#over(), PAUSE);
    // Nobody's process lives on for this.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #over(): void {
    this.#timer = undefined;
    const told = this.#told;
    this.#told = new Map();
    for (const event of told.values()) if (event !== undefined) this.tell(event);
  }
}

/** The same for what a host cannot tell apart. */
function keyOf(event: ResourceEvent): string {
  return JSON.stringify([event.kind === "updated" ? event.uri : null, event.scope ?? null]);
}

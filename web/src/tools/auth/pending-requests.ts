/**
 * Requests for consent until they are answered, in a store that several processes may share.
 * @module
 */
import { sha256 } from "#hash";
import { generateRandomState } from "oauth4webapi";
import { z } from "zod";
import type { Clock } from "../../artifacts/store.js";
import { untilAborted } from "../../core/abort.js";
import { wrong } from "../errors.js";
import { KeyedQueue } from "../../core/keyed-work.js";
import { ownerKey, tokenKey, type TokenOwner } from "./token-store.js";

/** Seconds that a person has to answer. */
const REQUEST_LIFETIME = 10 * 60;

/** Seconds that `forget` is remembered. Longer than any earlier request lasts. */
const REMEMBERED = 2 * REQUEST_LIFETIME;

/** Maximum number of pending requests of one user for one provider. */
const MAX_PENDING_EACH = 16;

/** What is needed when the answer arrives. */
export interface PendingRequest {
  readonly owner: TokenOwner;
  readonly trace_id: string | null;
  readonly provider: string;
  /** The issuer and the client. The code is sent to no other. */
  readonly identity: string;
  /** The PKCE code verifier. */
  readonly verifier: string;
}

/** A request that was taken from the store. */
export interface TakenRequest extends PendingRequest {
  /** Random, and changed by each `forget`. Null if there was none recently. */
  readonly generation: string | null;
}

/** A request in the store. */
interface NotedRequest extends TakenRequest {
  /** Its key, to detect mix-ups of the store. */
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** The format of `generateRandomState` and `generateRandomCodeVerifier`. */
const RANDOM = /^[\w-]{43}$/;

/** The schema of a stored request. */
const NOTED: z.ZodType<NotedRequest> = z.object({
  owner: z.object({ tenant_id: z.string().nullable(), user_id: z.string().min(1) }),
  trace_id: z.string().nullable(),
  provider: z.string(),
  identity: z.string(),
  verifier: z.string().regex(RANDOM),
  generation: z.string().nullable(),
  state: z.string(),
  until: z.number(),
});

/**
 * Requests by state, in a store that processes may share. Each can be taken once, within ten minutes.
 *
 * ```
 * <state>                        the request
 * asked:<owner and provider>     the states of the user's latest requests, to drop the oldest
 * forgotten:<owner and provider> changed by `forget`: earlier requests hold another value
 * ```
 *
 * Throws errors of the store. When a signal is aborted, its reason is thrown, and the next request for the same user
 * and provider proceeds even if the store never answers.
 */
export class PendingRequests {
  readonly #store: OAuthStateStore;
  readonly #clock: Clock;
  readonly #turns = new KeyedQueue();

  constructor(store: OAuthStateStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Adds a request. `state` must be new and unguessable, as from `generateRandomState`. */
  async add(state: string, request: PendingRequest, signal?: AbortSignal): Promise<void> {
    const key = await hashKey(request);
    await this.#turns.take(key, async () => {
      const generation = await this.#generation(key, signal);
      const asked = await awaitStore(() => this.#store.loadOAuthState(`asked:${key}`), signal);
      const states = [...readStates(asked), state];
      const latest = states.slice(-MAX_PENDING_EACH);
      const noted: NotedRequest = { ...request, state, generation, until: this.#clock() + REQUEST_LIFETIME * 1000 };
      await awaitStore(() => this.#store.saveOAuthState(`asked:${key}`, { states: latest }, REQUEST_LIFETIME), signal);
      await awaitStore(() => this.#store.saveOAuthState(state, noted, REQUEST_LIFETIME), signal);
      for (const oldest of states.slice(0, -MAX_PENDING_EACH)) {
        await awaitStore(() => this.#store.takeOAuthState(oldest), signal);
      }
    });
  }

  /** Returns the request and keeps it. Null if it is unknown, used, expired or damaged. */
  async look(state: string, signal?: AbortSignal): Promise<TakenRequest | null> {
    return this.#request(state, () => this.#store.loadOAuthState(state), signal);
  }

  /** Like `look`, and removes it. Only one of several concurrent callers gets it. */
  async take(state: string, signal?: AbortSignal): Promise<TakenRequest | null> {
    return this.#request(state, () => this.#store.takeOAuthState(state), signal);
  }

  /** Whether `forget` was called since the request started. */
  async isForgotten(request: TakenRequest, signal?: AbortSignal): Promise<boolean> {
    const generation = await this.#generation(await hashKey(request), signal);
    return generation !== null && generation !== request.generation;
  }

  /** Invalidates the pending requests of a user for a provider, in all processes. */
  async forget(owner: TokenOwner, provider: string, signal?: AbortSignal): Promise<void> {
    await this.#renew(await hashKey({ owner, provider }), signal);
  }

  async #request(
    state: string,
    found: () => Promise<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<TakenRequest | null> {
    // The state comes from outside, and must not name any other key.
    if (!RANDOM.test(state)) return null;
    const { data: noted } = NOTED.safeParse(await awaitStore(found, signal), { jitless: true });
    return noted?.state === state && this.#clock() < noted.until ? noted : null;
  }

  async #generation(key: string, signal: AbortSignal | undefined): Promise<string | null> {
    const kept = (await awaitStore(() => this.#store.loadOAuthState(`forgotten:${key}`), signal)) ?? null;
    // A damaged value cannot be compared, so all earlier requests become invalid.
    return kept === null || (typeof kept === "string" && RANDOM.test(kept)) ? kept : this.#renew(key, signal);
  }

  async #renew(key: string, signal: AbortSignal | undefined): Promise<string> {
    const generation = generateRandomState();
    await awaitStore(() => this.#store.saveOAuthState(`forgotten:${key}`, generation, REMEMBERED), signal);
    return generation;
  }
}

/** Waits for the store until the signal is aborted. */
async function awaitStore<T>(request: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  return untilAborted(request(), signal);
}

/** A hash, so that keys stay short. */
function hashKey({ owner, provider }: Pick<PendingRequest, "owner" | "provider">): Promise<string> {
  return sha256.whole(new TextEncoder().encode(tokenKey(ownerKey(owner), provider)));
}

/** The states in a stored list. Empty if it is damaged. */
function readStates(value: unknown): readonly string[] {
  const { states } = (value ?? {}) as { readonly states?: unknown };
  if (!Array.isArray(states)) return [];
  return states.filter((state): state is string => typeof state === "string" && RANDOM.test(state));
}

/**
 * Stores requests for consent until they are answered. Every state store implements this; a store of your own needs
 * only these three methods.
 *
 * `state` is an unguessable string of 1 to 1,024 UTF-16 units with any characters. Everything may be secret.
 *
 * Errors of the store are thrown to the caller. A method that does not settle within a minute counts as failed: the
 * next call for the same user and provider proceeds, and the first one may still take effect later.
 */
export interface OAuthStateStore {
  /**
   * Stores a payload for some seconds, replacing an earlier one.
   *
   * @param payload JSON.
   * @param seconds above 0. The store may keep it for less.
   */
  saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void>;
  /** Returns the payload, or null if there is none or it has expired. */
  loadOAuthState(state: string): Promise<unknown>;
  /** Like {@link loadOAuthState}, and deletes it. Only one of several concurrent callers, in all processes, gets it. */
  takeOAuthState(state: string): Promise<unknown>;
}

const METHODS = ["saveOAuthState", "loadOAuthState", "takeOAuthState"] as const;

/** Checks a host's store. Throws a ToolNodeError E_TOOL_CONFIG if a method is missing. */
export function checkStateStore(store: OAuthStateStore): OAuthStateStore {
  const methods = store as Partial<OAuthStateStore> | null;
  const missing = METHODS.find((name) => typeof methods?.[name] !== "function");
  if (missing === undefined) return store;
  throw wrong(`stateStore has no ${missing}: give the OAuthManager a store with ${METHODS.join(", ")}, or none.`);
}

/** Maximum number of entries: 10,000 requests, and one entry for each user that is asked. */
const MAX_KEPT = 20_000;

interface Entry {
  readonly payload: unknown;
  readonly until: number;
}

/** States in memory. The oldest are dropped first. */
export class MemoryOAuthStates implements OAuthStateStore {
  readonly #clock: Clock;
  readonly #mostKept: number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock, mostKept: number = MAX_KEPT) {
    this.#clock = clock;
    this.#mostKept = mostKept;
  }

  async saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void> {
    const now = this.#clock();
    this.#entries.delete(state);
    this.#entries.set(state, { payload, until: now + seconds * 1000 });
    for (const [oldest, { until }] of this.#entries) {
      if (now < until && this.#entries.size <= this.#mostKept) return;
      this.#entries.delete(oldest);
    }
  }

  async loadOAuthState(state: string): Promise<unknown> {
    return this.#findKept(state);
  }

  async takeOAuthState(state: string): Promise<unknown> {
    const payload = this.#findKept(state);
    this.#entries.delete(state);
    return payload;
  }

  #findKept(state: string): unknown {
    const entry = this.#entries.get(state);
    return entry !== undefined && this.#clock() < entry.until ? entry.payload : null;
  }
}

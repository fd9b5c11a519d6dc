/**
 * Requests for consent that a person has not answered yet, in a store that others may have written to.
 * @module
 */
import { sha256 } from "#hash";
import { generateRandomState } from "oauth4webapi";
import { z } from "zod";
import type { Clock } from "../../artifacts/store.js";
import { untilAborted } from "../../core/abort.js";
import type { OAuthStateStore } from "./oauth-state-store.js";
import { ownerKey, type TokenOwner } from "./owner.js";
import { tokenKey } from "./token-store.js";
import { Turns } from "./turns.js";

/** How long a person may take, in seconds. */
const PATIENCE = 10 * 60;

/** How long it is known that a user forgot, in seconds: longer than anything waits that was asked before. */
const REMEMBERED = 2 * PATIENCE;

/** Most requests at a time of one user for one provider. */
const MAX_PENDING_EACH = 16;

/** What has to be known when the answer comes. */
export interface PendingRequest {
  readonly owner: TokenOwner;
  readonly trace_id: string | null;
  readonly provider: string;
  /** Who was asked, for which client: the code goes to no others. */
  readonly identity: string;
  /** The secret half of the PKCE challenge. */
  readonly verifier: string;
}

/** One that was taken: what held when it began. */
export interface TakenRequest extends PendingRequest {
  /** Random, and another after each `forget`; null where there was none of late. */
  readonly generation: string | null;
}

/** A request in a store. */
interface NotedRequest extends TakenRequest {
  /** By which it is kept: what a store mixed up is not taken for another's answer. */
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** As `generateRandomState` and `generateRandomCodeVerifier` make them. */
const RANDOM = /^[\w-]{43}$/;

/** A request as it comes back from a store, whole. */
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
 * Requests by state, in a store that processes may share. Each is given out once, within ten minutes.
 *
 * ```
 * <state>                        the request
 * asked:<owner and provider>     the states of that user's latest requests: what is too many goes
 * forgotten:<owner and provider> what came into being with the last `forget`: a request that began before knows another
 * ```
 *
 * Errors are those of the store. A signal says that nobody waits any more: then its reason is thrown, and who comes next for the
 * same user and provider has their turn, though the store may never answer.
 */
export class PendingRequests {
  readonly #store: OAuthStateStore;
  readonly #clock: Clock;
  readonly #turns = new Turns();

  constructor(store: OAuthStateStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** `state` is unguessable and new: `generateRandomState` gives one. */
  async add(state: string, request: PendingRequest, signal?: AbortSignal): Promise<void> {
    const key = await keyOf(request);
    await this.#turns.take(key, async () => {
      const generation = await this.#generation(key, signal);
      const asked = await told(() => this.#store.loadOAuthState(`asked:${key}`), signal);
      const states = [...statesOf(asked), state];
      const latest = states.slice(-MAX_PENDING_EACH);
      const noted: NotedRequest = { ...request, state, generation, until: this.#clock() + PATIENCE * 1000 };
      await told(() => this.#store.saveOAuthState(`asked:${key}`, { states: latest }, PATIENCE), signal);
      await told(() => this.#store.saveOAuthState(state, noted, PATIENCE), signal);
      for (const oldest of states.slice(0, -MAX_PENDING_EACH)) {
        await told(() => this.#store.takeOAuthState(oldest), signal);
      }
    });
  }

  /** The request, which stays; null for a state that is unknown, used or too old, and for what is damaged. */
  async look(state: string, signal?: AbortSignal): Promise<TakenRequest | null> {
    return this.#request(state, () => this.#store.loadOAuthState(state), signal);
  }

  /** As `look`, and it is gone: of many who take it one gets it. */
  async take(state: string, signal?: AbortSignal): Promise<TakenRequest | null> {
    return this.#request(state, () => this.#store.takeOAuthState(state), signal);
  }

  /** Whether the user has forgotten the provider since they were asked. */
  async isForgotten(request: TakenRequest, signal?: AbortSignal): Promise<boolean> {
    const generation = await this.#generation(await keyOf(request), signal);
    return generation !== null && generation !== request.generation;
  }

  /** Lets what one user was asked for at one provider be forgotten, in whichever process that was. */
  async forget(owner: TokenOwner, provider: string, signal?: AbortSignal): Promise<void> {
    await this.#renewed(await keyOf({ owner, provider }), signal);
  }

  async #request(
    state: string,
    found: () => Promise<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<TakenRequest | null> {
    // Whoever answers says the state: it must not name anything but a request.
    if (!RANDOM.test(state)) return null;
    const { data: noted } = NOTED.safeParse(await told(found, signal), { jitless: true });
    return noted?.state === state && this.#clock() < noted.until ? noted : null;
  }

  async #generation(key: string, signal: AbortSignal | undefined): Promise<string | null> {
    const kept = (await told(() => this.#store.loadOAuthState(`forgotten:${key}`), signal)) ?? null;
    // One that is damaged could be any: nothing that began before can be told from what was forgotten.
    return kept === null || (typeof kept === "string" && RANDOM.test(kept)) ? kept : this.#renewed(key, signal);
  }

  async #renewed(key: string, signal: AbortSignal | undefined): Promise<string> {
    const generation = generateRandomState();
    await told(() => this.#store.saveOAuthState(`forgotten:${key}`, generation, REMEMBERED), signal);
    return generation;
  }
}

/** What a store says, unless nobody waits for it any more. */
async function told<T>(asking: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  return untilAborted(asking(), signal);
}

/** Short, whatever is in the names. */
function keyOf({ owner, provider }: Pick<PendingRequest, "owner" | "provider">): Promise<string> {
  return sha256.whole(new TextEncoder().encode(tokenKey(ownerKey(owner), provider)));
}

/** The states in a list of them; none where it is damaged. */
function statesOf(value: unknown): readonly string[] {
  const { states } = (value ?? {}) as { readonly states?: unknown };
  if (!Array.isArray(states)) return [];
  return states.filter((state): state is string => typeof state === "string" && RANDOM.test(state));
}

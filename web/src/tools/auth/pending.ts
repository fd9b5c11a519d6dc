/**
 * Requests for consent that a person has not answered yet.
 * @module
 */
import { sha256 } from "#hash";
import { generateRandomState } from "oauth4webapi";
import type { Clock } from "../../artifacts/store.js";
import type { OAuthStateStore } from "./oauth-state-store.js";
import { ownerKey, type TokenOwner } from "./owner.js";
import {
  isOurs,
  isPendingRequest,
  statesOf,
  type NotedRequest,
  type PendingRequest,
  type TakenRequest,
} from "./pending-request.js";
import { tokenKey } from "./token-store.js";
import { Turns } from "./turns.js";

/** How long a person may take, in seconds. */
const PATIENCE = 10 * 60;

/** How long it is known that a user forgot, in seconds: longer than anything waits that was asked before. */
const REMEMBERED = 2 * PATIENCE;

/** Most requests at a time of one user for one provider. */
const MAX_PENDING_EACH = 16;

/**
 * Requests by state, in a store that processes may share. Each is given out once, within ten minutes.
 *
 * ```
 * <state>                        the request
 * asked:<owner and provider>     the states of that user's latest requests: what is too many goes
 * forgotten:<owner and provider> what came into being with the last `forget`: a request that began before knows another
 * ```
 *
 * Errors are those of the store.
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
  async add(state: string, request: PendingRequest): Promise<void> {
    const key = await keyOf(request);
    await this.#turns.take(key, async () => {
      const generation = await this.#generation(key);
      const states = [...statesOf(await this.#store.loadOAuthState(`asked:${key}`)), state];
      const latest = states.slice(-MAX_PENDING_EACH);
      const noted: NotedRequest = { ...request, state, generation, until: this.#clock() + PATIENCE * 1000 };
      await this.#store.saveOAuthState(`asked:${key}`, { states: latest }, PATIENCE);
      await this.#store.saveOAuthState(state, noted, PATIENCE);
      for (const oldest of states.slice(0, -MAX_PENDING_EACH)) await this.#store.takeOAuthState(oldest);
    });
  }

  /** The request, once; null for a state that is unknown, used or too old, and for what is damaged. */
  async take(state: string): Promise<TakenRequest | null> {
    // Whoever answers says the state: it must not name anything but a request.
    if (!isOurs(state)) return null;
    const noted = await this.#store.takeOAuthState(state);
    return isPendingRequest(noted, state) && this.#clock() < noted.until ? noted : null;
  }

  /** Whether the user has forgotten the provider since they were asked. */
  async isForgotten(request: TakenRequest): Promise<boolean> {
    const generation = await this.#generation(await keyOf(request));
    return generation !== null && generation !== request.generation;
  }

  /** Lets what one user was asked for at one provider be forgotten, in whichever process that was. */
  async forget(owner: TokenOwner, provider: string): Promise<void> {
    await this.#renewed(await keyOf({ owner, provider }));
  }

  async #generation(key: string): Promise<string | null> {
    const kept = (await this.#store.loadOAuthState(`forgotten:${key}`)) ?? null;
    // One that is damaged could be any: nothing that began before can be told from what was forgotten.
    return kept === null || (typeof kept === "string" && isOurs(kept)) ? kept : this.#renewed(key);
  }

  async #renewed(key: string): Promise<string> {
    const generation = generateRandomState();
    await this.#store.saveOAuthState(`forgotten:${key}`, generation, REMEMBERED);
    return generation;
  }
}

/** Short, whatever is in the names. */
function keyOf({ owner, provider }: Pick<PendingRequest, "owner" | "provider">): Promise<string> {
  return sha256.whole(new TextEncoder().encode(tokenKey(ownerKey(owner), provider)));
}

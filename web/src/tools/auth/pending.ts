/**
 * Requests for consent that a person has not answered yet.
 * @module
 */
import { sha256 } from "#hash";
import { generateRandomState } from "oauth4webapi";
import type { Clock } from "../../artifacts/store.js";
import { untilAborted } from "../../core/abort.js";
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
    if (!isOurs(state)) return null;
    const noted = await told(found, signal);
    return isPendingRequest(noted, state) && this.#clock() < noted.until ? noted : null;
  }

  async #generation(key: string, signal: AbortSignal | undefined): Promise<string | null> {
    const kept = (await told(() => this.#store.loadOAuthState(`forgotten:${key}`), signal)) ?? null;
    // One that is damaged could be any: nothing that began before can be told from what was forgotten.
    return kept === null || (typeof kept === "string" && isOurs(kept)) ? kept : this.#renewed(key, signal);
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

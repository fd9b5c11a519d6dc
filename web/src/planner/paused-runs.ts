/**
 * Where a planner keeps its runs that wait, whatever the host's store can do.
 * @module
 */
import { MemoryStateStore } from "./memory-state-store.js";
import type { HostStateStore, Released, StateStore } from "./state-store.js";

/** What a planner needs of a state store. */
export type PausedRuns = Pick<
  StateStore,
  "savePlannerState" | "loadPlannerState" | "claimPlannerState" | "releasePlannerState"
> &
  Partial<Pick<StateStore, "updatePlannerState">>;

type Plain = Pick<StateStore, "savePlannerState" | "loadPlannerState">;

/** The host's store, or what stands in for it where it cannot keep runs. */
export function pausedRuns(store: HostStateStore | undefined): PausedRuns {
  if (!has(store, "savePlannerState") || !has(store, "loadPlannerState")) return new MemoryStateStore();
  const canClaim = has(store, "claimPlannerState") && has(store, "releasePlannerState");
  return canClaim ? (store as PausedRuns) : new TakenRuns(store as Plain);
}

function has(store: HostStateStore | undefined, name: keyof PausedRuns): boolean {
  return typeof store?.[name] === "function";
}

/** A run as it is while somebody in this process goes on with it. */
interface Taken {
  readonly owner: string;
  payload: unknown;
}

/**
 * Claims for a store that knows none: who claims a run takes it out of the store, and puts it back if it is to wait again. No
 * lease ends such a claim, and a run whose process dies is lost: better than one that goes on twice.
 */
class TakenRuns implements PausedRuns {
  readonly #store: Plain;
  readonly #taken = new Map<string, Taken>();

  constructor(store: Plain) {
    this.#store = store;
  }

  savePlannerState(token: string, payload: unknown): Promise<void> {
    return this.#store.savePlannerState(token, payload);
  }

  loadPlannerState(token: string): Promise<unknown> {
    return this.#store.loadPlannerState(token);
  }

  async claimPlannerState(token: string, owner: string): Promise<boolean> {
    const before = this.#taken.get(token);
    if (before !== undefined) return before.owner === owner;
    const taken: Taken = { owner, payload: null };
    this.#taken.set(token, taken);
    let isTaken = false;
    try {
      taken.payload = (await this.#store.loadPlannerState(token)) ?? null;
      if (taken.payload !== null) await this.#store.savePlannerState(token, null);
      isTaken = taken.payload !== null;
    } finally {
      if (!isTaken) this.#taken.delete(token);
    }
    return isTaken;
  }

  async releasePlannerState(token: string, owner: string, then: Released): Promise<boolean> {
    const taken = this.#taken.get(token);
    if (taken?.owner !== owner) return false;
    try {
      if (then === "wait") await this.#store.savePlannerState(token, taken.payload);
    } finally {
      this.#taken.delete(token);
    }
    return true;
  }
}

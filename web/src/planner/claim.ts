/**
 * A claim on something stored, which one process has at a time. If that process dies, others may have it.
 * @module
 */
import { onAbort, untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import type { StateStore } from "./state-store.js";

/** The part of a state store that claims need. Without `updatePlannerState` a claim cannot save. */
export type ClaimStore = Pick<StateStore, "loadPlannerState" | "claimPlannerState" | "releasePlannerState"> &
  Partial<Pick<StateStore, "updatePlannerState">>;

/** Renewals of a claim per lease: two may fail. */
const RENEWALS = 4;

/** A claim on what is stored under a token, by an owner with a unique name. */
export class Claim {
  readonly #store: ClaimStore;
  readonly #token: string;
  readonly #leaseSeconds: number;
  readonly #owner: string = crypto.randomUUID();
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  #renewing: Promise<void> = Promise.resolve();
  /** When the lease ends, by `performance.now()`. */
  #holdsUntil = 0;

  /** `leaseSeconds`: after which others may have it if this process dies. */
  constructor(store: ClaimStore, token: string, leaseSeconds: number) {
    this.#store = store;
    this.#token = token;
    this.#leaseSeconds = leaseSeconds;
  }

  /** Aborted with the error E_NOT_FOUND when the claim is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Claims it, and renews the claim until `end`. Returns false if nothing is stored, or others have it. */
  async take(): Promise<boolean> {
    if (!(await this.#renew())) return false;
    this.#renewing = this.#keep();
    return true;
  }

  /** Stores the current state. Throws SluiceError E_NOT_FOUND if the claim was lost; E_STORE_…, E_TOO_LARGE. */
  async save(payload: unknown): Promise<void> {
    const saveState = (): Promise<boolean> =>
      this.#store.updatePlannerState?.(this.#token, this.#owner, payload) ?? Promise.resolve(false);
    // After a machine slept the lease may be over, and the claim be ours all the same.
    if ((await saveState()) || ((await this.#renew()) && (await saveState()))) return;
    throw this.lose();
  }

  /**
   * Makes sure of the claim: a process that was stopped for longer than its lease may find that others went on. Throws
   * SluiceError E_NOT_FOUND if the claim was lost; E_STORE_….
   */
  async confirm(): Promise<void> {
    const isHeld = performance.now() < this.#holdsUntil ? await this.#isHeld() : await this.#renew();
    if (!isHeld) throw this.lose();
  }

  /** Aborts `lost`, and returns its reason. */
  lose(): SluiceError {
    this.#lost.abort(claimLost());
    return this.#lost.signal.reason as SluiceError;
  }

  /** Ends the renewals. Waits for one under way: after a release it would claim again. Does not throw. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#renewing;
  }

  /** Lets others have it. If that fails it is free when the lease ends. Throws SluiceError E_STORE_…. */
  async giveBack(): Promise<void> {
    await this.end();
    await this.#store.releasePlannerState(this.#token, this.#owner, "wait");
  }

  /** Deletes it. Throws SluiceError E_NOT_FOUND if others have it; E_STORE_…. */
  async forget(): Promise<void> {
    await this.end();
    // After a machine slept the lease may be over, and the claim be ours all the same.
    if (!(await this.#renew())) throw claimLost();
    let failure: unknown;
    try {
      if (await this.#store.releasePlannerState(this.#token, this.#owner, "forget")) return;
      failure = claimLost();
    } catch (error) {
      failure = error;
    }
    // The store may have done it and only its answer be lost, also that to a second attempt. No other owner can have
    // done it while the lease holds.
    const isGone = (await this.#store.loadPlannerState(this.#token)) == null;
    if (!isGone || performance.now() >= this.#holdsUntil) throw failure;
  }

  /** Renews the claim. False if another owner has it. */
  async #renew(): Promise<boolean> {
    const asked = performance.now();
    if (!(await this.#store.claimPlannerState(this.#token, this.#owner, this.#leaseSeconds))) return false;
    this.#holdsUntil = asked + this.#leaseSeconds * 1000;
    return true;
  }

  /** Renews the claim until it ends or is lost. */
  async #keep(): Promise<void> {
    const { signal } = this.#ended;
    const pause = (this.#leaseSeconds * 1000) / RENEWALS;
    for (;;) {
      await waitFor(pause, signal);
      if (signal.aborted) return;
      if (await this.#isHeld()) continue;
      this.lose();
      return;
    }
  }

  /** Renews the claim. A failing store is asked again as long as the lease holds. */
  async #isHeld(): Promise<boolean> {
    const most = Math.max(0, this.#holdsUntil - performance.now());
    try {
      return await untilLate(() => this.#renew(), { most, late: claimLost, signal: undefined });
    } catch {
      return performance.now() < this.#holdsUntil;
    }
  }
}

/** Waits for so many milliseconds or the signal. Renewals alone do not keep a process alive. */
async function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let forget: (() => void) | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
    (timer as { readonly unref?: () => void }).unref?.();
    forget = onAbort(signal, resolve);
  });
  clearTimeout(timer);
  forget?.();
}

function claimLost(): SluiceError {
  return new SluiceError(
    "E_NOT_FOUND",
    "This process lost the run: its state was deleted, or another process took it over.",
  );
}

/**
 * Going on with a run that waited, as the only one who does.
 * @module
 */
import { onAbort, untilAborted, untilEither, untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import type { PausedRuns } from "./paused-runs.js";
import { noSuchRun } from "./run-state.js";
import type { Released } from "./state-store.js";

/** Which run is gone on with. */
export interface Claiming {
  readonly runs: PausedRuns;
  readonly token: string;
  /** Seconds after which others may go on with it, where this process dies. */
  readonly leaseSeconds: number;
}

/** A claim is renewed so often within one lease: two renewals may fail. */
const RENEWALS = 4;

/** A run that is claimed. */
export interface Held {
  /** Aborted as the caller's is, and when the claim is lost. */
  readonly signal: AbortSignal;
  /** Keeps the run as it is by now. Throws SluiceError E_NOT_FOUND where the claim was lost; E_STORE_…, E_TOO_LARGE. */
  readonly save: (payload: unknown) => Promise<void>;
}

/**
 * Claims a run, works, and forgets it, unless what came of it says that it waits. The claim is renewed as long as the work goes
 * on. Where the work fails the run waits again, as it was saved last.
 *
 * @throws SluiceError E_NOT_FOUND where there is no such run, somebody else goes on with it, or the claim was lost: then the work's
 * signal is aborted, and nothing may come of it. What the work throws; E_STORE_….
 */
export async function claimed<T>(
  claiming: Claiming,
  signal: AbortSignal | undefined,
  work: (held: Held) => Promise<T>,
  endOf: (outcome: T) => Released = () => "forget",
): Promise<T> {
  const claim = new Claim(claiming);
  if (!(await claim.renew())) throw noSuchRun();
  const renewing = claim.keep();
  const save = (payload: unknown): Promise<void> => claim.save(payload);
  let outcome: T;
  try {
    outcome = await untilEither([signal, claim.lost], (either) =>
      untilAborted(work({ signal: either, save }), claim.lost),
    );
  } catch (error) {
    await claim.end(renewing);
    await claim.giveBack();
    throw error;
  }
  await claim.end(renewing);
  if (endOf(outcome) === "wait") await claim.giveBack();
  else await claim.forget();
  return outcome;
}

class Claim {
  readonly owner: string = crypto.randomUUID();
  readonly #claiming: Claiming;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  /** When others may claim it, by `performance.now()`. */
  #holdsUntil = 0;

  constructor(claiming: Claiming) {
    this.#claiming = claiming;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** False where somebody else has it. */
  async renew(): Promise<boolean> {
    const { runs, token, leaseSeconds } = this.#claiming;
    const asked = performance.now();
    if (!(await runs.claimPlannerState(token, this.owner, leaseSeconds))) return false;
    this.#holdsUntil = asked + leaseSeconds * 1000;
    return true;
  }

  /** Renews it until it is ended or lost. */
  async keep(): Promise<void> {
    const { signal } = this.#ended;
    const pause = (this.#claiming.leaseSeconds * 1000) / RENEWALS;
    for (;;) {
      await passed(pause, signal);
      if (signal.aborted) return;
      if (await this.#isHeld()) continue;
      this.#lost.abort(claimLost());
      return;
    }
  }

  /** Waits for a renewal that is under way: behind the release it would claim the run anew. */
  async end(renewing: Promise<void>): Promise<void> {
    this.#ended.abort();
    await renewing;
  }

  async save(payload: unknown): Promise<void> {
    const { runs, token } = this.#claiming;
    const saved = (): Promise<boolean> =>
      runs.updatePlannerState?.(token, this.owner, payload) ?? Promise.resolve(false);
    // After a machine slept the lease may be over, and the run be ours all the same.
    if ((await saved()) || ((await this.renew()) && (await saved()))) return;
    throw claimLost();
  }

  /** Lets others go on. Where that fails they can when the lease is over. */
  async giveBack(): Promise<void> {
    const { runs, token } = this.#claiming;
    await runs.releasePlannerState(token, this.owner, "wait").catch(() => false);
  }

  /** Forgets the run. Throws where somebody else has it, or it cannot be forgotten. */
  async forget(): Promise<void> {
    const { runs, token } = this.#claiming;
    // After a machine slept the lease may be over, and the run be ours all the same.
    if (!(await this.renew())) throw claimLost();
    let failure: unknown;
    try {
      if (await runs.releasePlannerState(token, this.owner, "forget")) return;
      failure = claimLost();
    } catch (error) {
      failure = error;
    }
    // The store may have done it, and only its answer be lost, or that to a second attempt: nobody else can, while the lease holds.
    const isGone = (await runs.loadPlannerState(token)) == null;
    if (!isGone || performance.now() >= this.#holdsUntil) throw failure;
  }

  /** A store that fails is asked again, as long as the lease holds. */
  async #isHeld(): Promise<boolean> {
    const most = Math.max(0, this.#holdsUntil - performance.now());
    try {
      return await untilLate(() => this.renew(), { most, late: claimLost, signal: undefined });
    } catch {
      return performance.now() < this.#holdsUntil;
    }
  }
}

/** Waits so many milliseconds, or until the signal is aborted. */
async function passed(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let forget: (() => void) | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
    forget = onAbort(signal, resolve);
  });
  clearTimeout(timer);
  forget?.();
}

function claimLost(): SluiceError {
  return new SluiceError(
    "E_NOT_FOUND",
    "The run is not ours any more: its state was not there when the claim was renewed, or others go on with it.",
  );
}

/**
 * Where runs are kept, and by whom they are gone on with: one at a time, in whichever process.
 * @module
 */
import { scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { onAbort, untilAborted, untilEither, untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import { MemoryStateStore, leaseOf, type HostStateStore, type AfterRelease, type StateStore } from "./state-store.js";
import type { ResumeOptions, RunOptions } from "./react-planner.js";
import {
  type PlannerPause,
  type PlannerResult,
  answered,
  isNamedRun,
  namedRun,
  type NamedRun,
  noSuchRun,
  type OpenStep,
  partsOf,
  type PausedRun,
  pausedRun,
  pauseOf,
  pauseToken,
  type RunState,
  type WaitingCall,
  withAnswer,
} from "./run-state.js";

/** What a run comes to, at least for now. */
export type RunOutcome = PlannerResult | PlannerPause;

/** A run that this process has. */
export interface Going {
  readonly run: RunState;
  /** A step whose calls are not all made; undefined between two steps. */
  readonly step: OpenStep | undefined;
  /** Whether another process may have begun the next step: what it told of that is not to be kept. */
  readonly isTakenOver: boolean;
  readonly keeping: RunKeeping;
  /** Aborted as the caller's is, and when the run is not ours any more. */
  readonly signal: AbortSignal | undefined;
}

type Work = (going: Going) => Promise<RunOutcome>;

/** What the token of a run with a name leads to. */
interface Found {
  readonly name: string;
  /** The pause that it answers; undefined where it is the run's own name. */
  readonly pause: string | undefined;
  readonly kept: NamedRun;
}

/**
 * Those of a planner. Runs with a name are kept from their beginning on: whichever process dies, another goes on behind the last
 * step that was done. Others are kept where they pause alone.
 */
export class KeptRuns {
  readonly #runs: PausedRuns;
  readonly #leaseSeconds: number;

  /** Throws SluiceError E_INVALID_ARGUMENT for a lease that is none. */
  constructor(store: HostStateStore | undefined, leaseSeconds: number) {
    leaseOf(leaseSeconds);
    this.#runs = pausedRuns(store);
    this.#leaseSeconds = leaseSeconds;
  }

  /**
   * Begins a run; with a `token` it is kept by that first.
   *
   * @throws SluiceError E_INVALID_ARGUMENT where a run has this name, or the store cannot keep what goes on; else as `Claim.hold`.
   */
  async begin(run: RunState, { token: name, scope = {}, signal }: RunOptions, work: Work): Promise<RunOutcome> {
    const runs = this.#runs;
    if (name === undefined) {
      return work({ run, step: undefined, isTakenOver: false, keeping: this.#keepingPauses(scope), signal });
    }
    if (runs.updatePlannerState === undefined) throw wrong("needs a state store that has updatePlannerState");
    if ((await runs.loadPlannerState(name)) != null) throw wrong("is that of a run that there is: give each its own");
    const kept: NamedRun = { version: 3, scope: scopeKey(scope), run, step: null, pause: null };
    await runs.savePlannerState(name, kept);
    return this.#claimOf(name).hold(signal, (held) => work(goingOf(name, kept, held, false)), "wait");
  }

  /** Goes on with the run that a token leads to. Throws as `Claim.hold`. */
  async goOn(token: string, options: ResumeOptions, work: Work): Promise<RunOutcome> {
    const kept = await this.#runs.loadPlannerState(token);
    const found = await this.#find(token, kept, options.scope);
    return found === undefined ? this.#resumed(token, kept, options, work) : this.#continued(found, options, work);
  }

  /** Undefined where the token leads to no run with a name. */
  async #find(token: string, kept: unknown, scope: ArtifactScope = {}): Promise<Found | undefined> {
    if (isNamedRun(kept)) return { name: token, pause: undefined, kept: namedRun(kept, scope, undefined) };
    const [name, pause] = (kept == null ? partsOf(token) : undefined) ?? [];
    if (name === undefined) return undefined;
    return { name, pause, kept: namedRun(await this.#runs.loadPlannerState(name), scope, pause) };
  }

  /** Goes on with a run that has a name; or gives its pause again, where it waits for an answer that nobody gives. */
  async #continued({ name, pause, kept }: Found, options: ResumeOptions, work: Work): Promise<RunOutcome> {
    const { scope = {}, signal } = options;
    // By the token of a pause it is answered, with null where nothing is said.
    const answer = pause === undefined ? options.answer : (options.answer ?? null);
    if (kept.pause !== null && answer === undefined) return pauseOf(name, kept.run, kept.pause);
    const goOn = async (held: Held): Promise<RunOutcome> => {
      // Others may have gone on with it before the claim.
      const current = namedRun(await this.#runs.loadPlannerState(name), scope, pause);
      if (current.pause === null) return work(goingOf(name, current, held, current.step === null));
      if (answer === undefined) return pauseOf(name, current.run, current.pause);
      const going = withAnswer(current, answer);
      await held.save(going);
      return work(goingOf(name, going, held, false));
    };
    return this.#claimOf(name).hold(signal, goOn, "wait");
  }

  /** Goes on with a run that is kept by the token of its pause alone. */
  async #resumed(
    token: string,
    kept: unknown,
    { scope = {}, answer, signal }: ResumeOptions,
    work: Work,
  ): Promise<RunOutcome> {
    const { run, step } = pausedRun(kept, scope);
    const resumed = { run, step: answered(step, answer ?? null), isTakenOver: false };
    const keeping = this.#keepingPauses(scope);
    let outcome: RunOutcome | undefined;
    const goOn = async (held: Held): Promise<RunOutcome> =>
      (outcome = await work({ ...resumed, keeping, signal: held.signal }));
    try {
      return await this.#claimOf(token).hold(signal, goOn, "forget");
    } catch (error) {
      // It waits by the old token, or others went on with it: there must not be two ways on.
      if (outcome?.kind === "pause")
        await this.#runs.savePlannerState(outcome.resumeToken, null).catch(() => undefined);
      throw error;
    }
  }

  #claimOf(token: string): Claim {
    return new Claim(this.#runs, token, this.#leaseSeconds);
  }

  /** Keeps a run where it waits, by a token of each pause. */
  #keepingPauses(scope: ArtifactScope): RunKeeping {
    return {
      paused: async (run, step, { at }) => {
        const token = crypto.randomUUID();
        const kept: PausedRun = { version: 2, scope: scopeKey(scope), run, step: { ...step, waiting: at } };
        await this.#runs.savePlannerState(token, kept);
        return token;
      },
    };
  }
}

function goingOf(name: string, { run, step, scope }: NamedRun, { save, signal }: Held, isTakenOver: boolean): Going {
  const keeping: RunKeeping = {
    between: (now) => save({ version: 3, scope, run: now, step: null, pause: null } satisfies NamedRun),
    paused: async (now, open, call) => {
      const pause = { ...call, id: crypto.randomUUID() };
      await save({ version: 3, scope, run: now, step: open, pause } satisfies NamedRun);
      return pauseToken(name, pause);
    },
  };
  return { run, step: step ?? undefined, isTakenOver, keeping, signal };
}

function wrong(what: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `The option token of a run ${what}.`, { path: "token" });
}

/** Keeps one run. */
export interface RunKeeping {
  /** Keeps it between two steps; undefined where it is kept only when it waits. Throws where others have it. */
  readonly between?: (run: RunState) => Promise<void>;
  /** Keeps it in a step of which a call waits. Gives the token by which that is answered. */
  readonly paused: (run: RunState, step: OpenStep, call: WaitingCall) => Promise<string>;
}

/** A claim is renewed so often within one lease: two renewals may fail. */
const RENEWALS = 4;

/** A run that is claimed. */
interface Held {
  /** Aborted as the caller's is, and when the claim is lost. */
  readonly signal: AbortSignal;
  /** Keeps the run as it is by now. Throws SluiceError E_NOT_FOUND where the claim was lost; E_STORE_…, E_TOO_LARGE. */
  readonly save: (payload: unknown) => Promise<void>;
}

/** A claim on a run, under a name that no other has. */
class Claim {
  readonly #runs: PausedRuns;
  readonly #token: string;
  readonly #leaseSeconds: number;
  readonly #owner: string = crypto.randomUUID();
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  /** When others may claim it, by `performance.now()`. */
  #holdsUntil = 0;

  /** `leaseSeconds`: after which others may go on with it, where this process dies. */
  constructor(runs: PausedRuns, token: string, leaseSeconds: number) {
    this.#runs = runs;
    this.#token = token;
    this.#leaseSeconds = leaseSeconds;
  }

  /**
   * Claims the run, works, and forgets it; `onPause` says what becomes of it where the work comes to a pause. The claim is renewed
   * as long as the work goes on. Where the work fails the run waits again, as it was saved last.
   *
   * @throws SluiceError E_NOT_FOUND where there is no such run, somebody else goes on with it, or the claim was lost: then the
   * work's signal is aborted, and nothing may come of it. What the work throws; E_STORE_….
   */
  async hold(
    signal: AbortSignal | undefined,
    work: (held: Held) => Promise<RunOutcome>,
    onPause: AfterRelease,
  ): Promise<RunOutcome> {
    if (!(await this.#renew())) throw noSuchRun();
    const renewing = this.#keep();
    const { signal: lost } = this.#lost;
    let outcome: RunOutcome;
    try {
      outcome = await untilEither([signal, lost], (either) =>
        untilAborted(work({ signal: either, save: (payload) => this.#save(payload) }), lost),
      );
    } catch (error) {
      await this.#end(renewing);
      await this.#giveBack();
      throw error;
    }
    await this.#end(renewing);
    if (outcome.kind === "pause" && onPause === "wait") await this.#giveBack();
    else await this.#forget();
    return outcome;
  }

  /** False where somebody else has it. */
  async #renew(): Promise<boolean> {
    const asked = performance.now();
    if (!(await this.#runs.claimPlannerState(this.#token, this.#owner, this.#leaseSeconds))) return false;
    this.#holdsUntil = asked + this.#leaseSeconds * 1000;
    return true;
  }

  /** Renews it until it is ended or lost. */
  async #keep(): Promise<void> {
    const { signal } = this.#ended;
    const pause = (this.#leaseSeconds * 1000) / RENEWALS;
    for (;;) {
      await passed(pause, signal);
      if (signal.aborted) return;
      if (await this.#isHeld()) continue;
      this.#lost.abort(claimLost());
      return;
    }
  }

  /** Waits for a renewal that is under way: behind the release it would claim the run anew. */
  async #end(renewing: Promise<void>): Promise<void> {
    this.#ended.abort();
    await renewing;
  }

  async #save(payload: unknown): Promise<void> {
    const saved = (): Promise<boolean> =>
      this.#runs.updatePlannerState?.(this.#token, this.#owner, payload) ?? Promise.resolve(false);
    // After a machine slept the lease may be over, and the run be ours all the same.
    if ((await saved()) || ((await this.#renew()) && (await saved()))) return;
    throw claimLost();
  }

  /** Lets others go on. Where that fails they can when the lease is over. */
  async #giveBack(): Promise<void> {
    await this.#runs.releasePlannerState(this.#token, this.#owner, "wait").catch(() => false);
  }

  /** Forgets the run. Throws where somebody else has it, or it cannot be forgotten. */
  async #forget(): Promise<void> {
    // After a machine slept the lease may be over, and the run be ours all the same.
    if (!(await this.#renew())) throw claimLost();
    let failure: unknown;
    try {
      if (await this.#runs.releasePlannerState(this.#token, this.#owner, "forget")) return;
      failure = claimLost();
    } catch (error) {
      failure = error;
    }
    // The store may have done it, and only its answer be lost, or that to a second attempt: nobody else can, while the lease holds.
    const isGone = (await this.#runs.loadPlannerState(this.#token)) == null;
    if (!isGone || performance.now() >= this.#holdsUntil) throw failure;
  }

  /** A store that fails is asked again, as long as the lease holds. */
  async #isHeld(): Promise<boolean> {
    const most = Math.max(0, this.#holdsUntil - performance.now());
    try {
      return await untilLate(() => this.#renew(), { most, late: claimLost, signal: undefined });
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

/** What a planner needs of a state store. */
type PausedRuns = Pick<
  StateStore,
  "savePlannerState" | "loadPlannerState" | "claimPlannerState" | "releasePlannerState"
> &
  Partial<Pick<StateStore, "updatePlannerState">>;

type Plain = Pick<StateStore, "savePlannerState" | "loadPlannerState">;

/** The host's store, or what stands in for it where it cannot keep runs. */
function pausedRuns(store: HostStateStore | undefined): PausedRuns {
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

  async releasePlannerState(token: string, owner: string, then: AfterRelease): Promise<boolean> {
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

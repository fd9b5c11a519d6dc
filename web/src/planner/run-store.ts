/**
 * Stores runs and their events, and leases each run to one process at a time.
 * @module
 */
import { scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { untilAborted, untilEither } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import { Claim, type ClaimStore } from "./claim.js";
import {
  MemoryStateStore,
  checkLease,
  type HostStateStore,
  type AfterRelease,
  type StateStore,
} from "./state-store.js";
import type { PlannerEvent } from "./event.js";
import type { ResumeOptions, RunOptions } from "./run-options.js";
import {
  type PlannerPause,
  type PlannerResult,
  answerStep,
  isNamedRun,
  readNamedRun,
  type NamedRun,
  noSuchRun,
  type OpenStep,
  splitToken,
  type PausedRun,
  readPausedRun,
  toPause,
  pauseToken,
  type RunState,
  type WaitingCall,
  withAnswer,
} from "./run-state.js";

/** A result, or a pause. */
export type RunOutcome = PlannerResult | PlannerPause;

/** A run that this process works on. */
export interface Going {
  readonly run: RunState;
  /** An unfinished step, or undefined between two steps. */
  readonly step: OpenStep | undefined;
  /** Whether another process may have started the next step, whose text is then void. */
  readonly isTakenOver: boolean;
  readonly keeping: RunKeeping;
  /** Aborted with the caller's signal, and when this process loses the run. */
  readonly signal: AbortSignal | undefined;
}

type Work = (going: Going) => Promise<RunOutcome>;

/** The run with a name that a token leads to. */
interface Found {
  readonly name: string;
  /** The pause that the token answers, or undefined for the run's own name. */
  readonly pause: string | undefined;
  readonly kept: NamedRun;
}

/**
 * The runs of a planner. A run with a name is stored from its beginning: if its process dies, another continues after
 * the last finished step. Other runs are only stored when they pause.
 */
export class KeptRuns {
  readonly #runs: PausedRuns;
  readonly #leaseSeconds: number;

  /** Throws SluiceError E_INVALID_ARGUMENT for a wrong lease. */
  constructor(store: HostStateStore | undefined, leaseSeconds: number) {
    checkLease(leaseSeconds);
    this.#runs = selectPausedRuns(store);
    this.#leaseSeconds = leaseSeconds;
  }

  /**
   * Starts a run, and stores it first if it has a `token`.
   *
   * @throws SluiceError E_INVALID_ARGUMENT if the name is taken, or the store cannot update runs; else as
   * `#hold`.
   */
  async begin(run: RunState, { token: name, scope = {}, signal }: RunOptions, work: Work): Promise<RunOutcome> {
    const runs = this.#runs;
    if (name === undefined) {
      return work({ run, step: undefined, isTakenOver: false, keeping: this.#keepingPauses(scope), signal });
    }
    if (runs.updatePlannerState === undefined) throw wrong("needs a state store with updatePlannerState");
    if ((await runs.loadPlannerState(name)) != null)
      throw wrong("is already used by another run: give each run its own");
    const kept: NamedRun = { version: 3, scope: scopeKey(scope), run, step: null, pause: null };
    await runs.savePlannerState(name, kept);
    return this.#hold(name, signal, (held) => work(createGoing(name, kept, held, false)), "wait");
  }

  /** Continues the run of a token. Throws as `#hold`. */
  async goOn(token: string, options: ResumeOptions, work: Work): Promise<RunOutcome> {
    const kept = await this.#runs.loadPlannerState(token);
    const found = await this.#find(token, kept, options.scope);
    return found === undefined ? this.#resume(token, kept, options, work) : this.#continue(found, options, work);
  }

  /** The run with a name of a token, if any. */
  async #find(token: string, kept: unknown, scope: ArtifactScope = {}): Promise<Found | undefined> {
    if (isNamedRun(kept)) return { name: token, pause: undefined, kept: readNamedRun(kept, scope, undefined) };
    const [name, pause] = (kept == null ? splitToken(token) : undefined) ?? [];
    if (name === undefined) return undefined;
    return { name, pause, kept: readNamedRun(await this.#runs.loadPlannerState(name), scope, pause) };
  }

  /** Continues a run with a name, or returns its pause again if there is no answer. */
  async #continue({ name, pause, kept }: Found, options: ResumeOptions, work: Work): Promise<RunOutcome> {
    const { scope = {}, signal } = options;
    // The token of a pause answers it, by default with null.
    const answer = pause === undefined ? options.answer : (options.answer ?? null);
    if (kept.pause !== null && answer === undefined) return toPause(name, kept.run, kept.pause);
    const goOn = async (held: Held): Promise<RunOutcome> => {
      // Others may have continued it before the claim.
      const current = readNamedRun(await this.#runs.loadPlannerState(name), scope, pause);
      if (current.pause === null) return work(createGoing(name, current, held, current.step === null));
      if (answer === undefined) return toPause(name, current.run, current.pause);
      const going = withAnswer(current, answer);
      await held.claim.save(going);
      return work(createGoing(name, going, held, false));
    };
    return this.#hold(name, signal, goOn, "wait");
  }

  /** Continues a run that is only stored under the token of its pause. */
  async #resume(
    token: string,
    kept: unknown,
    { scope = {}, answer, signal }: ResumeOptions,
    work: Work,
  ): Promise<RunOutcome> {
    const { run, step } = readPausedRun(kept, scope);
    const resumed = { run, step: answerStep(step, answer ?? null), isTakenOver: false };
    const keeping = this.#keepingPauses(scope);
    let outcome: RunOutcome | undefined;
    const goOn = async (held: Held): Promise<RunOutcome> =>
      (outcome = await work({ ...resumed, keeping, signal: held.signal }));
    try {
      return await this.#hold(token, signal, goOn, "forget");
    } catch (error) {
      // It waits by the old token, or others continued it: there must not be two ways to continue.
      if (outcome?.kind === "pause")
        await this.#runs.savePlannerState(outcome.resumeToken, null).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Claims a run, works, and deletes it. `onPause`: what to do with the run if the work pauses. If the work fails the
   * run waits again, as last stored.
   *
   * @throws SluiceError E_NOT_FOUND if there is no such run, others have it, or the claim was lost, which also aborts
   * the work's signal. What the work throws; E_STORE_….
   */
  async #hold(
    token: string,
    signal: AbortSignal | undefined,
    work: (held: Held) => Promise<RunOutcome>,
    onPause: AfterRelease,
  ): Promise<RunOutcome> {
    const claim = new Claim(this.#runs, token, this.#leaseSeconds);
    if (!(await claim.take())) throw noSuchRun();
    const { lost } = claim;
    // If that fails it is free when the lease ends.
    const giveBack = (): Promise<void> => claim.giveBack().catch(() => undefined);
    let outcome: RunOutcome;
    try {
      outcome = await untilEither([signal, lost], (either) => untilAborted(work({ claim, signal: either }), lost));
    } catch (error) {
      await giveBack();
      throw error;
    }
    if (outcome.kind === "pause" && onPause === "wait") await giveBack();
    else await claim.forget();
    return outcome;
  }

  /** Stores a run when it pauses, under a new token. */
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

function createGoing(
  name: string,
  { run, step, scope }: NamedRun,
  { claim, signal }: Held,
  isTakenOver: boolean,
): Going {
  const keeping: RunKeeping = {
    confirm: () => claim.confirm(),
    between: (now) => claim.save({ version: 3, scope, run: now, step: null, pause: null } satisfies NamedRun),
    paused: async (now, open, call) => {
      const pause = { ...call, id: crypto.randomUUID() };
      await claim.save({ version: 3, scope, run: now, step: open, pause } satisfies NamedRun);
      return pauseToken(name, pause);
    },
  };
  return { run, step: step ?? undefined, isTakenOver, keeping, signal };
}

function wrong(what: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `The option token of a run ${what}.`, { path: "token" });
}

/** Stores one run. */
export interface RunKeeping {
  /** Stores it between two steps. Undefined if it is only stored when it pauses. Throws if others have the run. */
  readonly between?: (run: RunState) => Promise<void>;
  /** Throws if others have the run: then nothing is to come of it here. Undefined if no other process can have it. */
  readonly confirm?: () => Promise<void>;
  /** Stores it in a step in which a call waits, and returns the token for the answer. */
  readonly paused: (run: RunState, step: OpenStep, call: WaitingCall) => Promise<string>;
}

/** A claimed run. */
interface Held {
  readonly claim: Claim;
  /** Aborted with the caller's signal, and when the claim is lost. */
  readonly signal: AbortSignal;
}

/** The part of a state store that a planner needs. */
type PausedRuns = ClaimStore & Pick<StateStore, "savePlannerState">;

type Plain = Pick<StateStore, "savePlannerState" | "loadPlannerState">;

/** The host's store, or a replacement for what it cannot do. */
function selectPausedRuns(store: HostStateStore | undefined): PausedRuns {
  if (!has(store, "savePlannerState") || !has(store, "loadPlannerState")) return new MemoryStateStore();
  const canClaim = has(store, "claimPlannerState") && has(store, "releasePlannerState");
  return canClaim ? (store as PausedRuns) : new TakenRuns(store as Plain);
}

function has(store: HostStateStore | undefined, name: keyof PausedRuns): boolean {
  return typeof store?.[name] === "function";
}

/** A run that this process took out of the store. */
interface Taken {
  readonly owner: string;
  payload: unknown;
}

/**
 * Adds claims to a store without them: claiming a run takes it out of the store, and releasing puts it back. Such a
 * claim has no lease, and a run whose process dies is lost: better than one that is continued twice.
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

/** Events that are worth nothing later, or contained in a later one. */
const FLEETING: ReadonlySet<PlannerEvent["kind"]> = new Set([
  "text",
  "text_discarded",
  "tool_progress",
  "tool_waiting",
  "chunk_emitted",
]);

/**
 * Stores the events of one run, in order. After a failure no more are stored: each would wait for a store that is
 * away.
 */
export class History {
  readonly #save: ((event: PlannerEvent) => Promise<void>) | undefined;
  readonly #onFailure: (error: SluiceError) => void;
  #last: Promise<void> = Promise.resolve();
  #hasFailed = false;

  /** Stores nothing if the store cannot, or the run has no trace. */
  constructor(
    store: HostStateStore | undefined,
    traceId: string | null | undefined,
    onFailure: (error: SluiceError) => void,
  ) {
    const save = store?.saveEvent?.bind(store);
    this.#save = save === undefined || traceId == null ? undefined : (event) => save(traceId, event);
    this.#onFailure = onFailure;
  }

  /** Stores an event after all earlier ones. */
  add(event: PlannerEvent): void {
    const save = this.#save;
    if (save === undefined || FLEETING.has(event.kind)) return;
    this.#last = this.#last
      .then(() => (this.#hasFailed ? undefined : save(event)))
      .catch((error: unknown) => this.#noteFailure(error));
  }

  /** Settles when all events are stored or have failed. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #noteFailure(cause: unknown): void {
    this.#hasFailed = true;
    const sentence = "The events of the run cannot be saved: check the state store.";
    this.#onFailure(cause instanceof SluiceError ? cause : new SluiceError("E_STORE_WRITE", sentence, {}, { cause }));
  }
}

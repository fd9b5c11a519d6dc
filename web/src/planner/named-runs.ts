/**
 * Runs that are kept from their beginning on: whichever process dies, another goes on behind the last step that was done.
 * @module
 */
import { scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { claimed, type Held } from "./claimed.js";
import type { RunKeeping } from "./keeping.js";
import { isNamedRun, namedRun, partsOf, pauseOf, pauseToken, withAnswer, type NamedRun } from "./named-run.js";
import type { PausedRuns } from "./paused-runs.js";
import type { PlannerPause, PlannerResult } from "./result.js";
import type { OpenStep, RunState } from "./run-state.js";

type Outcome = PlannerResult | PlannerPause;

/** A run that this process has. */
export interface Going {
  readonly run: RunState;
  /** A step whose calls are not all made; undefined between two steps. */
  readonly step: OpenStep | undefined;
  /** Whether another process may have begun the next step: what it told of that is not to be kept. */
  readonly isTakenOver: boolean;
  readonly keeping: RunKeeping;
  /** Aborted as the caller's is, and when the run is not ours any more. */
  readonly signal: AbortSignal;
}

/** How a run goes on. */
export interface GoingOn {
  readonly scope: ArtifactScope;
  /** Undefined: whoever goes on has none. */
  readonly answer: unknown;
  readonly signal: AbortSignal | undefined;
}

type Work = (going: Going) => Promise<Outcome>;

/** What a token leads to. */
export interface Found {
  readonly name: string;
  /** The pause that it answers; undefined where it is the run's own name. */
  readonly pause: string | undefined;
  readonly kept: NamedRun;
}

/** Those of a planner. */
export class NamedRuns {
  readonly #runs: PausedRuns;
  readonly #leaseSeconds: number;

  constructor(runs: PausedRuns, leaseSeconds: number) {
    this.#runs = runs;
    this.#leaseSeconds = leaseSeconds;
  }

  /**
   * Keeps a run by a name, and begins it.
   *
   * @throws SluiceError E_INVALID_ARGUMENT where a run has this name, or the store cannot keep what goes on; else as `claimed`.
   */
  async begun(name: string, run: RunState, { scope, signal }: Omit<GoingOn, "answer">, work: Work): Promise<Outcome> {
    const runs = this.#runs;
    if (runs.updatePlannerState === undefined) throw wrong("needs a state store that has updatePlannerState");
    if ((await runs.loadPlannerState(name)) != null) throw wrong("is that of a run that there is: give each its own");
    const kept: NamedRun = { version: 3, scope: scopeKey(scope), run, step: null, pause: null };
    await runs.savePlannerState(name, kept);
    return this.#claimed(name, signal, (held) => work(this.#going(name, kept, held, false)));
  }

  /** What a token leads to, from what is kept by it; undefined where that is no run of this kind. */
  async find(token: string, kept: unknown, scope: ArtifactScope): Promise<Found | undefined> {
    if (isNamedRun(kept)) return { name: token, pause: undefined, kept: namedRun(kept, scope, undefined) };
    const [name, pause] = (kept == null ? partsOf(token) : undefined) ?? [];
    if (name === undefined) return undefined;
    return { name, pause, kept: namedRun(await this.#runs.loadPlannerState(name), scope, pause) };
  }

  /** Goes on with a run; or gives its pause again, where it waits for an answer that nobody gives. Throws as `claimed`. */
  async goOn({ name, pause, kept }: Found, how: GoingOn, work: Work): Promise<Outcome> {
    const { scope, signal } = how;
    // By the token of a pause it is answered, with null where nothing is said.
    const answer = pause === undefined ? how.answer : (how.answer ?? null);
    if (kept.pause !== null && answer === undefined) return pauseOf(name, kept.run, kept.pause);
    return this.#claimed(name, signal, async (held) => {
      // Others may have gone on with it before the claim.
      const current = namedRun(await this.#runs.loadPlannerState(name), scope, pause);
      if (current.pause === null) return work(this.#going(name, current, held, current.step === null));
      if (answer === undefined) return pauseOf(name, current.run, current.pause);
      const going = withAnswer(current, answer);
      await held.save(going);
      return work(this.#going(name, going, held, false));
    });
  }

  #claimed(name: string, signal: AbortSignal | undefined, work: (held: Held) => Promise<Outcome>): Promise<Outcome> {
    const claiming = { runs: this.#runs, token: name, leaseSeconds: this.#leaseSeconds };
    return claimed(claiming, signal, work, ({ kind }) => (kind === "pause" ? "wait" : "forget"));
  }

  #going(name: string, { run, step, scope }: NamedRun, { save, signal }: Held, isTakenOver: boolean): Going {
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
}

function wrong(what: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `The option token of a run ${what}.`, { path: "token" });
}

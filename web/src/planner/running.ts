/**
 * One run: think, act, observe, until there is an answer, no more to spend, or somebody to wait for.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import { scopeKey } from "../artifacts/scope.js";
import { untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import { Turns } from "../mcp/arguments/turns.js";
import { Meter, type PlannerBudget } from "./budget.js";
import { argsOf, made, type CallTerms, type Outcome, type Settled } from "./calling.js";
import type { Catalog } from "./catalog.js";
import type { PlannerEvent } from "./event.js";
import type { Left, ModelExit } from "./exit.js";
import type { LlmClient, LlmMessage, LlmToolCall } from "./llm/client.js";
import type { PausedRuns } from "./paused-runs.js";
import type { PlannerPause, PlannerResult } from "./result.js";
import type { PausedRun, PausedStep, RunState } from "./run-state.js";
import type { Trajectory, TrajectoryCall, TrajectoryStep } from "./trajectory.js";

/** What a run is made of. */
export interface RunTerms extends Omit<CallTerms, "listed" | "llmContext"> {
  readonly catalog: Catalog;
  readonly llm: LlmClient;
  readonly exit: ModelExit;
  readonly pausedRuns: Pick<PausedRuns, "savePlannerState">;
  readonly scope: ArtifactScope;
  readonly budget: PlannerBudget;
  /** Calls under way at the same time. */
  readonly maxParallel: number;
  readonly signal: AbortSignal;
  readonly tell: (event: PlannerEvent) => void;
}

/** The one implementation. */
export class PlannerRun {
  readonly #terms: RunTerms;
  readonly #meter: Meter;
  readonly #before: RunState;
  readonly #messages: LlmMessage[];
  readonly #steps: TrajectoryStep[];
  readonly #artifacts: Record<string, unknown>;

  constructor(terms: RunTerms, state: RunState) {
    this.#terms = terms;
    this.#before = state;
    this.#meter = new Meter(terms.budget, state.spent);
    this.#messages = [...state.messages];
    this.#steps = [...state.steps];
    this.#artifacts = { ...state.artifacts };
    for (const [at, { calls }] of state.steps.entries()) {
      for (const { observation, tool } of calls) terms.exit.remember(observation, tool, at + 1);
    }
  }

  /** From the beginning, or from a step that waited. */
  async go(step?: PausedStep): Promise<PlannerResult | PlannerPause> {
    let waiting = step;
    for (;;) {
      const acting = waiting ?? (await this.#think());
      waiting = undefined;
      if ("answer" in acting) return this.#finished(acting.answer);
      const pause = await this.#act(acting);
      if (pause !== undefined) return pause;
    }
  }

  async #think(): Promise<PausedStep | { readonly answer: string }> {
    const { llm, catalog, tell } = this.#terms;
    this.#meter.begin();
    const step = this.#meter.step;
    tell({ kind: "step_started", step });
    const tools = this.#meter.isLast ? [] : catalog.list().tools;
    const answer = await this.#inTime((signal) =>
      llm.ask(
        { messages: this.#messages, tools },
        {
          signal,
          onText: (text) => tell({ kind: "text", step, text }),
          onRestart: () => tell({ kind: "text_discarded", step }),
        },
      ),
    );
    this.#meter.add(answer, this.#messages);
    const { text, usage, meta } = answer;
    const calls = tools.length === 0 ? [] : answer.toolCalls;
    tell({ kind: "model_answered", step, calls: calls.length, ...(usage !== undefined && { usage }) });
    if (calls.length === 0) {
      this.#steps.push({ text, calls: [] });
      return { answer: text };
    }
    return { text, ...(meta !== undefined && { meta }), calls, settled: {}, answers: {}, waiting: "" };
  }

  /** Makes the calls of a step that are not made yet. Gives a pause where one of them waits. */
  async #act({ text, meta, calls, settled: before, answers }: PausedStep): Promise<PlannerPause | undefined> {
    const { catalog, tell, maxParallel, exit } = this.#terms;
    const step = this.#meter.step;
    const listed = catalog.list();
    const turns = new Turns(maxParallel);
    const outcomes = await this.#inTime((signal) =>
      Promise.all(
        calls.map((call): Promise<Outcome> => {
          const done = before[call.id];
          if (done !== undefined) return Promise.resolve({ settled: done });
          const terms = { ...this.#terms, listed, llmContext: this.#before.llmContext };
          return turns.do(() => made({ call, step, answers: answers[call.id] ?? [], signal }, terms), signal);
        }),
      ),
    );
    const settled = Object.fromEntries(
      outcomes.flatMap((outcome, at) =>
        "settled" in outcome ? [[(calls[at] as LlmToolCall).id, outcome.settled]] : [],
      ),
    ) as Record<string, Settled>;
    const first = outcomes.findIndex((outcome) => "waiting" in outcome);
    const outcome = outcomes[first];
    if (outcome !== undefined && "waiting" in outcome) {
      return this.#paused(
        {
          text,
          ...(meta !== undefined && { meta }),
          calls,
          settled,
          answers,
          waiting: (calls[first] as LlmToolCall).id,
        },
        outcome.waiting,
      );
    }
    const results = calls.map(({ id }) => settled[id] as Settled);
    const left = await this.#inTime((signal) => exit.leave(step, results, signal));
    const observed = results.map((result, at) => this.#observed(calls[at] as LlmToolCall, result, left[at] as Left));
    const said = { role: "assistant", content: text, toolCalls: calls.map(short) } as const;
    this.#messages.push(meta === undefined ? said : { ...said, meta });
    for (const [at, { id, name }] of calls.entries()) {
      this.#messages.push({ role: "tool", callId: id, name, content: (observed[at] as TrajectoryCall).observation });
    }
    this.#steps.push({ text, calls: observed });
    tell({ kind: "step_finished", step });
    return undefined;
  }

  /** Tells what the model sees of a result. */
  #observed(call: LlmToolCall, result: Settled, left: Left): TrajectoryCall {
    const { tell } = this.#terms;
    const place = { step: this.#meter.step, call: call.id, tool: result.tool };
    Object.assign(this.#artifacts, result.kept);
    if (left.artifacts.length > 0) tell({ kind: "artifact_stored", ...place, artifacts: left.artifacts });
    if (left.cut !== undefined) {
      const { originalChars: original_size, method } = left.cut;
      tell({ kind: "observation_clamped", ...place, original_size, clamped_size: left.chars, method });
    }
    tell({ kind: "tool_answered", ...place, isError: result.isError, chars: left.chars });
    return {
      id: call.id,
      tool: result.tool,
      args: argsOf(call),
      observation: left.text,
      isError: result.isError,
      artifacts: [...result.artifacts, ...left.artifacts],
    };
  }

  async #paused(
    step: PausedStep,
    { reason, payload }: { reason: PlannerPause["reason"]; payload: PlannerPause["payload"] },
  ): Promise<PlannerPause> {
    const { pausedRuns, scope, tell } = this.#terms;
    const token = crypto.randomUUID();
    const kept: PausedRun = { version: 1, scope: scopeKey(scope), run: this.#state(), step };
    await pausedRuns.savePlannerState(token, kept);
    const call = step.calls.find(({ id }) => id === step.waiting) as LlmToolCall;
    const tool = this.#terms.catalog.list().find(call.name)?.name ?? call.name;
    tell({ kind: "paused", step: this.#meter.step, call: call.id, tool, reason, token });
    return { kind: "pause", reason, payload, tool, resumeToken: token, trajectory: this.#trajectory() };
  }

  #finished(answer: string): PlannerResult {
    const { spent, exhausted } = this.#meter;
    const outcome = exhausted ?? "answered";
    this.#terms.tell({ kind: "finished", steps: spent.steps, outcome });
    return { kind: "result", answer, outcome, spent, trajectory: this.#trajectory() };
  }

  #trajectory(): Trajectory {
    return { query: this.#before.query, steps: [...this.#steps], artifacts: { ...this.#artifacts } };
  }

  #state(): RunState {
    const { query, llmContext } = this.#before;
    const [messages, steps, artifacts] = [this.#messages, this.#steps, this.#artifacts];
    return { query, llmContext, messages, steps, artifacts, spent: this.#meter.spent };
  }

  /** Works until the time is up, or nobody wants the answer any more. */
  #inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#terms;
    const most = this.#meter.left;
    if (most === Infinity) return work(signal);
    return untilLate(work, { most: Math.min(Math.max(0, most), LONGEST_TIMER), late: tooLate, signal });
  }
}

/** Milliseconds: timers take no more. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** Characters of arguments that the model is told again. */
const MAX_ARGUMENTS = 50_000;

/** A call as the model is reminded of it: what it wrote itself must not flood it either. */
function short(call: LlmToolCall): LlmToolCall {
  const { length } = call.arguments;
  if (length <= MAX_ARGUMENTS) return call;
  return { ...call, arguments: JSON.stringify({ left_out: `${length} characters of arguments` }) };
}

function tooLate(): SluiceError {
  return new SluiceError(
    "E_PLANNER_TIME",
    "The run took longer than its budget allows: give it more time (budget.maxSeconds), or ask for less.",
  );
}

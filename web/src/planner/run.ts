/**
 * One run: think, act, observe, until there is an answer, the budget is used up, or a person has to answer.
 * @module
 */
import { untilAborted, untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import { record } from "../telemetry/metrics.js";
import { plainName } from "../telemetry/names.js";
import { observeOperation } from "../telemetry/operation.js";
import { BudgetMeter, type PlannerBudget } from "./budget.js";
import { allMade, readArgs, type CallDeps, type Outcome, limitCalls } from "./call.js";
import { leading, listTools, type CatalogSource, jsonFields } from "./tool.js";
import type { Observation, ObservationLimiter } from "./observation.js";
import type { RunKeeping } from "./run-store.js";
import type {
  AssistantMessage,
  LlmAnswer,
  LlmClient,
  LlmMessage,
  LlmToolCall,
  LlmUsage,
  UserMessage,
} from "./llm/client.js";
import {
  decideOutcome,
  type PlannerPause,
  type PlannerResult,
  type Trajectory,
  type TrajectoryCall,
  type TrajectoryStep,
  type OpenStep,
  type RunState,
  type WaitingCall,
  type Settled,
} from "./run-state.js";

/** What a run works with. */
export interface RunDeps extends Omit<CallDeps, "listed" | "llmContext"> {
  readonly catalog: readonly CatalogSource[];
  readonly llm: LlmClient;
  readonly limiter: ObservationLimiter;
  readonly keeping: RunKeeping;
  readonly budget: PlannerBudget;
  readonly signal: AbortSignal;
}

/** Runs the loop. */
export class PlannerRun {
  readonly #deps: RunDeps;
  readonly #meter: BudgetMeter;
  readonly #before: RunState;
  readonly #messages: LlmMessage[];
  readonly #steps: TrajectoryStep[];
  readonly #artifacts: Record<string, unknown>;

  constructor(deps: RunDeps, state: RunState) {
    this.#deps = deps;
    this.#before = state;
    this.#meter = new BudgetMeter(deps.budget, state.spent);
    this.#messages = [...state.messages];
    this.#steps = [...state.steps];
    this.#artifacts = { ...state.artifacts };
    for (const [at, { calls }] of state.steps.entries()) {
      for (const { observation, tool } of calls) deps.limiter.remember(observation, tool, at + 1);
    }
  }

  /** Starts at the next step, or continues an unfinished one. */
  async go(step?: OpenStep): Promise<PlannerResult | PlannerPause> {
    let open = step;
    for (;;) {
      const acting = open ?? (await this.#think());
      open = undefined;
      if ("answer" in acting) return this.#finish(acting.answer);
      const pause = await this.#act(acting);
      if (pause !== undefined) return pause;
    }
  }

  async #think(): Promise<OpenStep | { readonly answer: LlmAnswer }> {
    const { llm, catalog, limiter, tell } = this.#deps;
    this.#meter.begin();
    const step = this.#meter.step;
    tell({ kind: "step_started", step });
    const tools = this.#meter.isLast ? [] : listTools(catalog).tools;
    const ask = (signal: AbortSignal): Promise<LlmAnswer> =>
      llm.ask(
        { messages: this.#messages, tools },
        {
          signal,
          onText: (text) => tell({ kind: "text", step, text }),
          onRestart: () => tell({ kind: "text_discarded", step }),
        },
      );
    const answer = await observeTurn(llm, () => this.#inTime(ask));
    this.#meter.add(answer, this.#messages);
    const { text, usage, meta, toolCalls, callsLeftOut = 0 } = answer;
    const [wanted, beyond] = tools.length === 0 ? [[], 0] : [toolCalls, callsLeftOut];
    const calls = limitCalls(wanted, limiter.mostCalls);
    const leftOut = wanted.length - calls.length + beyond;
    const missing = leftOut > 0 && { leftOut };
    const more = { ...missing, ...(usage !== undefined && { usage: copyUsage(usage) }) };
    tell({ kind: "model_answered", step, calls: calls.length, ...more });
    if (calls.length === 0) {
      this.#steps.push({ text, calls: [] });
      return { answer };
    }
    return {
      text,
      ...(meta !== undefined && { meta }),
      calls,
      ...missing,
      settled: calls.map(() => null),
      answers: [],
    };
  }

  /** Makes the calls of a step that are not made yet. Returns a pause if one of them waits. */
  async #act(open: OpenStep): Promise<PlannerPause | undefined> {
    const deps = { ...this.#deps, listed: listTools(this.#deps.catalog), llmContext: this.#before.llmContext };
    const outcomes = await this.#inTime((signal) => allMade(open, this.#meter.step, deps, signal));
    const results = outcomes.flatMap((outcome) => ("settled" in outcome ? [outcome.settled] : []));
    if (results.length < outcomes.length) return this.#pause(open, outcomes);
    await this.#observe(open, results);
    const { keeping } = this.#deps;
    if (keeping.between !== undefined) await keeping.between(this.#state());
    return undefined;
  }

  /** Passes the results of a step to the model. */
  async #observe(open: OpenStep, results: readonly Settled[]): Promise<void> {
    const { limiter, tell } = this.#deps;
    const { text, calls } = open;
    const step = this.#meter.step;
    const seen = await this.#inTime((signal) => limiter.limit(step, results, signal));
    const made = results.map((result, at) =>
      this.#reportObserved(calls[at] as LlmToolCall, result, seen[at] as Observation),
    );
    this.#messages.push(toReminder(open));
    for (const [at, { id, name }] of calls.entries()) {
      this.#messages.push({ role: "tool", callId: id, name, content: (made[at] as TrajectoryCall).observation });
    }
    this.#messages.push(...tellLeftOut(open));
    this.#steps.push({ text, calls: made });
    tell({ kind: "step_finished", step });
  }

  /** Sends the events of what the model sees of a result. */
  #reportObserved(call: LlmToolCall, result: Settled, seen: Observation): TrajectoryCall {
    const { tell } = this.#deps;
    const place = { step: this.#meter.step, call: call.id, tool: result.tool };
    Object.assign(this.#artifacts, result.kept);
    if (seen.artifacts.length > 0) tell({ kind: "artifact_stored", ...place, artifacts: seen.artifacts });
    if (seen.cut !== undefined) {
      const { originalChars: original_size, method } = seen.cut;
      tell({ kind: "observation_clamped", ...place, original_size, clamped_size: seen.chars, method });
    }
    tell({ kind: "tool_answered", ...place, isError: result.isError, chars: seen.chars });
    return {
      id: call.id,
      tool: result.tool,
      args: readArgs(call),
      observation: seen.text,
      isError: result.isError,
      artifacts: [...result.artifacts, ...seen.artifacts],
    };
  }

  /** Stores the run, and sends an event for each call that waits. The first one is answered next. */
  async #pause(open: OpenStep, outcomes: readonly Outcome[]): Promise<PlannerPause> {
    const { keeping, tell } = this.#deps;
    const settled = outcomes.map((outcome) => ("settled" in outcome ? toStorable(outcome.settled) : null));
    const waiting = outcomes.flatMap((outcome, at) => ("waiting" in outcome ? [{ at, ...outcome.waiting }] : []));
    const first = waiting[0] as WaitingCall;
    const resumeToken = await keeping.paused(this.#state(), { ...open, settled }, first);
    for (const { at, tool, reason } of waiting) {
      const call = (open.calls[at] as LlmToolCall).id;
      tell({ kind: "paused", step: this.#meter.step, call, tool, reason, token: resumeToken });
    }
    const { reason, payload, tool } = first;
    return { kind: "pause", reason, payload, tool, resumeToken, trajectory: this.#trajectory() };
  }

  #finish(last: LlmAnswer): PlannerResult {
    const { spent, exhausted } = this.#meter;
    const { text: answer } = last;
    const outcome = decideOutcome(last, exhausted);
    this.#deps.tell({ kind: "finished", steps: spent.steps, outcome });
    return { kind: "result", answer, outcome, spent, trajectory: this.#trajectory() };
  }

  #trajectory(): Trajectory {
    return { query: this.#before.query, steps: [...this.#steps], artifacts: { ...this.#artifacts } };
  }

  #state(): RunState {
    const { query, llmContext } = this.#before;
    // Copies, since a store may keep the object.
    const [messages, steps, artifacts] = [[...this.#messages], [...this.#steps], jsonFields(this.#artifacts)];
    return { query, llmContext, messages, steps, artifacts, spent: this.#meter.spent };
  }

  /** Works until the time is up or the run is aborted. */
  #inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#deps;
    const most = this.#meter.left;
    // A tool that ignores the signal must not delay an abort.
    if (most === Infinity) return untilAborted(work(signal), signal);
    return untilLate(work, { most: Math.min(Math.max(0, most), LONGEST_TIMER), late: tooLate, signal });
  }
}

/** A result as a state store can store it. */
function toStorable(settled: Settled): Settled {
  return { ...settled, kept: jsonFields(settled.kept) };
}

/** A host's own client may return further fields, or no JSON. */
function copyUsage({ inputTokens, outputTokens }: LlmUsage): LlmUsage {
  return { inputTokens, outputTokens };
}

/** The longest time of a timer, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

function tooLate(): SluiceError {
  return new SluiceError(
    "E_PLANNER_TIME",
    "The run took longer than its budget allows: give it more time (budget.maxSeconds), or ask for less.",
  );
}

/** Most characters of a call's arguments in later turns. */
const MAX_ARGUMENTS = 50_000;
/** Most characters of the model's own text in later turns. */
const MAX_TEXT = 50_000;

/** A turn in later requests. The model's own text must not flood it either. */
function toReminder({ text, meta, calls }: OpenStep): AssistantMessage {
  const left = leading(text, MAX_TEXT);
  const content = left === text ? text : `${left}\n... [truncated: ${text.length - left.length} chars]`;
  return { role: "assistant", content, toolCalls: calls.map(short), ...(meta !== undefined && { meta }) };
}

/** Tells the model which calls were not made, after the results of the others. */
function tellLeftOut({ calls, leftOut = 0 }: OpenStep): readonly UserMessage[] {
  if (leftOut === 0) return [];
  const content =
    `[Not from the user] Of your ${calls.length + leftOut} calls, the first ${calls.length} were made. ` +
    `The last ${leftOut} were not made because a turn has no room for more. Make them in a later turn if you still need them.`;
  return [{ role: "user", content }];
}

function short(call: LlmToolCall): LlmToolCall {
  const { length } = call.arguments;
  if (length <= MAX_ARGUMENTS) return call;
  return { ...call, arguments: JSON.stringify({ left_out: `${length} characters of arguments` }) };
}

/** Asks for a turn, and records it. */
function observeTurn(llm: LlmClient, ask: () => Promise<LlmAnswer>): Promise<LlmAnswer> {
  const model = plainName(llm.model);
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": model,
    "gen_ai.provider.name": plainName(llm.provider ?? ""),
  };
  return observeOperation(
    () => ({ kind: "client", name: `chat ${model}`, durations: ["gen_ai.client.operation.duration"], attributes }),
    async () => {
      const answer = await ask();
      const { inputTokens, outputTokens } = answer.usage ?? {};
      recordTokens(inputTokens, { ...attributes, "gen_ai.token.type": "input" });
      recordTokens(outputTokens, { ...attributes, "gen_ai.token.type": "output" });
      return answer;
    },
    ({ usage, stopReason }) => ({
      spanAttributes: {
        "gen_ai.response.finish_reasons": [plainName(stopReason)],
        ...(isCount(usage?.inputTokens) && { "gen_ai.usage.input_tokens": usage.inputTokens }),
        ...(isCount(usage?.outputTokens) && { "gen_ai.usage.output_tokens": usage.outputTokens }),
      },
    }),
  );
}

function recordTokens(tokens: unknown, attributes: Readonly<Record<string, string>>): void {
  if (isCount(tokens)) record("gen_ai.client.token.usage", tokens, attributes);
}

/** A host's own client may say anything. */
function isCount(tokens: unknown): tokens is number {
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0;
}

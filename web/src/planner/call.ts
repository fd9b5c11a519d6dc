/**
 * The calls that the model wants made, from their names to the JSON of their results.
 * @module
 */
import { z } from "zod";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { ToolArtifacts } from "../artifacts/scoped.js";
import { untilAborted } from "../core/abort.js";
import { wrong, nearest, OBJECT } from "../errors/arguments.js";
import type { AnswerRef, ClampReport, Sluice } from "../core/sluice.js";
import type { OnStoreFailure } from "../core/store-access.js";
import { jsonOf } from "../core/value.js";
import { SluiceError } from "../errors/error.js";
import { Turns } from "../core/turns.js";
import type { ArtifactArguments } from "../tools/artifacts.js";
import type { PauseReason, ToolProgress, ToolWait } from "../tools/options.js";
import type { ToolSpec } from "../tools/registry.js";
import { ToolAnswer } from "../tools/tool-call.js";
import type { CatalogTool, Listed } from "./catalog.js";
import { type PlannerToolContext, fieldPieces, jsonValue, hasMarks, parted, type NativeTool } from "./tool.js";
import type { CallPlace, PlannerEvent } from "./event.js";
import type { Leaving } from "./observation.js";
import { jsonIn, type LlmToolCall } from "./llm/client.js";
import type { OpenStep } from "./run-state.js";

/** What calls need of their run. */
export interface CallDeps {
  readonly listed: Listed;
  /** Calls under way at the same time. */
  readonly maxParallel: number;
  readonly store: ArtifactStore;
  readonly scope: ArtifactScope;
  /** The gate for what a native tool returns, by the characters that its limit allows; undefined: as the planner's. */
  readonly gate: (maxChars: number | undefined) => Promise<Sluice>;
  /** What a native tool gets of what the store fails at: an error, or a ref that says so. */
  readonly onStoreFailure: OnStoreFailure;
  /** Puts artifacts into what native tools are given. */
  readonly arguments: ArtifactArguments;
  readonly toolContext: Readonly<Record<string, unknown>>;
  readonly llmContext: Readonly<Record<string, unknown>>;
  /** What gives up one call, and not the run. */
  readonly callSignal: CallSignals;
  /** Seconds of silence of calls of sources; undefined: as each source has it. */
  readonly timeoutSeconds: number | undefined;
  readonly tell: (event: PlannerEvent) => void;
}

/** Characters of the name of a tool that there is not. */
const MAX_UNKNOWN = 64;

/**
 * Makes the calls of a step that are not made yet, and gives what became of all of them, in their order. Where one of them
 * throws, the others are given up.
 */
export async function allMade(
  { calls, settled, answers }: OpenStep,
  step: number,
  deps: CallDeps,
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const turns = new Turns(deps.maxParallel);
  const end = new AbortController();
  const either = AbortSignal.any([signal, end.signal]);
  const making = (call: LlmToolCall, at: number): Promise<Outcome> =>
    made({ call, step, answers: answers[at] ?? [], signal: either }, deps).catch((error: unknown) => {
      // Before its turn is the next one's.
      end.abort(error);
      throw error;
    });
  return Promise.all(
    calls.map((call, at): Promise<Outcome> => {
      const done = settled[at];
      if (done != null) return Promise.resolve({ settled: done });
      return turns.do(() => making(call, at), either);
    }),
  );
}

/** Makes a call. Throws the signal's reason, and what the host's `callSignal` does wrong: what fails is told to the model. */
async function made(call: Call, deps: CallDeps): Promise<Outcome> {
  const { listed, tell } = deps;
  const tool = listed.find(call.call.name);
  const name = tool?.name ?? leading(call.call.name, MAX_UNKNOWN);
  const args = argsOf(call.call);
  if (tool === undefined || args === undefined) {
    const sentence =
      tool === undefined ? unknownTool(name, listed.names) : "The arguments are no JSON object: write them anew.";
    return { settled: failed({ tool: name, namespace: namespaceOf(tool) }, sentence) };
  }
  const place: CallPlace = { step: call.step, call: call.call.id, tool: name };
  tell({ kind: "tool_called", ...place });
  return new Attempt(call, place, tool, deps).make(args);
}

function namespaceOf(tool: CatalogTool | undefined): string {
  return tool === undefined || tool.kind === "native" ? NATIVE : tool.extra.namespace;
}

/** The arguments as an object; undefined where the model wrote none. */
export function argsOf({ arguments: text }: LlmToolCall): Args | undefined {
  const args = jsonIn(text);
  return OBJECT[1](args) ? (args as Args) : undefined;
}

function unknownTool(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  const remedy = meant === undefined ? "call one of the tools that you were told of." : `did you mean ${meant}?`;
  return `There is no tool ${JSON.stringify(name)}: ${remedy}`;
}

/** One call. */
interface Call {
  readonly call: LlmToolCall;
  readonly step: number;
  /** What people answered before, when the call paused: its pauses are answered by these, in order. */
  readonly answers: readonly unknown[];
  readonly signal: AbortSignal;
}

type Args = Readonly<Record<string, unknown>>;

/** Makes one call. */
class Attempt {
  readonly #call: Call;
  readonly #place: CallPlace;
  readonly #tool: CatalogTool;
  readonly #deps: CallDeps;
  readonly #end = new AbortController();
  readonly #stored: AnswerRef[] = [];
  #pauses = 0;
  #waiting: Waiting | undefined;
  #isOver = false;

  constructor(call: Call, place: CallPlace, tool: CatalogTool, deps: CallDeps) {
    this.#call = call;
    this.#place = place;
    this.#tool = tool;
    this.#deps = deps;
  }

  /** Makes it. Throws the run's signal's reason; SluiceError E_INVALID_ARGUMENT for a `callSignal` that gives no signal. */
  async make(args: Args): Promise<Outcome> {
    this.#call.signal.throwIfAborted();
    const own = callSignalOf(this.#deps.callSignal, this.#place);
    try {
      const settled = await this.#ended(args, own);
      // What a call says that waits for a person was not its answer.
      return settled === undefined ? { waiting: this.#waiting as Waiting } : this.#told(settled);
    } finally {
      // A tool may heed no signal, or go on behind its result.
      this.#isOver = true;
    }
  }

  /** Undefined where it waits for a person. */
  async #ended(args: Args, own: AbortSignal | undefined): Promise<Settled | undefined> {
    try {
      own?.throwIfAborted();
      const settled = await untilAborted(this.#called(args, own), own);
      return this.#waiting === undefined ? settled : undefined;
    } catch (error) {
      this.#call.signal.throwIfAborted();
      if (own?.aborted === true) return this.#broken("The call was cancelled: go on without its result.");
      return this.#waiting === undefined ? this.#failed(error) : undefined;
    }
  }

  #told(settled: Settled): Outcome {
    const { tell } = this.#deps;
    tell({ kind: "tool_returned", ...this.#place, isError: settled.isError });
    const { artifacts } = settled;
    if (artifacts.length > 0) tell({ kind: "artifact_stored", ...this.#place, artifacts });
    return { settled };
  }

  #called(args: Args, own: AbortSignal | undefined): Promise<Settled> {
    const signals = [this.#call.signal, this.#end.signal, own].filter((signal) => signal !== undefined);
    const any = AbortSignal.any(signals);
    const tool = this.#tool;
    return tool.kind === "native" ? this.#native(tool, args, any) : this.#external(tool, args, any);
  }

  async #native(tool: NativeTool, args: Args, signal: AbortSignal): Promise<Settled> {
    const { scope, gate, arguments: expanding } = this.#deps;
    const sluice = await gate(tool.maxObservationChars);
    const prepared = await expanding.put({ name: tool.name, input_schema: tool.inputSchema }, args, scope, signal);
    if (prepared.kind === "answer") {
      return this.#settled(ToolAnswer.told(prepared.result, sluice), true, [], {});
    }
    signal.throwIfAborted();
    const context = this.#context(signal);
    const { shown, kept } = parted((await tool.run(prepared.args, context)) ?? null, tool.outputSchema);
    const options = { tool: tool.name, namespace: NATIVE, scope, signal };
    const answer = await sluice.transform(shown, options);
    const all = await Promise.all(
      Object.entries(kept).map(async ([field, value]) => {
        // What a model never sees stays as it is, JSON or not, but for bytes.
        if ((fieldPieces(value)?.length ?? 1) === 1) return { field, value, artifacts: [] };
        const told = await sluice.transform(value, { ...options, transformed: true });
        return { field, value: told.value, artifacts: told.artifacts };
      }),
    );
    const artifacts = [...this.#stored, ...answer.artifacts, ...all.flatMap((each) => each.artifacts)];
    return this.#settled(answer, false, artifacts, Object.fromEntries(all.map(({ field, value }) => [field, value])));
  }

  async #external(tool: ToolSpec, args: Args, signal: AbortSignal): Promise<Settled> {
    const onProgress = (progress: ToolProgress): void =>
      this.#say(() => ({ kind: "tool_progress", ...this.#place, progress }));
    const pause = (...asked: Parameters<PlannerToolContext["pause"]>): Promise<unknown> => this.#pause(...asked);
    const onWait = (wait: ToolWait): void => this.#say(() => ({ kind: "tool_waiting", ...this.#place, wait }));
    const { scope, timeoutSeconds } = this.#deps;
    const timeout = timeoutSeconds === undefined ? {} : { timeoutSeconds };
    const answer = await tool.call(args, { scope, signal, pause, onProgress, onWait, ...timeout });
    const { display } = answer;
    if (display !== undefined) this.#say(() => ({ kind: "tool_display", ...this.#place, display }));
    const schema = tool.output_schema;
    if (answer.isError || !hasMarks(schema)) return this.#settled(answer, answer.isError, answer.artifacts, {});
    const { shown, kept } = parted(answer.value, schema);
    return this.#settled({ cut: answer.cut, text: jsonOf(shown) }, false, answer.artifacts, kept);
  }

  #settled(
    { text, cut }: { readonly text: string; readonly cut?: ClampReport | undefined },
    isError: boolean,
    artifacts: readonly AnswerRef[],
    kept: Settled["kept"],
  ): Settled {
    const tool = this.#tool;
    const named = Object.entries(kept).map(([field, value]) => [`${tool.name}.${field}`, value]);
    return {
      tool: tool.name,
      namespace: namespaceOf(tool),
      text,
      ...(cut !== undefined && { cut }),
      maxChars: tool.kind === "native" ? tool.maxObservationChars : undefined,
      isError,
      artifacts,
      kept: Object.fromEntries(named) as Settled["kept"],
    };
  }

  #broken(sentence: string): Settled {
    return failed({ tool: this.#tool.name, namespace: namespaceOf(this.#tool) }, sentence, [...this.#stored]);
  }

  #failed(error: unknown): Settled {
    if (error instanceof z.ZodError) return this.#broken(`The arguments do not fit. ${z.prettifyError(error)}`);
    const told = error instanceof SluiceError ? error : unexplained(this.#tool.name, error);
    this.#deps.tell({ kind: "tool_failed", ...this.#place, error: told });
    return this.#broken(told.message);
  }

  /** Tells what the tool says, until the call is over. Throws SluiceError E_INVALID_ARGUMENT for what is no JSON. */
  #say(event: () => PlannerEvent): void {
    if (!this.#isOver && !this.#call.signal.aborted) this.#deps.tell(event());
  }

  #context(signal: AbortSignal): PlannerToolContext {
    const { store, scope, onStoreFailure, toolContext, llmContext, tell } = this.#deps;
    const place = this.#place;
    return {
      artifacts: new ToolArtifacts(store, {
        scope,
        namespace: NATIVE,
        source: { tool: this.#tool.name },
        onStored: (ref) => void this.#stored.push(ref),
        // The tool goes on with a ref that says so.
        ...(onStoreFailure === "answer" && { onFailure: (error) => tell({ kind: "tool_failed", ...place, error }) }),
      }),
      toolContext,
      llmContext,
      signal,
      pause: (reason, payload) => this.#pause(reason, payload),
      emitArtifact: (name, value) =>
        this.#say(() => ({
          kind: "artifact_emitted",
          ...place,
          name: textOf(name, "name"),
          value: jsonValue(value, "value"),
        })),
      emitChunk: (stream, chunk) =>
        this.#say(() => ({
          kind: "chunk_emitted",
          ...place,
          stream: textOf(stream, "stream"),
          chunk: jsonValue(chunk, "chunk"),
        })),
      reportProgress: (progress, total, message) =>
        this.#say(() => {
          const more = {
            ...(total !== undefined && { total: numberOf(total, "total") }),
            ...(message !== undefined && { message: textOf(message, "message") }),
          };
          return { kind: "tool_progress", ...place, progress: { progress: numberOf(progress, "progress"), ...more } };
        }),
    };
  }

  #pause(reason: PauseReason, payload: Readonly<Record<string, unknown>>): Promise<unknown> {
    const answered = this.#answered(reason, payload);
    // A tool that forgets to wait for the answer waits all the same.
    answered.catch(() => undefined);
    return answered;
  }

  /** Gives what was answered before; else ends the call, which is made anew when there is an answer. */
  async #answered(reason: PauseReason, payload: Readonly<Record<string, unknown>>): Promise<unknown> {
    const { answers } = this.#call;
    const number = this.#pauses++;
    if (number < answers.length) return answers[number];
    this.#waiting ??= waitingOf(this.#tool.name, reason, payload);
    const ended = new SluiceError("E_TOOL", "The call waits for a person, and is made anew when there is an answer.");
    this.#end.abort(ended);
    throw ended;
  }
}

const REASONS: readonly PauseReason[] = ["external_event", "approval_required", "await_input"];

/** What is kept of a pause is JSON. Throws SluiceError E_INVALID_ARGUMENT. */
function waitingOf(tool: string, reason: PauseReason, payload: Readonly<Record<string, unknown>>): Waiting {
  if (!OBJECT[1](payload)) throw wrong("payload", OBJECT[0]);
  if (REASONS.includes(reason)) {
    return { tool, reason, payload: jsonValue(payload, "payload") as Readonly<Record<string, unknown>> };
  }
  const sentence = `The reason of a pause must be one of ${REASONS.join(", ")}.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "reason" });
}

function textOf(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  throw wrong(path, "a string");
}

function numberOf(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw wrong(path, "a finite number");
}

/** Sentences of errors that are not ours may hold paths and secrets: the host is told, the model is not. */
function unexplained(tool: string, cause: unknown): SluiceError {
  const sentence = `The tool ${JSON.stringify(tool)} failed in a way that it does not explain.`;
  return new SluiceError("E_TOOL", sentence, {}, { cause });
}

/** What native tools store is named after this, and so is the tool that reads it. */
export const NATIVE: string = "native";

/** A result, and what the host keeps of it. */
export interface Settled extends Leaving {
  readonly isError: boolean;
  readonly artifacts: readonly AnswerRef[];
  /** Fields that are marked `artifact: true`, by tool and field. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/** The call waits for a person. It is made anew when there is an answer. */
export interface Waiting {
  /** The tool's name in the catalog. */
  readonly tool: string;
  readonly reason: PauseReason;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What became of a call. */
export type Outcome = { readonly settled: Settled } | { readonly waiting: Waiting };

/** What the model is told of a call that failed; `artifacts` is what it had stored by then. */
function failed(
  { tool, namespace }: Pick<Leaving, "tool" | "namespace">,
  sentence: string,
  artifacts: readonly AnswerRef[] = [],
): Settled {
  const text = JSON.stringify({ isError: true, content: sentence });
  return { tool, namespace, text, maxChars: undefined, isError: true, artifacts, kept: {} };
}

/** Asks the host for what gives up a call: see `RunOptions.callSignal`. */
type CallSignals = (place: CallPlace) => AbortSignal | undefined;

/**
 * The host's signal for a call.
 *
 * @throws SluiceError E_INVALID_ARGUMENT where the host's function fails, or gives something else.
 */
function callSignalOf(asked: CallSignals, place: CallPlace): AbortSignal | undefined {
  let signal: unknown;
  try {
    signal = asked(place);
  } catch (cause) {
    throw wrongSignal("but threw an error", { cause });
  }
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  throw wrongSignal("but gave something else");
}

function wrongSignal(what: string, options?: ErrorOptions): SluiceError {
  const sentence = `The option callSignal of a run must give an AbortSignal or undefined, ${what}.`;
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "callSignal" }, options);
}

/** Characters of a call's id, and of a tool's name. */
const MAX_ID = 256;

/** The first calls of a turn, so many at most. */
export function callsOf(calls: readonly LlmToolCall[], most: number): readonly LlmToolCall[] {
  const ids = new Set<string>();
  return calls.slice(0, most).map((call, at) => {
    const id = distinct(leading(call.id, MAX_ID) || `call_${at}`, MAX_ID, ids);
    return { ...call, id, name: leading(call.name, MAX_ID) };
  });
}

/** The beginning of a text, of so many UTF-16 units at most, and never half a character. */
export function leading(text: string, most: number): string {
  const start = text.slice(0, most);
  return start.length < text.length && /[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start;
}

/** A name that is not taken yet, of so many UTF-16 units at most where the given one is. */
export function distinct(name: string, most: number, taken: Set<string>): string {
  let own = name;
  for (let number = 2; taken.has(own); number += 1) own = `${leading(name, most - 8)}_${number}`;
  taken.add(own);
  return own;
}

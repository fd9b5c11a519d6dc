/**
 * Makes the calls that a model wants, from their names to the JSON of their results.
 * @module
 */
import { admitTools, toolAttributes } from "../telemetry/names.js";
import { observeOperation, type OperationInfo } from "../telemetry/operation.js";
import { z } from "zod";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { ToolArtifacts } from "../artifacts/scoped.js";
import { untilAborted } from "../core/abort.js";
import { wrong, nearest, OBJECT } from "../errors/arguments.js";
import type { AnswerRef, ClampReport, Sluice, OnStoreFailure } from "../core/types.js";
import { toJson } from "../core/value.js";
import { SluiceError } from "../errors/error.js";
import { Semaphore } from "../core/semaphore.js";
import type { ArtifactArguments } from "../tools/artifacts.js";
import type { PausePayload, PauseReason, ToolProgress, ToolWait } from "../tools/context.js";
import type { ToolSpec } from "../tools/registry.js";
import { ToolAnswer } from "../tools/result.js";
import {
  distinct,
  leading,
  type CatalogTool,
  type Listed,
  type PlannerToolContext,
  fieldPieces,
  jsonValue,
  hasMarks,
  partValue,
  type NativeTool,
  WrongArguments,
} from "./tool.js";
import type { CallPlace, PlannerEvent } from "./event.js";
import type { RawResult } from "./observation.js";
import { jsonIn, type LlmToolCall } from "./llm/client.js";
import type { OpenStep, Settled, Waiting } from "./run-state.js";

/** What calls work with. */
export interface CallDeps {
  readonly listed: Listed;
  /** Most concurrent calls. */
  readonly maxParallel: number;
  readonly store: ArtifactStore;
  readonly scope: ArtifactScope;
  /** The gate for results of native tools, by the most characters of an observation. Undefined: the planner's limit. */
  readonly gate: (maxChars: number | undefined) => Promise<Sluice>;
  /** How a native tool sees store failures: an error, or a ref that says so. */
  readonly onStoreFailure: OnStoreFailure;
  /** Puts artifacts into the arguments of native tools. */
  readonly arguments: ArtifactArguments;
  readonly toolContext: Readonly<Record<string, unknown>>;
  readonly llmContext: Readonly<Record<string, unknown>>;
  /** Signals that give up one call, and not the run. */
  readonly callSignal: CallSignals;
  /** The idle timeout of calls to sources in seconds. Undefined: that of each source. */
  readonly timeoutSeconds: number | undefined;
  readonly tell: (event: PlannerEvent) => void;
}

/** Most characters of an unknown tool's name. */
const MAX_UNKNOWN = 64;

/**
 * Makes the calls of a step that are not made yet, and returns the outcomes of all, in order. If one throws, the
 * others are given up.
 */
export async function allMade(
  { calls, settled, answers }: OpenStep,
  step: number,
  deps: CallDeps,
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const semaphore = new Semaphore(deps.maxParallel);
  const end = new AbortController();
  const either = AbortSignal.any([signal, end.signal]);
  const making = (call: LlmToolCall, at: number): Promise<Outcome> =>
    makeCall({ call, step, answers: answers[at] ?? [], signal: either }, deps).catch((error: unknown) => {
      // Before the next call gets its turn.
      end.abort(error);
      throw error;
    });
  return Promise.all(
    calls.map((call, at): Promise<Outcome> => {
      const done = settled[at];
      if (done != null) return Promise.resolve({ settled: done });
      return semaphore.run(() => making(call, at), either);
    }),
  );
}

/**
 * Makes a call. Throws the signal's reason, and errors of the host's `callSignal`. The model is told of other
 * failures.
 */
async function makeCall(call: Call, deps: CallDeps): Promise<Outcome> {
  const { listed, tell } = deps;
  const tool = listed.find(call.call.name);
  const name = tool?.name ?? leading(call.call.name, MAX_UNKNOWN);
  const args = readArgs(call.call);
  if (tool === undefined || args === undefined) {
    const sentence =
      tool === undefined
        ? unknownTool(name, listed.names)
        : "The arguments are not a JSON object: write them again as one.";
    return { settled: describeFailure({ tool: name, namespace: getNamespace(tool) }, sentence) };
  }
  const place: CallPlace = { step: call.step, call: call.call.id, tool: name };
  tell({ kind: "tool_called", ...place });
  return new Attempt(call, place, tool, deps).make(args);
}

function getNamespace(tool: CatalogTool | undefined): string {
  return tool === undefined || tool.kind === "native" ? NATIVE : tool.extra.namespace;
}

/** The arguments as an object, or undefined if the model wrote none. */
export function readArgs({ arguments: text }: LlmToolCall): Args | undefined {
  const args = jsonIn(text);
  return OBJECT[1](args) ? (args as Args) : undefined;
}

function unknownTool(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  const remedy = meant === undefined ? "call one of the listed tools." : `did you mean ${meant}?`;
  return `There is no tool ${JSON.stringify(name)}: ${remedy}`;
}

/** A call of a native tool as an operation of telemetry. Those of sources are theirs. */
function nativeOperation(name: string): OperationInfo {
  const tool = toolAttributes(NATIVE, name);
  return {
    kind: "internal",
    name: `execute_tool ${tool["gen_ai.tool.name"]}`,
    durations: ["gen_ai.execute_tool.duration"],
    attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function", ...tool },
  };
}

/** One call. */
interface Call {
  readonly call: LlmToolCall;
  readonly step: number;
  /** Earlier answers of people: they answer the call's pauses, in order. */
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

  /** Makes the call. Throws the reason of the run's signal; SluiceError E_INVALID_ARGUMENT for a wrong `callSignal`. */
  async make(args: Args): Promise<Outcome> {
    this.#call.signal.throwIfAborted();
    const own = getCallSignal(this.#deps.callSignal, this.#place);
    try {
      const settled = await this.#waitForEnd(args, own);
      // A call that waits for a person has no result yet.
      return settled === undefined ? { waiting: this.#waiting as Waiting } : this.#tell(settled);
    } finally {
      // A tool may ignore the signal, or continue after its result.
      this.#isOver = true;
    }
  }

  /** The result, or undefined if the call waits for a person. */
  async #waitForEnd(args: Args, own: AbortSignal | undefined): Promise<Settled | undefined> {
    try {
      own?.throwIfAborted();
      const settled = await untilAborted(this.#callTool(args, own), own);
      return this.#waiting === undefined ? settled : undefined;
    } catch (error) {
      this.#call.signal.throwIfAborted();
      if (own?.aborted === true) return this.#toBroken("The call was cancelled: go on without its result.");
      return this.#waiting === undefined ? this.#toFailed(error) : undefined;
    }
  }

  #tell(settled: Settled): Outcome {
    const { tell } = this.#deps;
    tell({ kind: "tool_returned", ...this.#place, isError: settled.isError });
    const { artifacts } = settled;
    if (artifacts.length > 0) tell({ kind: "artifact_stored", ...this.#place, artifacts });
    return { settled };
  }

  #callTool(args: Args, own: AbortSignal | undefined): Promise<Settled> {
    const signals = [this.#call.signal, this.#end.signal, own].filter((signal) => signal !== undefined);
    const any = AbortSignal.any(signals);
    const tool = this.#tool;
    if (tool.kind !== "native") return this.#external(tool, args, any);
    admitTools(NATIVE, [tool.name]);
    return observeOperation(
      () => nativeOperation(tool.name),
      () => this.#native(tool, args, any),
      ({ isError }) => (isError ? { error: "tool_error" } : {}),
    );
  }

  async #native(tool: NativeTool, args: Args, signal: AbortSignal): Promise<Settled> {
    const { scope, gate, arguments: expanding } = this.#deps;
    const sluice = await gate(tool.maxObservationChars);
    const prepared = await expanding.put({ name: tool.name, input_schema: tool.inputSchema }, args, scope, signal);
    if (prepared.kind === "answer") {
      return this.#settle(ToolAnswer.told(prepared.result, sluice), true, [], {});
    }
    signal.throwIfAborted();
    const context = this.#context(signal);
    const { shown, kept } = partValue((await tool.run(prepared.args, context)) ?? null, tool.outputSchema);
    const options = { tool: tool.name, namespace: NATIVE, scope, signal };
    const answer = await sluice.transform(shown, options);
    const all = await Promise.all(
      Object.entries(kept).map(async ([field, value]) => {
        // What the model never sees stays as it is, JSON or not, except bytes.
        if ((fieldPieces(value)?.length ?? 1) === 1) return { field, value, artifacts: [] };
        const told = await sluice.transform(value, { ...options, transformed: true });
        return { field, value: told.value, artifacts: told.artifacts };
      }),
    );
    const artifacts = [...this.#stored, ...answer.artifacts, ...all.flatMap((each) => each.artifacts)];
    return this.#settle(answer, false, artifacts, Object.fromEntries(all.map(({ field, value }) => [field, value])));
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
    const { cut } = answer;
    if (answer.isError || !hasMarks(schema)) {
      return this.#settle({ cut, text: this.#deps.listed.offered(answer.text) }, answer.isError, answer.artifacts, {});
    }
    const { shown, kept } = partValue(answer.value, schema);
    return this.#settle({ cut, text: this.#deps.listed.offered(toJson(shown)) }, false, answer.artifacts, kept);
  }

  #settle(
    { text, cut }: { readonly text: string; readonly cut?: ClampReport | undefined },
    isError: boolean,
    artifacts: readonly AnswerRef[],
    kept: Settled["kept"],
  ): Settled {
    const tool = this.#tool;
    const named = Object.entries(kept).map(([field, value]) => [`${tool.name}.${field}`, value]);
    return {
      tool: tool.name,
      namespace: getNamespace(tool),
      text,
      ...(cut !== undefined && { cut }),
      maxChars: tool.kind === "native" ? tool.maxObservationChars : undefined,
      isError,
      artifacts,
      kept: Object.fromEntries(named) as Settled["kept"],
    };
  }

  #toBroken(sentence: string): Settled {
    return describeFailure({ tool: this.#tool.name, namespace: getNamespace(this.#tool) }, sentence, [...this.#stored]);
  }

  #toFailed(error: unknown): Settled {
    if (error instanceof WrongArguments) return this.#toBroken(`The arguments do not fit. ${z.prettifyError(error)}`);
    const told = error instanceof SluiceError ? error : toUnexplainedError(this.#tool.name, error);
    this.#deps.tell({ kind: "tool_failed", ...this.#place, error: told });
    return this.#toBroken(told.message);
  }

  /** Sends an event of the tool, until the call is over. Throws SluiceError E_INVALID_ARGUMENT if it is no JSON. */
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
        // The tool continues with a ref that says so.
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
          name: checkText(name, "name"),
          value: jsonValue(value, "value"),
        })),
      emitChunk: (stream, chunk) =>
        this.#say(() => ({
          kind: "chunk_emitted",
          ...place,
          stream: checkText(stream, "stream"),
          chunk: jsonValue(chunk, "chunk"),
        })),
      reportProgress: (progress, total, message) =>
        this.#say(() => {
          const more = {
            ...(total !== undefined && { total: checkNumber(total, "total") }),
            ...(message !== undefined && { message: checkText(message, "message") }),
          };
          return {
            kind: "tool_progress",
            ...place,
            progress: { progress: checkNumber(progress, "progress"), ...more },
          };
        }),
    };
  }

  #pause(reason: PauseReason, payload: PausePayload): Promise<unknown> {
    const answered = this.#findAnswer(reason, payload);
    // The call waits even if the tool does not await the answer.
    answered.catch(() => undefined);
    return answered;
  }

  /** Returns an earlier answer. Otherwise ends the call, which is made again when there is an answer. */
  async #findAnswer(reason: PauseReason, payload: PausePayload): Promise<unknown> {
    const { answers } = this.#call;
    const number = this.#pauses++;
    if (number < answers.length) return answers[number];
    this.#waiting ??= toWaiting(this.#tool.name, reason, payload);
    const ended = new SluiceError(
      "E_TOOL",
      "The call is waiting for a person and is repeated when there is an answer.",
    );
    this.#end.abort(ended);
    throw ended;
  }
}

const REASONS: readonly PauseReason[] = ["external_event", "approval_required", "await_input"];

/** A pause as JSON. Throws SluiceError E_INVALID_ARGUMENT. */
function toWaiting(tool: string, reason: PauseReason, payload: PausePayload): Waiting {
  if (!OBJECT[1](payload)) throw wrong("payload", OBJECT[0]);
  if (REASONS.includes(reason)) {
    return { tool, reason, payload: jsonValue(payload, "payload") as PausePayload };
  }
  const sentence = `The reason of a pause must be one of ${REASONS.join(", ")}.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "reason" });
}

function checkText(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  throw wrong(path, "a string");
}

function checkNumber(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw wrong(path, "a finite number");
}

/** Messages of foreign errors may contain paths and secrets: the host sees them, the model does not. */
function toUnexplainedError(tool: string, cause: unknown): SluiceError {
  const sentence = `The tool ${JSON.stringify(tool)} failed without an explanation.`;
  return new SluiceError("E_TOOL", sentence, {}, { cause });
}

/** The namespace of what native tools store, and of the tool that reads it. */
export const NATIVE: string = "native";

/** The outcome of a call. */
export type Outcome = { readonly settled: Settled } | { readonly waiting: Waiting };

/** A failed call as the model sees it. `artifacts`: what it stored before. */
function describeFailure(
  { tool, namespace }: Pick<RawResult, "tool" | "namespace">,
  sentence: string,
  artifacts: readonly AnswerRef[] = [],
): Settled {
  const text = JSON.stringify({ isError: true, content: sentence });
  return { tool, namespace, text, maxChars: undefined, isError: true, artifacts, kept: {} };
}

/** Asks the host for the signal of a call: see `RunOptions.callSignal`. */
type CallSignals = (place: CallPlace) => AbortSignal | undefined;

/**
 * The host's signal for a call.
 *
 * @throws SluiceError E_INVALID_ARGUMENT if the host's function fails or returns something else.
 */
function getCallSignal(asked: CallSignals, place: CallPlace): AbortSignal | undefined {
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

/** Most characters of a call's id, and of a tool's name. */
const MAX_ID = 256;

/** At most `most` calls of a turn, with distinct ids. */
export function limitCalls(calls: readonly LlmToolCall[], most: number): readonly LlmToolCall[] {
  const ids = new Set<string>();
  return calls.slice(0, most).map((call, at) => {
    const id = distinct(leading(call.id, MAX_ID) || `call_${at}`, MAX_ID, ids);
    return { ...call, id, name: leading(call.name, MAX_ID) };
  });
}

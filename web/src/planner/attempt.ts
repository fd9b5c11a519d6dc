/**
 * One call of a tool that there is: made once, until it gives a result, fails, is given up, or waits for a person.
 * @module
 */
import { z } from "zod";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { untilAborted } from "../core/abort.js";
import { wrong } from "../core/call.js";
import { jsonOf, piecesOf } from "../core/value.js";
import type { AnswerRef, Sluice } from "../core/sluice.js";
import type { OnStoreFailure } from "../core/store-access.js";
import { SluiceError } from "../errors/error.js";
import { OBJECT } from "../errors/options.js";
import type { PauseReason, ToolProgress, ToolWait } from "../tools/context.js";
import type { ArtifactArguments } from "../tools/artifacts.js";
import { ToolAnswer } from "../tools/tool-answer.js";
import { callSignalOf, type CallSignals } from "./call-signal.js";
import { outputOf, type CatalogTool } from "./catalog.js";
import type { PlannerToolContext } from "./context.js";
import type { CallPlace, PlannerEvent } from "./event.js";
import type { Leaving } from "./exit.js";
import { jsonValue } from "./json-value.js";
import type { LlmToolCall } from "./llm/client.js";
import { hasMarks, parted } from "./marked-fields.js";
import { failed, NATIVE, type Outcome, type Settled, type Waiting } from "./settled.js";
import type { NativeTool } from "./tool.js";
import { ToolArtifacts } from "../artifacts/tool-artifacts.js";

/** What a call needs of its run. */
export interface AttemptTerms {
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

/** One call. */
export interface Call {
  readonly call: LlmToolCall;
  readonly step: number;
  /** What people answered before, when the call paused: its pauses are answered by these, in order. */
  readonly answers: readonly unknown[];
  readonly signal: AbortSignal;
}

type Args = Readonly<Record<string, unknown>>;

/** The one implementation. */
export class Attempt {
  readonly #call: Call;
  readonly #place: CallPlace;
  readonly #tool: CatalogTool;
  readonly #terms: AttemptTerms;
  readonly #end = new AbortController();
  readonly #stored: AnswerRef[] = [];
  #pauses = 0;
  #waiting: Waiting | undefined;
  #isOver = false;

  constructor(call: Call, place: CallPlace, tool: CatalogTool, terms: AttemptTerms) {
    this.#call = call;
    this.#place = place;
    this.#tool = tool;
    this.#terms = terms;
  }

  /** Makes it. Throws the run's signal's reason; SluiceError E_INVALID_ARGUMENT for a `callSignal` that gives no signal. */
  async make(args: Args): Promise<Outcome> {
    this.#call.signal.throwIfAborted();
    const own = callSignalOf(this.#terms.callSignal, this.#place);
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
    const { tell } = this.#terms;
    tell({ kind: "tool_returned", ...this.#place, isError: settled.isError });
    const { artifacts } = settled;
    if (artifacts.length > 0) tell({ kind: "artifact_stored", ...this.#place, artifacts });
    return { settled };
  }

  #called(args: Args, own: AbortSignal | undefined): Promise<Settled> {
    const signals = [this.#call.signal, this.#end.signal, own].filter((signal) => signal !== undefined);
    const any = AbortSignal.any(signals);
    return this.#tool.kind === "native" ? this.#native(this.#tool, args, any) : this.#external(args, any);
  }

  async #native(tool: NativeTool, args: Args, signal: AbortSignal): Promise<Settled> {
    const { scope, gate, arguments: expanding } = this.#terms;
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
        // What a model never sees stays whole, but for bytes, which are no JSON.
        if (piecesOf(value).length === 1) return { field, value, artifacts: [] };
        const told = await sluice.transform(value, { ...options, transformed: true });
        return { field, value: told.value, artifacts: told.artifacts };
      }),
    );
    const artifacts = [...this.#stored, ...answer.artifacts, ...all.flatMap((each) => each.artifacts)];
    return this.#settled(answer, false, artifacts, Object.fromEntries(all.map(({ field, value }) => [field, value])));
  }

  async #external(args: Args, signal: AbortSignal): Promise<Settled> {
    const tool = this.#tool;
    if (tool.kind === "native") throw new SluiceError("E_MISUSE", "A native tool is no source's.");
    const onProgress = (progress: ToolProgress): void =>
      this.#tell({ kind: "tool_progress", ...this.#place, progress });
    const pause = (...asked: Parameters<PlannerToolContext["pause"]>): Promise<unknown> => this.#pause(...asked);
    const onWait = (wait: ToolWait): void => this.#tell({ kind: "tool_waiting", ...this.#place, wait });
    const { scope, timeoutSeconds } = this.#terms;
    const timeout = timeoutSeconds === undefined ? {} : { timeoutSeconds };
    const answer = await tool.call(args, { scope, signal, pause, onProgress, onWait, ...timeout });
    if (answer.display !== undefined) this.#tell({ kind: "tool_display", ...this.#place, display: answer.display });
    const schema = outputOf(tool);
    if (answer.isError || !hasMarks(schema)) return this.#settled(answer, answer.isError, answer.artifacts, {});
    const { shown, kept } = parted(answer.value, schema);
    return this.#settled({ ...cutIn(answer), text: jsonOf(shown) }, false, answer.artifacts, kept);
  }

  #settled(
    answer: Pick<Leaving, "text" | "cut">,
    isError: boolean,
    artifacts: readonly AnswerRef[],
    kept: Settled["kept"],
  ): Settled {
    const tool = this.#tool;
    const named = Object.entries(kept).map(([field, value]) => [`${tool.name}.${field}`, value]);
    return {
      tool: tool.name,
      namespace: this.#namespace,
      text: answer.text,
      ...cutIn(answer),
      maxChars: tool.kind === "native" ? tool.maxObservationChars : undefined,
      isError,
      artifacts,
      kept: Object.fromEntries(named) as Settled["kept"],
    };
  }

  get #namespace(): string {
    return this.#tool.kind === "native" ? NATIVE : this.#tool.extra.namespace;
  }

  #broken(sentence: string): Settled {
    return failed({ tool: this.#tool.name, namespace: this.#namespace }, sentence, [...this.#stored]);
  }

  #failed(error: unknown): Settled {
    if (error instanceof z.ZodError) return this.#broken(`The arguments do not fit. ${z.prettifyError(error)}`);
    const told = error instanceof SluiceError ? error : unexplained(this.#tool.name, error);
    this.#terms.tell({ kind: "tool_failed", ...this.#place, error: told });
    return this.#broken(told.message);
  }

  /** The tool goes on with a ref that says so. */
  #failedStore(error: SluiceError): void {
    this.#terms.tell({ kind: "tool_failed", ...this.#place, error });
  }

  /** Tells what the tool says, until the call is over. */
  #tell(event: PlannerEvent): void {
    this.#say(() => event);
  }

  /** The same for what a native tool hands in. Throws SluiceError E_INVALID_ARGUMENT for what is no JSON. */
  #say(event: () => PlannerEvent): void {
    if (!this.#isOver && !this.#call.signal.aborted) this.#terms.tell(event());
  }

  #context(signal: AbortSignal): PlannerToolContext {
    const { store, scope, toolContext, llmContext } = this.#terms;
    const place = this.#place;
    return {
      artifacts: new ToolArtifacts(store, {
        scope,
        namespace: NATIVE,
        source: { tool: this.#tool.name },
        onStored: (ref) => void this.#stored.push(ref),
        ...(this.#terms.onStoreFailure === "answer" && { onFailure: (error) => this.#failedStore(error) }),
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

function cutIn({ cut }: Pick<Leaving, "cut">): Pick<Leaving, "cut"> {
  return cut === undefined ? {} : { cut };
}

/** Sentences of errors that are not ours may hold paths and secrets: the host is told, the model is not. */
function unexplained(tool: string, cause: unknown): SluiceError {
  const sentence = `The tool ${JSON.stringify(tool)} failed in a way that it does not explain.`;
  return new SluiceError("E_TOOL", sentence, {}, { cause });
}

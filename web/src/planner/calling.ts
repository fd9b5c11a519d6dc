/**
 * One call that the model wants made, from its name to the JSON of its result.
 * @module
 */
import { z } from "zod";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { untilAborted } from "../core/abort.js";
import { jsonOf } from "../core/call.js";
import type { AnswerRef, Sluice } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { nearest } from "../errors/nearest.js";
import type { PauseReason, ToolProgress } from "../tools/context.js";
import type { ArtifactArguments } from "../tools/artifacts/arguments.js";
import { ToolAnswer } from "../tools/tool-answer.js";
import { outputOf, type CatalogTool, type Listed } from "./catalog.js";
import type { PlannerToolContext } from "./context.js";
import type { CallPlace, PlannerEvent } from "./event.js";
import type { LlmToolCall } from "./llm/client.js";
import { hasMarks, parted } from "./marked-fields.js";
import type { NativeTool } from "./tool.js";
import { ToolArtifacts } from "./tool-artifacts.js";
import type { Leaving } from "./exit.js";

/** What native tools store is named after this, and so is the tool that reads it. */
export const NATIVE: string = "native";

/** What a call needs of its run. */
export interface CallTerms {
  readonly listed: Listed;
  readonly store: ArtifactStore;
  readonly scope: ArtifactScope;
  /** The gate for what a native tool returns, by the characters that its limit allows; undefined: as the planner's. */
  readonly gate: (maxChars: number | undefined) => Promise<Sluice>;
  /** Puts artifacts into what native tools are given. */
  readonly arguments: ArtifactArguments;
  readonly toolContext: Readonly<Record<string, unknown>>;
  readonly llmContext: Readonly<Record<string, unknown>>;
  /** What gives up one call, and not the run. */
  readonly callSignal: (place: CallPlace) => AbortSignal | undefined;
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

/** A result, and what the host keeps of it. */
export interface Settled extends Leaving {
  readonly isError: boolean;
  readonly artifacts: readonly AnswerRef[];
  /** Fields that are marked `artifact: true`, by tool and field. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/** The call waits for a person. It is made anew when there is an answer. */
export interface Waiting {
  readonly reason: PauseReason;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What became of a call. */
export type Outcome = { readonly settled: Settled } | { readonly waiting: Waiting };

/** The arguments as an object; undefined where the model wrote none. */
export function argsOf({ arguments: text }: LlmToolCall): Readonly<Record<string, unknown>> | undefined {
  try {
    const args: unknown = JSON.parse(text);
    return typeof args === "object" && args !== null && !Array.isArray(args)
      ? (args as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Makes a call. Throws only the signal's reason: what fails is told to the model. */
export async function made(call: Call, terms: CallTerms): Promise<Outcome> {
  const { listed, tell } = terms;
  const tool = listed.find(call.call.name);
  const name = tool?.name ?? call.call.name.slice(0, 64);
  const place: CallPlace = { step: call.step, call: call.call.id, tool: name };
  if (tool === undefined) return { settled: failed(name, NATIVE, unknownTool(name, listed.names)) };
  const args = argsOf(call.call);
  const namespace = tool.kind === "native" ? NATIVE : tool.extra.namespace;
  if (args === undefined)
    return { settled: failed(name, namespace, "The arguments are no JSON object: write them anew.") };
  tell({ kind: "tool_called", ...place });
  return new Attempt(call, place, tool, terms).make(args);
}

class Attempt {
  readonly #call: Call;
  readonly #place: CallPlace;
  readonly #tool: CatalogTool;
  readonly #terms: CallTerms;
  readonly #end = new AbortController();
  #pauses = 0;
  #waiting: Waiting | undefined;
  readonly #stored: AnswerRef[] = [];

  constructor(call: Call, place: CallPlace, tool: CatalogTool, terms: CallTerms) {
    this.#call = call;
    this.#place = place;
    this.#tool = tool;
    this.#terms = terms;
  }

  async make(args: Readonly<Record<string, unknown>>): Promise<Outcome> {
    const { signal } = this.#call;
    signal.throwIfAborted();
    const own = this.#terms.callSignal(this.#place);
    let settled: Settled;
    try {
      settled = await untilAborted(this.#called(args, own), own);
    } catch (error) {
      signal.throwIfAborted();
      settled = own?.aborted === true ? this.#cancelled() : this.#failed(error);
    }
    // What a call says that waits for a person was not its answer.
    if (this.#waiting !== undefined && own?.aborted !== true) return { waiting: this.#waiting };
    this.#terms.tell({ kind: "tool_returned", ...this.#place, isError: settled.isError });
    if (settled.artifacts.length > 0) {
      this.#terms.tell({ kind: "artifact_stored", ...this.#place, artifacts: settled.artifacts });
    }
    return { settled };
  }

  #called(args: Readonly<Record<string, unknown>>, own: AbortSignal | undefined): Promise<Settled> {
    const signals = [this.#call.signal, this.#end.signal, own].filter((signal) => signal !== undefined);
    const any = AbortSignal.any(signals);
    return this.#tool.kind === "native" ? this.#native(this.#tool, args, any) : this.#external(args, any);
  }

  async #native(tool: NativeTool, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Settled> {
    const { scope, gate, arguments: expanding } = this.#terms;
    const sluice = await gate(tool.maxObservationChars);
    const prepared = await expanding.put({ name: tool.name, input_schema: tool.inputSchema }, args, scope, signal);
    if (prepared.kind === "answer") {
      return this.#settled(ToolAnswer.told(prepared.result, sluice), true, [], {});
    }
    const value = await tool.run(prepared.args, this.#context(signal));
    const { shown, kept } = parted(value ?? null, tool.outputSchema);
    const options = { tool: tool.name, namespace: NATIVE, scope, signal };
    const answer = await sluice.transform(shown, options);
    return this.#settled(answer, false, [...this.#stored, ...answer.artifacts], kept);
  }

  async #external(args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Settled> {
    const tool = this.#tool;
    if (tool.kind === "native") throw new SluiceError("E_MISUSE", "A native tool is no source's.");
    const onProgress = (progress: ToolProgress): void => this.#progressed(progress);
    const pause = (...asked: Parameters<PlannerToolContext["pause"]>): Promise<unknown> => this.#pause(...asked);
    const answer = await tool.call(args, { scope: this.#terms.scope, signal, pause, onProgress });
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

  #cancelled(): Settled {
    return failed(this.#tool.name, this.#namespace, "The call was cancelled: go on without its result.");
  }

  #failed(error: unknown): Settled {
    const { name } = this.#tool;
    if (error instanceof z.ZodError)
      return failed(name, this.#namespace, `The arguments do not fit. ${z.prettifyError(error)}`);
    if (error instanceof SluiceError) {
      this.#terms.tell({ kind: "tool_failed", ...this.#place, error });
      return failed(name, this.#namespace, error.message);
    }
    // Sentences of errors that are not ours may hold paths and secrets: the host is told, the model is not.
    const cause = new SluiceError(
      "E_TOOL",
      `The tool ${JSON.stringify(name)} failed in a way that it does not explain.`,
      {},
      { cause: error },
    );
    this.#terms.tell({ kind: "tool_failed", ...this.#place, error: cause });
    return failed(name, this.#namespace, cause.message);
  }

  #context(signal: AbortSignal): PlannerToolContext {
    const { store, scope, toolContext, llmContext, tell } = this.#terms;
    const place = this.#place;
    return {
      artifacts: new ToolArtifacts(store, scope, NATIVE, (ref) => this.#stored.push(ref)),
      toolContext,
      llmContext,
      signal,
      pause: (reason, payload) => this.#pause(reason, payload),
      emitArtifact: (name, value) => tell({ kind: "artifact_emitted", ...place, name, value }),
      emitChunk: (stream, chunk) => tell({ kind: "chunk_emitted", ...place, stream, chunk }),
      reportProgress: (progress, total, message) =>
        this.#progressed({
          progress,
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message }),
        }),
    };
  }

  #progressed(progress: ToolProgress): void {
    this.#terms.tell({ kind: "tool_progress", ...this.#place, progress });
  }

  /** Gives what was answered before; else ends the call, which is made anew when there is an answer. */
  async #pause(reason: PauseReason, payload: Readonly<Record<string, unknown>>): Promise<unknown> {
    const { answers } = this.#call;
    const number = this.#pauses++;
    if (number < answers.length) return answers[number];
    this.#waiting ??= { reason, payload };
    const ended = new SluiceError("E_TOOL", "The call waits for a person, and is made anew when there is an answer.");
    this.#end.abort(ended);
    throw ended;
  }
}

function cutIn({ cut }: Pick<Leaving, "cut">): Pick<Leaving, "cut"> {
  return cut === undefined ? {} : { cut };
}

function failed(tool: string, namespace: string, sentence: string): Settled {
  const text = JSON.stringify({ isError: true, content: sentence });
  return { tool, namespace, text, maxChars: undefined, isError: true, artifacts: [], kept: {} };
}

function unknownTool(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  const remedy = meant === undefined ? "call one of the tools that you were told of" : `did you mean ${meant}?`;
  return `There is no tool ${JSON.stringify(name)}: ${remedy}.`;
}

/**
 * One call of a tool: its arguments, its attempts, its time limit, and the result that the caller gets.
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { ToolArtifacts, withoutScope } from "../artifacts/scoped.js";
import type { TruncatedRef } from "../artifacts/reference.js";
import { untilEither, untilLate } from "../core/abort.js";
import type { AnswerRef, Dialect, GatedResult, OnStoreFailure, Sluice, Transformed } from "../core/types.js";
import { Answer } from "../core/transform.js";
import type { SluiceError } from "../errors/error.js";
import { isStoreFailure } from "../errors/storage.js";
import { ignoreErrors } from "../mcp/interceptor-event.js";
import { shortenText } from "../mcp/artifact-reader/answer.js";
import { overAfter, timeoutResult, waitNotices } from "../mcp/wait-notices.js";
import type { Args, ArtifactArguments, Prepared } from "./artifacts.js";
import type { CallFiles } from "./call-files.js";
import type { ResolvedToolConfig } from "./config/resolved-config.js";
import { ToolClientError, ToolNodeError } from "./errors.js";
import type { ToolNodeEvent } from "./event.js";
import { MAX_RAW, ToolAnswer, type ToolResult } from "./result.js";
import type { Segment, ToolContext, ToolProgress, ToolWait } from "./context.js";
import { type Attempt, OutOfTime, type SilenceListener } from "./resilience/attempt.js";
import type { ResilientCall } from "./resilience/resilience.js";
import type { ResourceReading } from "./resources/cache.js";
import type { ResourceReader } from "./resources/reader.js";
import type { SourceCall, SourceConnection, SourceResult } from "./source.js";
import type { SourceTool } from "./source-features.js";
import { cleanText } from "./sources/mcp/elicitation.js";
import { type ErrorResult, type FileCall, takesUsername } from "./user-files.js";

/** What is known about one attempt over a session. */
type SessionAttempt = Omit<Attempt, "number">;

/** Options of one use of a session. */
export type SessionUse = Omit<ResilientCall, "signal" | "timeoutSeconds">;

/** Work to do over a session in one attempt. */
export type SessionWork<T> = (connection: SourceConnection, attempt: SessionAttempt) => Promise<T>;

/** What calls of one source work with. */
export interface ToolCallDeps {
  readonly config: ResolvedToolConfig;
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  /** What happens to a result when the store fails. */
  readonly onStoreFailure: OnStoreFailure;
  /** Puts artifacts into arguments. */
  readonly artifacts: ArtifactArguments;
  /** Handles users' files around calls. Undefined if the source has no `user_files`. */
  readonly files: CallFiles | undefined;
  /** The dialect of results that no transformer processes. */
  readonly dialect: Dialect;
  /** Aborted when the source is closed. Its reason is thrown by calls under way. */
  readonly over: AbortSignal;
  /** Must not throw. */
  readonly onEvent: (event: ToolNodeEvent) => void;
}

/** The source whose tool is called. */
interface CallSource {
  readonly deps: ToolCallDeps;
  readonly resources: Pick<ResourceReader, "linkReader">;
  /** Works over the caller's session until the caller cancels or the source is closed. */
  using<T>(context: ToolContext, use: SessionUse, work: SessionWork<T>): Promise<T>;
  /** Reports what was stored of a result, and what failed. */
  tell(tool: string, result: Pick<Transformed, "artifacts" | "failures">): void;
}

/** One call by one caller. */
export class ToolCall {
  readonly #source: CallSource;
  readonly #deps: ToolCallDeps;
  readonly #tool: SourceTool;
  readonly #context: ToolContext;
  readonly #time: CallTime;
  readonly #traceContext: Readonly<Record<string, string>> | undefined;

  /** `traceContext` tells the source what the call belongs to. @throws ToolClientError for an invalid time limit. */
  constructor(
    source: CallSource,
    tool: SourceTool,
    context: ToolContext,
    traceContext?: Readonly<Record<string, string>>,
  ) {
    this.#traceContext = traceContext;
    this.#source = source;
    this.#deps = source.deps;
    this.#tool = tool;
    this.#context = context;
    this.#time = callTime(source.deps, tool.name, context);
  }

  /** Makes the call and returns its result. File names and artifact URIs in the arguments are replaced first. */
  async result(given: Args): Promise<ToolResult> {
    const { files } = this.#deps;
    if (files === undefined) return this.#withFiles(given);
    const filed = await this.#untilOver((signal) => files.prepare(given, this.#fileCall(signal)));
    if (filed.kind === "answer") return this.#toFailedAnswer(filed.value);
    try {
      return await this.#withFiles(filed.args);
    } finally {
      filed.done?.();
    }
  }

  async #withFiles(args: Args): Promise<ToolResult> {
    const { sluice } = this.#deps;
    const prepared = await this.#withArtifacts(args);
    if (prepared.kind === "answer") return ToolAnswer.told(prepared.result, sluice, this.#dialect);
    let result: SourceResult;
    try {
      result = await this.#callSource(prepared.args);
    } catch (error) {
      const late = this.#time.result(error);
      if (late === undefined) throw error;
      return this.#toFailedAnswer(late);
    }
    await using gated = result.gated;
    const told = await this.#untilOver((signal) => this.#tellGated(gated, result.isError, signal));
    this.#source.tell(this.#tool.name, told);
    return told;
  }

  /**
   * Returns an error as the result. The last progress in it is the tool's own text and may hold paths of the user's
   * folder, so it is cleaned.
   */
  async #toFailedAnswer(error: ErrorResult): Promise<ToolAnswer> {
    const { files, sluice } = this.#deps;
    const said = JSON.stringify(error);
    const told =
      files === undefined ? said : await this.#untilOver((signal) => files.cleaned(said, this.#fileCall(signal)));
    return ToolAnswer.failed(told, sluice, this.#dialect);
  }

  /** Replaces artifact URIs in the arguments, and reports it to the host. */
  async #withArtifacts(args: Args): Promise<Prepared> {
    const { artifacts, config, onEvent } = this.#deps;
    const { scope = {} } = this.#context;
    const prepared = await this.#untilOver((signal) => artifacts.put(this.#tool, args, scope, signal));
    const tool = `${config.name}.${this.#tool.name}`;
    if (prepared.kind === "call") {
      for (const { id, path, form } of prepared.expansions) onEvent({ kind: "expanded", tool, id, path, form });
    } else if (prepared.failure !== undefined) onEvent({ kind: "failed", tool, error: prepared.failure });
    return prepared;
  }

  /** The caller disposes of the result. */
  #callSource(args: Args): Promise<SourceResult> {
    const { name: tool, isRepeatable } = this.#tool;
    // No retry after a timeout: the user was already told that the call is over.
    const used = { isRepeatable, tool, silence: this.#time.silence, isTimeoutFinal: true };
    return this.#source.using(this.#context, used, async (connection, attempt) => {
      const result = await this.#attempt(args, connection, attempt);
      attempt.progressed();
      if (attempt.signal.aborted) {
        // The caller has given up.
        await result.gated[Symbol.asyncDispose]();
        attempt.signal.throwIfAborted();
      }
      return result;
    });
  }

  #attempt(args: Args, connection: SourceConnection, attempt: SessionAttempt): Promise<SourceResult> {
    const { files } = this.#deps;
    const call = this.#sourceCall(args, attempt);
    this.#time.begin();
    if (files === undefined) return connection.call(call);
    // What a tool stored for a user is kept only if its result arrives whole.
    return files.whole((scope) => connection.call({ ...call, scope }), call.scope);
  }

  /** One attempt, as the source sees it. */
  #sourceCall(args: Args, attempt: SessionAttempt): SourceCall {
    const { config, files } = this.#deps;
    const { scope = {}, pause, showImages = false } = this.#context;
    const onProgress = ignoreErrors(this.#context.onProgress);
    const isTransformed = config.output_transformer !== null;
    const keepsOriginal = files !== undefined || (isTransformed && config.transformer_input === "raw");
    return {
      tool: this.#tool.name,
      args,
      // File handling and transformers process the result further.
      dialect: isTransformed || files !== undefined ? "mcp" : this.#dialect,
      keepOriginal: keepsOriginal ? MAX_RAW : 0,
      showImages,
      scope,
      signal: attempt.signal,
      ...(pause !== undefined && { pause }),
      ...(this.#traceContext !== undefined && { traceContext: this.#traceContext }),
      unhurried: (work) => attempt.unhurried(work),
      alive: () => attempt.progressed(),
      onProgress: (progress) => {
        attempt.progressed();
        this.#time.progressed(progress);
        onProgress(cutProgress(progress));
      },
    };
  }

  /**
   * Writes the result: by the tool output contract if it follows it, else by the host's transformer, else by the
   * ordinary layers.
   */
  async #tellGated(gated: GatedResult, isError: boolean, signal: AbortSignal): Promise<ToolAnswer> {
    const { config, files } = this.#deps;
    const call = this.#fileCall(signal);
    const filed = await files?.result(gated, isError, call, this.#dialect);
    if (filed !== undefined) return filed;
    await using own = await files?.again(gated, call);
    const result = own ?? gated;
    const context = { ...this.#context, signal };
    const byHost = await applyTransformer(result, call.tool, context, this.#deps);
    if (byHost !== undefined) return new ToolAnswer(byHost, isError);
    const read: ResourceReading[] = [];
    // Links are read after the call, so reading them never waits for the slot of this call.
    const seconds = checkTimeout(context, config.timeout_s);
    const readResource = this.#source.resources.linkReader(context, seconds, (reading) => read.push(reading));
    const { scope } = call;
    const options = { dialect: this.#dialect, scope, signal, ...(readResource !== undefined && { readResource }) };
    return new ToolAnswer(withReadings(await result.answer(options), read), isError);
  }

  /** With a transformer, results are always observations. */
  get #dialect(): Dialect {
    const { config, dialect } = this.#deps;
    return config.output_transformer === null ? (this.#context.dialect ?? dialect) : "observation";
  }

  /** The call as file handling sees it. */
  #fileCall(signal: AbortSignal): FileCall {
    const { name, input_schema } = this.#tool;
    const { scope = {} } = this.#context;
    const { config, onEvent } = this.#deps;
    return {
      tool: name,
      namespace: config.name,
      takesUsername: takesUsername(input_schema),
      isProgram: config.endpoint?.kind === "stdio" || config.transport === "cli",
      scope,
      signal,
      onRefused: (refusal) => onEvent({ kind: "refused", ...refusal }),
    };
  }

  /** Works until the caller cancels or the source is closed. */
  #untilOver<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return untilEither([this.#context.signal, this.#deps.over], work);
  }
}

/** Adds what the links in an answer led to; the core did not store that itself. */
function withReadings(answer: Transformed, read: readonly ResourceReading[]): Transformed {
  if (read.length === 0) return answer;
  const known = new Set(answer.artifacts.map(({ id }) => id));
  const more = read.flatMap(({ artifacts }) => artifacts).filter(({ id }) => !known.has(id));
  return new Answer({
    ...answer,
    refs: answer.refs,
    artifacts: [...answer.artifacts, ...new Map(more.map((ref) => [ref.id, ref])).values()],
    failures: [...answer.failures, ...read.flatMap(({ failures }) => failures)],
  });
}

/** Maximum characters of the last progress in a timeout result. */
const MAX_PROGRESS = 300;

/** Number of calls so far; numbers the calls in events. */
let callCount = 0;

interface CallTimeDeps {
  /** `{namespace}.{tool}`. */
  readonly tool: string;
  readonly context: ToolContext;
  /** Seconds of silence after which the user is told, in rising order. */
  readonly notifyAfter: readonly number[];
  /** The limit of silence, in seconds. */
  readonly timeoutSeconds: number;
  /** Must not throw. */
  readonly onEvent: (event: ToolNodeEvent) => void;
}

/** Watches the time of a call of a tool that has this name at the source. Throws a ToolClientError for an invalid limit. */
export function callTime(
  { config, onEvent }: Pick<ToolCallDeps, "config" | "onEvent">,
  tool: string,
  context: ToolContext,
): CallTime {
  const { name, notify_after_s: notifyAfter, timeout_s } = config;
  const timeoutSeconds = checkTimeout(context, timeout_s);
  return new CallTime({ tool: `${name}.${tool}`, context, notifyAfter, timeoutSeconds, onEvent });
}

/** Watches the time of one call, and tells the user when it takes long. */
export class CallTime {
  /** The listener for the attempts of the call. */
  readonly silence: SilenceListener;
  readonly #deps: CallTimeDeps;
  readonly #call = (callCount += 1);
  readonly #scope: ArtifactScope;
  readonly #onWait: (wait: ToolWait) => void;
  #progress: ToolProgress | undefined;
  #isOver = false;
  #hasEnded = false;

  constructor(deps: CallTimeDeps) {
    const { context, notifyAfter, timeoutSeconds } = deps;
    const waits = waitNotices(notifyAfter, timeoutSeconds);
    this.#deps = deps;
    this.#scope = { ...context.scope };
    this.#onWait = ignoreErrors(context.onWait);
    this.silence = {
      after: waits.map(({ after_s }) => after_s),
      onSilence: (index) => this.#tell(waits[index]),
      onOver: (seconds) => this.#tell(overAfter(seconds)),
    };
  }

  /** A new attempt starts: forgets progress of the one before. */
  begin(): void {
    this.#progress = undefined;
  }

  /** The source reported progress. */
  progressed(progress: ToolProgress): void {
    this.#progress = progress;
  }

  /** The caller no longer waits: nothing more is told, though the work may go on for others. */
  end(): void {
    this.#hasEnded = true;
  }

  /**
   * The result of a call that timed out; undefined for other errors. A timeout is a result rather than an error, so
   * that every host tells its model the same.
   */
  result(error: unknown): ErrorResult | undefined {
    if (!(error instanceof OutOfTime)) return undefined;
    // The connection has its own time limit, which may pass first.
    if (!this.#isOver) this.#tell(overAfter(error.seconds));
    const lastProgress = this.#progress === undefined ? null : progressText(this.#progress);
    return timeoutResult(error.seconds, lastProgress);
  }

  #tell(wait: ToolWait | undefined): void {
    if (wait === undefined || this.#hasEnded) return;
    this.#isOver = wait.is_over;
    const { tool, onEvent } = this.#deps;
    this.#onWait(wait);
    onEvent({ kind: "waiting", tool, call: this.#call, scope: this.#scope, ...wait });
  }
}

/** The source's message without invisible characters, or else the numbers. */
function progressText({ progress, total, message = "" }: ToolProgress): string {
  const said = shortenText(cleanText(message), MAX_PROGRESS).trim();
  if (said !== "") return said;
  return total === undefined ? String(progress) : `${progress}/${total}`;
}

/** Allowed values of `timeoutSeconds`. */
const LEAST = 1;
const MOST = 300;

/** Seconds of silence allowed for a call: its own, or the source's. Throws a ToolClientError for an invalid value. */
export function checkTimeout({ timeoutSeconds }: ToolContext, ofSource: number): number {
  if (timeoutSeconds === undefined) return ofSource;
  if (typeof timeoutSeconds === "number" && timeoutSeconds >= LEAST && timeoutSeconds <= MOST) return timeoutSeconds;
  throw new ToolClientError(`The context's timeoutSeconds must be a number of seconds from ${LEAST} to ${MOST}.`);
}

/**
 * Applies the host's transformer, then the gate, the size limits and the guardrail. Undefined if there is no
 * transformer, or if it throws, takes too long, or returns something that is not JSON: then the ordinary layers
 * answer.
 *
 * @param gated the result, written in the mcp dialect.
 * @param tool the source's own name for the tool.
 */
async function applyTransformer(
  gated: GatedResult,
  tool: string,
  context: ToolContext & { readonly signal: AbortSignal },
  { config, sluice, store, onStoreFailure, onEvent }: ToolCallDeps,
): Promise<Transformed | undefined> {
  const {
    name: namespace,
    output_transformer: transformer,
    transformer_input,
    transformer_timeout_s: seconds,
  } = config;
  if (transformer === null) return undefined;
  const { scope = {}, signal } = context;
  const reduced = await gated.answer({ scope, signal, dialect: "mcp" });
  const made: (ArtifactRef | TruncatedRef)[] = [];
  const failed: SluiceError[] = [];
  const artifacts = new ToolArtifacts(store, {
    scope,
    namespace,
    source: { tool },
    onStored: (ref) => made.push(ref),
    ...(onStoreFailure === "answer" && { onFailure: (error: SluiceError) => void failed.push(error) }),
  });
  // The returned value may still be a stream: reading it counts toward the time limit.
  const transformResult = async (over: AbortSignal): Promise<Transformed> => {
    const segments = reduced.artifacts.map((ref) => toSegment(ref, store, scope));
    const document = transformer_input === "raw" ? await rawResult(gated) : reduced.value;
    const value = await transformer(tool, document, { ...context, artifacts, segments });
    const options = { scope, signal: over, tool, namespace, transformed: true, rewritten: true };
    return sluice.transform(value ?? null, options);
  };
  try {
    const late = (): Error => new Error(`${tool} took more than ${seconds} s`);
    const told = await untilLate(transformResult, { most: seconds * 1000, late, signal });
    const refs = [...reduced.artifacts, ...made, ...told.artifacts];
    return new Answer({
      ...told,
      refs: undefined,
      artifacts: [...new Map(refs.map((ref) => [ref.id, ref])).values()],
      failures: [...reduced.failures, ...failed, ...told.failures],
      changed: true,
      bytesIn: reduced.bytesIn,
    });
  } catch (error) {
    signal.throwIfAborted();
    // If store failures are to be thrown, they are not blamed on the transformer.
    if (onStoreFailure === "throw" && isStoreFailure(error)) throw error;
    onEvent({ kind: "failed", tool: `${namespace}.${tool}`, error: transformerFailure(tool, error) });
    return undefined;
  }
}

/** The result as the source sent it. Throws a ToolNodeError if it is too long to keep. */
async function rawResult({ original }: GatedResult): Promise<unknown> {
  if (original !== undefined) return JSON.parse(await new Blob([...original] as BlobPart[]).text()) as unknown;
  throw new ToolNodeError(`a raw result may have at most ${MAX_RAW / 1024 / 1024} MiB`);
}

function toSegment(ref: AnswerRef, store: ArtifactStore, scope: ArtifactScope): Segment {
  const open = async (): Promise<ReadableStream<Uint8Array> | null> => {
    if (ref.source.truncated === true) return null;
    return store.openReader(ref.id, { scope });
  };
  // The transformer may return it, so the scope is removed.
  return { ref: withoutScope(ref), open };
}

function transformerFailure(tool: string, cause: unknown): ToolNodeError {
  return new ToolNodeError(
    `The transformer for ${tool} failed, so the result was reduced without it: fix it or leave it out.`,
    { cause },
  );
}

/** Most characters of a message of progress: a source may send megabytes. */
const MAX_PROGRESS_TEXT = 1000;

/** Progress with a message that a host can show. */
function cutProgress(progress: ToolProgress): ToolProgress {
  const { message } = progress;
  if (message === undefined || message.length <= MAX_PROGRESS_TEXT) return progress;
  return { ...progress, message: message.slice(0, MAX_PROGRESS_TEXT) };
}

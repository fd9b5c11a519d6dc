/**
 * One call of a tool: what it is made with, in as many attempts as it takes, and what is told of its result.
 * @module
 */
import { untilEither } from "../core/abort.js";
import { Answer } from "../core/transformed.js";
import type { Dialect, GatedResult, Transformed } from "../core/sluice.js";
import { heedless } from "../mcp/door-event.js";
import type { Args, Prepared } from "./artifacts.js";
import type { ToolContext } from "./context.js";
import { OutOfTime } from "./resilience/attempt.js";
import { systemClock } from "./resilience/clock.js";
import type { ResourceReading } from "./resources/contents.js";
import type { RunningSource, RunningTerms, SessionAttempt } from "./running-source.js";
import { endUnlessAnswered, isOwnProcess } from "./sessions.js";
import type { SourceCall, SourceConnection, SourceResult, SourceTool } from "./source.js";
import { ToolAnswer, type ToolResult } from "./tool-answer.js";
import { MAX_RAW, transformed } from "./transformer.js";
import { CallTime, timeoutOf } from "./user-files/call-time.js";
import { takesUsername, type FileCall } from "./user-files/handling.js";

/** One, of somebody. */
export class ToolCall {
  readonly #source: RunningSource;
  readonly #terms: RunningTerms;
  readonly #tool: SourceTool;
  readonly #context: ToolContext;
  /** What is told of its time, where the tool has to do with users' files. */
  readonly #time: CallTime | undefined;

  /** Throws a ToolClientError for a time limit that is none. */
  constructor(source: RunningSource, tool: SourceTool, context: ToolContext) {
    const { config, filing, onEvent } = source.terms;
    this.#source = source;
    this.#terms = source.terms;
    this.#tool = tool;
    this.#context = context;
    if (filing !== undefined) {
      const { name, notify_after_s: notifyAfter, timeout_s } = config;
      const timeoutSeconds = timeoutOf(context, timeout_s);
      this.#time = new CallTime({ tool: `${name}.${tool.name}`, context, notifyAfter, timeoutSeconds, onEvent });
    }
  }

  /** Makes it, with files and artifacts in the place of their names, and gives the result behind the gate. */
  async result(given: Args): Promise<ToolResult> {
    const { filing } = this.#terms;
    if (filing === undefined) return this.#withFiles(given);
    const filed = await this.#untilOver((signal) => filing.prepare(given, this.#fileCall(signal)));
    if (filed.kind === "answer") return filing.error(filed.value);
    try {
      return await this.#withFiles(filed.args);
    } finally {
      filed.done?.();
    }
  }

  async #withFiles(args: Args): Promise<ToolResult> {
    const { filing, sluice } = this.#terms;
    const prepared = await this.#withArtifacts(args);
    if (prepared.kind === "answer") return ToolAnswer.told(prepared.result, sluice, this.#dialect);
    let result: SourceResult;
    try {
      result = await this.#called(prepared.args);
    } catch (error) {
      const late = this.#time?.result(error);
      if (late === undefined || filing === undefined) throw error;
      return filing.error(late);
    }
    await using gated = result.gated;
    const told = await this.#untilOver((signal) => this.#told(gated, result.isError, signal));
    this.#source.tell(this.#tool.name, told);
    return told;
  }

  /** What is made of a call's arguments; the host is told of it. */
  async #withArtifacts(args: Args): Promise<Prepared> {
    const { artifacts, config, onEvent } = this.#terms;
    const { scope = {} } = this.#context;
    const prepared = await this.#untilOver((signal) => artifacts.put(this.#tool, args, scope, signal));
    const tool = `${config.name}.${this.#tool.name}`;
    if (prepared.kind === "call") {
      for (const { id, path, form } of prepared.expansions) onEvent({ kind: "expanded", tool, id, path, form });
    } else if (prepared.failure !== undefined) onEvent({ kind: "failed", tool, error: prepared.failure });
    return prepared;
  }

  /** What came of it is disposed of by whoever gets it. */
  #called(args: Args): Promise<SourceResult> {
    const { name: tool, isRepeatable } = this.#tool;
    const silence = this.#time?.silence;
    const used = { isRepeatable, tool, ...(silence !== undefined && { silence, isTimeoutFinal: true }) };
    return this.#source.using(this.#context, used, async (connection, attempt) => {
      const result = await this.#attempted(args, connection, attempt);
      attempt.progressed();
      if (attempt.signal.aborted) {
        // Nobody takes it any more.
        await result.gated[Symbol.asyncDispose]();
        attempt.signal.throwIfAborted();
      }
      return result;
    });
  }

  #attempted(args: Args, connection: SourceConnection, attempt: SessionAttempt): Promise<SourceResult> {
    const { filing } = this.#terms;
    const call = this.#sourceCall(args, connection, attempt);
    if (filing === undefined) return connection.call(call);
    this.#time?.begin();
    // What a user's tool stored stays only with the whole of its result.
    return filing.whole((scope) => connection.call({ ...call, scope }), call.scope);
  }

  /** One attempt, as the source is given it. */
  #sourceCall(args: Args, connection: SourceConnection, attempt: SessionAttempt): SourceCall {
    const { config, dialect, filing } = this.#terms;
    const { scope = {}, pause } = this.#context;
    const onProgress = heedless(this.#context.onProgress);
    const isTransformed = config.output_transformer !== null;
    const keepsOriginal = filing !== undefined || (isTransformed && config.transformer_input === "raw");
    return {
      tool: this.#tool.name,
      args,
      // Whoever keeps files goes on with the result, and so does a transformer.
      dialect: isTransformed || filing !== undefined ? "mcp" : dialect,
      keepOriginal: keepsOriginal ? MAX_RAW : 0,
      scope,
      signal: attempt.signal,
      ...(pause !== undefined && { pause }),
      unhurried: (work) => attempt.unhurried(work),
      alive: () => attempt.progressed(),
      onProgress: (progress) => {
        attempt.progressed();
        this.#time?.progressed(progress);
        onProgress(progress);
      },
      ...(isOwnProcess(config) && {
        onGivenUp: (isAnswered) => {
          // Whoever takes a call back may want the next one at once: a source that is slow alone is at fault.
          if (attempt.signal.reason instanceof OutOfTime) endUnlessAnswered(connection, isAnswered, systemClock);
        },
      }),
    };
  }

  /** By the contract that the result follows, by the host's transformer, or by the ordinary layers. */
  async #told(gated: GatedResult, isError: boolean, signal: AbortSignal): Promise<ToolAnswer> {
    const { config, filing } = this.#terms;
    const call = this.#fileCall(signal);
    const filed = await filing?.result(gated, isError, call);
    if (filed !== undefined) return filed;
    await using own = await filing?.again(gated, call);
    const result = own ?? gated;
    const context = { ...this.#context, signal };
    const byHost = await transformed(result, call.tool, context, this.#terms);
    if (byHost !== undefined) return new ToolAnswer(byHost, isError);
    const read: ResourceReading[] = [];
    // The call itself is over: so reading never waits for a turn that the call has.
    const seconds = timeoutOf(context, config.timeout_s);
    const readResource = this.#source.resources.linkReader(context, seconds, (reading) => read.push(reading));
    const { scope } = call;
    const options = { dialect: this.#dialect, scope, signal, ...(readResource !== undefined && { readResource }) };
    return new ToolAnswer(withRead(await result.answer(options), read), isError);
  }

  /** A transformer's result is an observation, and so is what is told in its place. */
  get #dialect(): Dialect {
    return this.#terms.config.output_transformer === null ? this.#terms.dialect : "observation";
  }

  /** The call as those who keep files know it. */
  #fileCall(signal: AbortSignal): FileCall {
    const { name, input_schema } = this.#tool;
    const { scope = {} } = this.#context;
    const place = { tool: name, namespace: this.#terms.config.name, takesUsername: takesUsername(input_schema) };
    return { ...place, scope, signal };
  }

  /** Until whoever calls gives up, or the source is closed. */
  #untilOver<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return untilEither([this.#context.signal, this.#terms.over], work);
  }
}

/** An answer with what the links in it led to, which the core did not store itself. */
function withRead(answer: Transformed, read: readonly ResourceReading[]): Transformed {
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

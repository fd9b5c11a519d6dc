/**
 * One call of an MCP tool, from its first request to its result. Answers questions and follows tasks on the way.
 * @module
 */
import {
  type ProgressCallback,
  ProtocolError,
  type RequestOptions,
  specTypeSchemas,
} from "@modelcontextprotocol/client";
import { untilEither } from "../../../core/abort.js";
import type { TransformOptions } from "../../../core/types.js";
import { objectOr, stringOr } from "../../../jsonrpc/rpc.js";
import { adaptError } from "../../adapt-error.js";
import { badAnswer, toSubject, ToolClientError, ToolNodeError, type ToolPlace, wasClosed } from "../../errors.js";
import { OutOfTime, sleep, systemClock } from "../../resilience/attempt.js";
import type { SourceCall, SourceResult } from "../../source.js";
import { through } from "../gated.js";
import { type Asker, type Calls, MAX_ASKED } from "./asker.js";
import { cleanText } from "./elicitation.js";
import { GRACE, NO_LIMIT, type RequestDeps, type RequestKind, requestMark, sendRequest } from "./requests.js";
import type { MessageDeps } from "./messages.js";
import type { ToolInterceptor } from "./tool-interceptor.js";

/** Milliseconds between two polls of a task: minimum, maximum, and the default if the server gives none. */
const POLL: { readonly least: number; readonly most: number; readonly usual: number } = {
  least: 100,
  most: 30_000,
  usual: 1000,
};

/** Maximum number of polls that may fail in a row. */
const MAX_FAILED_POLLS: number = 3;

/** Milliseconds that a task is followed, and that the server is asked to keep it. */
const TASK_TTL: number = 3_600_000;

/** Maximum number of times that a call may be answered with questions, as in the SDKs. */
const MAX_ROUNDS: number = 10;

/** Milliseconds before a call is repeated that was answered without a question, as in the SDKs. */
const ROUND_PAUSE: number = 250;

const NOT_MCP = "gave an answer that MCP does not allow";

/** An object that the server sent. */
type Answered = Readonly<Record<string, unknown>>;

/** The outcome of one request. */
type Came =
  | { readonly kind: "result"; readonly result: SourceResult }
  /** A question or a task instead of a result. */
  | { readonly kind: "aside"; readonly answer: Answered }
  /** The status of a task without a result. */
  | { readonly kind: "status"; readonly answer: Answered };

/** Options of a request. */
interface Sending {
  /** `_meta` of the request's parameters. */
  readonly _meta: Record<string, unknown>;
  readonly options: RequestOptions;
}

/** What calls of one connection work with. */
interface McpCallDeps extends RequestDeps, MessageDeps {
  readonly interceptor: ToolInterceptor;
  readonly calls: Pick<Calls, "follow">;
  /** Whether hosts answer for a model. */
  readonly sampling?: boolean;
}

/** Makes one call. */
export class McpCall {
  readonly deps: McpCallDeps;
  readonly call: SourceCall;
  readonly asker: Asker;
  readonly place: ToolPlace;
  readonly #options: TransformOptions;
  /** Whether the server has answered, and so knows the call. */
  #isKnown = false;

  constructor(deps: McpCallDeps, call: SourceCall, asker: Asker) {
    this.deps = deps;
    this.call = call;
    this.asker = asker;
    this.place = { source: deps.name, tool: call.tool };
    this.#options = createOptions(deps, call);
  }

  /** Whether the server speaks 2026-07-28 or later. */
  get isModern(): boolean {
    return this.deps.client.getProtocolEra() === "modern";
  }

  /**
   * Makes the call and returns the result.
   *
   * @param asTask whether the tool only runs as a task, which has to be requested (2025-11-25).
   */
  async result(asTask: boolean): Promise<SourceResult> {
    let more: Answered = {};
    for (let round = 0; round <= MAX_ROUNDS; round += 1) {
      const came = await this.#call(asTask, more);
      if (came.kind === "result") return came.result;
      const { answer } = came;
      const task = this.isModern ? answer : objectOr(answer["task"]);
      if (this.isModern ? answer["resultType"] === "task" : "taskId" in task) {
        return new RunningTask(this, task).result();
      }
      if (!this.isModern) return this.#plain(answer);
      if (answer["resultType"] !== "input_required") throw badAnswer(this.place, NOT_MCP);
      more = await this.#answer(answer);
    }
    throw badAnswer(this.place, `asked ${MAX_ROUNDS} times without giving a result`);
  }

  /** Sends a request whose result goes through the gate. Throws a ToolNodeError, or the signal's reason. */
  async send(kind: RequestKind, request: (sending: Sending) => Promise<Answered>): Promise<Came> {
    const { interceptor } = this.deps;
    const { signal, tool, alive, traceContext } = this.call;
    const pendingResult = interceptor.expect(kind, this.#options, { asker: this.asker, alive });
    const ask = async (): Promise<Came> => {
      const marks = { ...traceContext, ...requestMark(pendingResult.key) };
      const answer = await request({ _meta: marks, options: { signal, timeout: NO_LIMIT } });
      this.#isKnown = true;
      const { arrival } = pendingResult;
      if (arrival?.kind === "aside") return { kind: "aside", answer: arrival.result };
      const result = interceptor.outcome(pendingResult);
      if (result !== undefined) return { kind: "result", result };
      if (kind === "status") return { kind: "status", answer };
      // The answer bypassed the interceptor: its id is one that only the client takes for the request's.
      return { kind: "result", result: await this.#plain(answer) };
    };
    return sendRequest({ ask, signal, tool, pendingResult, goesOn: this.#isKnown }, this.deps);
  }

  /**
   * Answers a server's questions one after the other. Returns the answers by name.
   *
   * @throws ToolClientError if the server asks for something that the host does not answer; what the host throws.
   */
  async answers(questions: unknown, known: ReadonlySet<string> = new Set()): Promise<Record<string, unknown>> {
    const entries = Object.entries(objectOr(questions)).filter(([name]) => !known.has(name));
    if (entries.length > MAX_ASKED) throw badAnswer(this.place, `asks more than ${MAX_ASKED} questions`);
    const answers: [string, unknown][] = [];
    for (const [name, question] of entries) {
      const { method, params } = objectOr(question);
      if (method === "elicitation/create") answers.push([name, await this.asker.elicit(params)]);
      else if (method === "sampling/createMessage" && this.deps.sampling === true) {
        const reply = await this.asker.sample(params);
        // MCP has no way to decline one of several questions.
        if (reply === undefined) throw this.#toDeclined();
        answers.push([name, reply]);
      } else throw this.#unanswerable();
    }
    return Object.fromEntries(answers);
  }

  /** Waits, with the time limit paused, until the time is over or `before` settles. */
  async wait<T>(milliseconds: number, before?: Promise<T>): Promise<T | undefined> {
    const { unhurried = (work) => work(), signal } = this.call;
    const came = new AbortController();
    const waitForTask = async (over: AbortSignal): Promise<T | undefined> => {
      const slept = sleep(systemClock, milliseconds, over).then(() => undefined);
      try {
        return await (before === undefined ? slept : Promise.race([slept, before]));
      } finally {
        came.abort();
      }
    };
    return unhurried(() => untilEither([signal, came.signal], waitForTask));
  }

  #call(asTask: boolean, more: Answered): Promise<Came> {
    const { tool, args, onProgress } = this.call;
    return this.send(asTask ? "task" : "call", ({ _meta, options }) => {
      const params = { name: tool, arguments: { ...args }, ...(asTask && { task: { ttl: TASK_TTL } }), ...more, _meta };
      // Once the call is a task, the client no longer reports progress.
      const hears = onProgress !== undefined && !asTask && { onprogress: onProgress as ProgressCallback };
      return this.deps.client.callTool(params, { ...options, ...hears });
    });
  }

  /** Answers the questions, and returns what the call is repeated with. */
  async #answer({ inputRequests, requestState }: Answered): Promise<Answered> {
    const inputResponses = await this.answers(inputRequests);
    const isAnswered = Object.keys(inputResponses).length > 0;
    if (!isAnswered) await this.wait(ROUND_PAUSE);
    const state = stringOr(requestState);
    return { ...(isAnswered && { inputResponses }), ...(state !== undefined && { requestState: state }) };
  }

  async #plain(answer: Answered): Promise<SourceResult> {
    const gated = await through(this.deps.sluice, this.#options, [JSON.stringify(answer)]);
    return { gated, isError: answer["isError"] === true };
  }

  #toDeclined(): ToolClientError {
    return new ToolClientError(
      `${toSubject(this.place)} wants a model's reply, which was declined: call another tool.`,
    );
  }

  #unanswerable(): ToolClientError {
    const what = "asks for something that a person cannot answer, such as a model's reply";
    return new ToolClientError(`${toSubject(this.place)} ${what}: call another tool.`, { code: "E_TOOL_UNSUPPORTED" });
  }
}

function createOptions({ namespace }: Pick<McpCallDeps, "namespace">, call: SourceCall): TransformOptions {
  const { tool, dialect, keepOriginal, scope, signal, showImages = false } = call;
  return { tool, namespace, dialect, keepOriginal, scope, signal, clientShowsImages: showImages };
}

/** Maximum characters of a task's id, which every request about it repeats. */
const MAX_ID = 1024;

/** Follows one task. */
class RunningTask {
  readonly #calling: McpCall;
  readonly #place: ToolPlace;
  readonly #id: string;
  #status: Answered;
  #looks = 0;
  /** Milliseconds waited so far. */
  #waited = 0;
  #isOver = false;
  /** Names of questions that were answered. */
  readonly #answered = new Set<string>();
  /** The request for the result (2025-11-25). It is answered when the task ends, and carries its questions. */
  #payload: Promise<Came> | undefined;
  /** Aborts that request if the task ends without it. */
  readonly #over = new AbortController();

  /** @param status the server's answer that created the task. */
  constructor(calling: McpCall, status: Answered) {
    this.#calling = calling;
    this.#place = calling.place;
    this.#status = status;
    const id = stringOr(status["taskId"]);
    if (id === undefined || id === "" || id.length > MAX_ID) throw badAnswer(this.#place, "made a task without a name");
    this.#id = id;
  }

  /** Waits for the result. If the caller gives up, the task is cancelled at the server. */
  async result(): Promise<SourceResult> {
    const { deps, asker } = this.#calling;
    const forget = deps.calls.follow(this.#id, { asker, cancel: () => this.#cancel() });
    try {
      return await this.#follow();
    } catch (error) {
      if (!this.#isOver) void this.#cancel();
      throw error;
    } finally {
      forget();
      this.#over.abort();
    }
  }

  async #follow(): Promise<SourceResult> {
    for (;;) {
      const { status } = this.#status;
      if (status === "completed" || status === "failed" || status === "cancelled") return this.#outcome();
      if (status === "input_required") await this.#ask();
      const result = await this.#pause();
      if (result !== undefined) return result;
      const came = await this.#look();
      if (came.kind === "result") return came.result;
      this.#status = came.answer;
      this.#tell();
    }
  }

  /** Waits until the next poll, or until a result arrives. */
  async #pause(): Promise<SourceResult | undefined> {
    const { pollInterval, pollIntervalMs } = this.#status;
    const wanted = Number(pollIntervalMs ?? pollInterval ?? POLL.usual);
    const milliseconds = Math.min(POLL.most, Math.max(POLL.least, Number.isFinite(wanted) ? wanted : POLL.usual));
    this.#waited += milliseconds;
    if (this.#waited > TASK_TTL) throw this.#endless();
    const came = await this.#calling.wait(milliseconds, this.#payload);
    return came === undefined ? undefined : this.#toResult(came);
  }

  /** Polls the task. Retries failures, since the task continues meanwhile. */
  async #look(): Promise<Came> {
    const { deps, isModern } = this.#calling;
    for (let failures = 1; ; failures += 1) {
      try {
        if (isModern) return await this.#calling.send("status", ({ _meta, options }) => this.#get({ _meta }, options));
        return { kind: "status", answer: await this.#askServer((options) => this.#get({}, options)) };
      } catch (error) {
        const mayHelp = error instanceof ToolNodeError && error.isRetryable && deps.client.transport !== undefined;
        if (!mayHelp || failures >= MAX_FAILED_POLLS) throw error;
        await this.#calling.wait(POLL.usual * failures);
      }
    }
  }

  #get(more: Answered, options: RequestOptions): Promise<Answered> {
    return this.#request("tasks/get", more, options);
  }

  /** Reports progress after each poll: the answer shows that the server is alive, even if the task is silent. */
  #tell(): void {
    this.#looks += 1;
    const message = stringOr(this.#status["statusMessage"]);
    this.#calling.call.onProgress?.({
      progress: this.#looks,
      ...(message !== undefined && { message: cleanText(message) }),
    });
  }

  async #ask(): Promise<void> {
    if (!this.#calling.isModern) {
      // The server asks its questions during this request.
      this.#payload ??= this.#requestResult();
      this.#payload.catch(() => undefined);
      return;
    }
    const answers = await this.#calling.answers(this.#status["inputRequests"], this.#answered);
    for (const name of Object.keys(answers)) this.#answered.add(name);
    if (Object.keys(answers).length === 0) return;
    await this.#askServer((options) => this.#request("tasks/update", { inputResponses: answers }, options));
  }

  async #outcome(): Promise<SourceResult> {
    this.#isOver = true;
    const { status, error } = this.#status;
    if (status === "cancelled") {
      if (this.#calling.deps.isClosed()) throw wasClosed(this.#place.source);
      const sentence = `${toSubject(this.#place)} ended its task before it was done: call it again.`;
      throw new ToolNodeError(sentence, { category: "cancelled" });
    }
    // A failed task may have a result that explains it.
    if (!this.#calling.isModern) return this.#toResult(await (this.#payload ?? this.#requestResult()));
    if (status === "completed") throw badAnswer(this.#place, "says that its task is done but gives no result");
    const { code, message } = objectOr(error);
    if (typeof code !== "number") throw badAnswer(this.#place, "says that its task failed");
    const secrets = this.#calling.deps.secrets();
    throw adaptError(ProtocolError.fromError(code, String(message)), this.#place, { secrets });
  }

  #toResult(came: Came): SourceResult {
    if (came.kind !== "result") throw badAnswer(this.#place, NOT_MCP);
    this.#isOver = true;
    return came.result;
  }

  #requestResult(): Promise<Came> {
    return this.#calling.send("call", ({ _meta, options }) =>
      untilEither([options.signal, this.#over.signal], (signal) =>
        this.#request("tasks/result", { _meta }, { ...options, signal }),
      ),
    );
  }

  /** Cancels the task. Never throws or waits long. */
  async #cancel(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      await this.#request("tasks/cancel", {}, { timeout: GRACE });
    } catch {
      // The caller does not wait for the outcome.
    }
  }

  #askServer(request: (options: RequestOptions) => Promise<Answered>): Promise<Answered> {
    const { deps, call } = this.#calling;
    const { signal, tool } = call;
    return sendRequest({ ask: () => request({ signal, timeout: NO_LIMIT }), signal, tool, goesOn: true }, deps);
  }

  async #request(method: string, more: Answered, options: RequestOptions): Promise<Answered> {
    const { client } = this.#calling.deps;
    return client.request({ method, params: { taskId: this.#id, ...more } }, specTypeSchemas.Result, options);
  }

  #endless(): OutOfTime {
    const seconds = TASK_TTL / 1000;
    return new OutOfTime(
      `${toSubject(this.#place)} did not finish within ${seconds} s: ask for less at a time.`,
      seconds,
    );
  }
}

/**
 * One call of a tool, from its first request to its result: questions are answered, and tasks followed, in between.
 * @module
 */
import {
  ProtocolError,
  specTypeSchemas,
  type ProgressCallback,
  type RequestOptions,
} from "@modelcontextprotocol/client";
import { untilEither } from "../../../core/abort.js";
import type { TransformOptions } from "../../../core/sluice.js";
import { objectOr, stringOr } from "../../../mcp/rpc.js";
import { adaptError } from "../../adapt-error.js";
import { subjectOf, type ToolPlace } from "../../adapting/place.js";
import { wasClosed } from "../../closed.js";
import { ToolClientError, ToolNodeError, ToolServerError, ToolTimeoutError } from "../../errors.js";
import { sleep, systemClock } from "../../resilience/clock.js";
import type { SourceCall, SourceResult } from "../../source.js";
import { through } from "../body.js";
import type { ConnectionTerms } from "./connection.js";
import { MAX_ASKED, shown, type Asker } from "./elicitation.js";
import { marked, type Asked, type Expectation } from "./expectation.js";
import { asked, GRACE, NO_LIMIT } from "./requests.js";

/** Milliseconds between two looks at a task: the least and the most, whatever the server wants, and what it is left out. */
const POLL: { readonly least: number; readonly most: number; readonly usual: number } = {
  least: 100,
  most: 30_000,
  usual: 1000,
};

/** Looks at a task that may fail one after the other, where trying again may help. */
const MAX_FAILED_POLLS: number = 3;

/** How long, in milliseconds, a task is waited for between looks, and a server is asked to keep it. */
const TASK_TTL: number = 3_600_000;

/** Times that a call may be answered with questions, as in the SDKs. */
const MAX_ROUNDS: number = 10;

/** Milliseconds before a call is sent again that was answered without a question, as in the SDKs. */
const ROUND_PAUSE: number = 250;

/** JSON of the server's. */
type Answered = Readonly<Record<string, unknown>>;

/** What came of one request. */
type Came =
  | { readonly kind: "result"; readonly result: SourceResult }
  /** No result, but a question or a task. */
  | { readonly kind: "aside"; readonly answer: Answered }
  /** No result inside it. */
  | { readonly kind: "status"; readonly answer: Answered };

/** What the request is made with. */
interface Sending {
  /** Of its parameters. */
  readonly _meta: Record<string, unknown>;
  readonly options: RequestOptions;
}

/** Makes one call. */
export class Calling {
  readonly terms: ConnectionTerms;
  readonly call: SourceCall;
  readonly asker: Asker;
  readonly #options: TransformOptions;
  /** Whether the server has answered, so that it knows of the call. */
  #isKnown = false;
  /** The latest request behind the gate. */
  #sent: Pick<Expectation, "key"> | undefined;
  #task: RunningTask | undefined;

  constructor(terms: ConnectionTerms, call: SourceCall, asker: Asker) {
    this.terms = terms;
    this.call = call;
    this.asker = asker;
    this.#options = optionsOf(terms, call);
  }

  /** Whether the server speaks as since 2026-07-28. */
  get isModern(): boolean {
    return this.terms.client.getProtocolEra() === "modern";
  }

  /** Whether the server has nothing to do for the call any more: it has answered it, or ended the task that it made of it. */
  get isAnswered(): boolean {
    if (this.#task !== undefined) return this.#task.hasEnded;
    return this.#sent !== undefined && !this.terms.door.owes(this.#sent);
  }

  /** What the tool gives in the end. `asTask`: it runs in no other way, and that has to be said (2025-11-25). */
  async result(asTask: boolean): Promise<SourceResult> {
    let more: Answered = {};
    for (let round = 0; round <= MAX_ROUNDS; round += 1) {
      const came = await this.#called(asTask, more);
      if (came.kind === "result") return came.result;
      const { answer } = came;
      const task = this.isModern ? answer : objectOr(answer["task"]);
      if (this.isModern ? answer["resultType"] === "task" : "taskId" in task) {
        this.#task = new RunningTask(this, task);
        return this.#task.result();
      }
      if (!this.isModern) return this.#plain(answer);
      if (answer["resultType"] !== "input_required") throw this.#notAllowed("answered what MCP does not allow");
      more = await this.#answered(answer);
    }
    throw this.#notAllowed(`asked ${MAX_ROUNDS} times and gave no result`);
  }

  /** Sends a request whose answer goes through the gate. Throws a ToolNodeError, or the reason of the signal. */
  async send(kind: Asked, request: (sending: Sending) => Promise<Answered>): Promise<Came> {
    const { door } = this.terms;
    const { signal, tool, alive } = this.call;
    const expectation = door.expect(kind, this.#options, { asker: this.asker, alive });
    this.#sent = { key: expectation.key };
    const ask = async (): Promise<Came> => {
      const answer = await request({ _meta: marked(expectation.key), options: { signal, timeout: NO_LIMIT } });
      this.#isKnown = true;
      const { arrival } = expectation;
      if (arrival?.kind === "aside") return { kind: "aside", answer: arrival.result };
      const result = door.outcome(expectation);
      if (result !== undefined) return { kind: "result", result };
      if (kind === "status") return { kind: "status", answer };
      // It came past the door: under an id that only the client takes for that of the request.
      return { kind: "result", result: await this.#plain(answer) };
    };
    return asked({ ask, signal, tool, expectation, goesOn: this.#isKnown }, this.terms);
  }

  /**
   * The answers to a server's questions, one after the other, by their names.
   *
   * @throws ToolClientError where the server asks for what nobody here can give; what the host throws.
   */
  async answers(questions: unknown, known: ReadonlySet<string> = new Set()): Promise<Record<string, unknown>> {
    const entries = Object.entries(objectOr(questions)).filter(([name]) => !known.has(name));
    if (entries.length > MAX_ASKED) throw this.#notAllowed(`asks more than ${MAX_ASKED} questions`);
    const answers: [string, unknown][] = [];
    for (const [name, question] of entries) {
      const { method, params } = objectOr(question);
      if (method !== "elicitation/create") throw this.#unanswerable();
      answers.push([name, await this.asker.answer(params)]);
    }
    return Object.fromEntries(answers);
  }

  /** Waits, which the server is not to blame for; no longer than until what may come before does. */
  async wait<T>(milliseconds: number, before?: Promise<T>): Promise<T | undefined> {
    const { unhurried = (work) => work(), signal } = this.call;
    const came = new AbortController();
    const waited = async (over: AbortSignal): Promise<T | undefined> => {
      const slept = sleep(systemClock, milliseconds, over).then(() => undefined);
      try {
        return await (before === undefined ? slept : Promise.race([slept, before]));
      } finally {
        came.abort();
      }
    };
    return unhurried(() => untilEither([signal, came.signal], waited));
  }

  #called(asTask: boolean, more: Answered): Promise<Came> {
    const { tool, args, onProgress } = this.call;
    return this.send(asTask ? "task" : "call", ({ _meta, options }) => {
      const params = { name: tool, arguments: { ...args }, ...(asTask && { task: { ttl: TASK_TTL } }), ...more, _meta };
      // The client hears of no progress once a task was made of the call.
      const hears = onProgress !== undefined && !asTask && { onprogress: onProgress as ProgressCallback };
      return this.terms.client.callTool(params, { ...options, ...hears });
    });
  }

  /** What the call is sent again with. */
  async #answered({ inputRequests, requestState }: Answered): Promise<Answered> {
    const inputResponses = await this.answers(inputRequests);
    const isAnswered = Object.keys(inputResponses).length > 0;
    if (!isAnswered) await this.wait(ROUND_PAUSE);
    const state = stringOr(requestState);
    return { ...(isAnswered && { inputResponses }), ...(state !== undefined && { requestState: state }) };
  }

  async #plain(answer: Answered): Promise<SourceResult> {
    const gated = await through(this.terms.sluice, this.#options, [JSON.stringify(answer)]);
    return { gated, isError: answer["isError"] === true };
  }

  #notAllowed(what: string): ToolServerError {
    const { terms, call } = this;
    const subject = subjectOf({ source: terms.name, tool: call.tool });
    return new ToolServerError(`${subject} ${what}: see the source's own log.`, { category: "non_retryable" });
  }

  #unanswerable(): ToolClientError {
    const { terms, call } = this;
    const subject = subjectOf({ source: terms.name, tool: call.tool });
    const what = "wants to know something that no person can be asked, such as a model's answer";
    return new ToolClientError(`${subject} ${what}: call another tool.`, { code: "E_TOOL_UNSUPPORTED" });
  }
}

function optionsOf({ namespace, showImages = false }: ConnectionTerms, call: SourceCall): TransformOptions {
  const { tool, dialect, keepOriginal, scope, signal } = call;
  return { tool, namespace, dialect, keepOriginal, scope, signal, clientShowsImages: showImages };
}

/** Characters of a task's name; it stands in every request about it. */
const MAX_ID = 1024;

/** Follows one. */
class RunningTask {
  readonly #calling: Calling;
  readonly #place: ToolPlace;
  readonly #id: string;
  #status: Answered;
  #looks = 0;
  /** Milliseconds between looks, in all. */
  #waited = 0;
  #isOver = false;
  #hasEnded = false;
  /** The names of the questions that were answered. */
  readonly #answered = new Set<string>();
  /** The request for the result (2025-11-25), which ends with the task; with it come its questions. */
  #payload: Promise<Came> | undefined;
  /** Ends that request where the task ends without it. */
  readonly #over = new AbortController();

  /** `status` is what the server said when it made the task. */
  constructor(calling: Calling, status: Answered) {
    this.#calling = calling;
    this.#place = { source: calling.terms.name, tool: calling.call.tool };
    this.#status = status;
    const id = stringOr(status["taskId"]);
    if (id === undefined || id === "" || id.length > MAX_ID) throw this.#failed("made a task without a name");
    this.#id = id;
  }

  /** Whether the server has said that it is over. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The result. A task that is not waited for any longer is cancelled at the server. */
  async result(): Promise<SourceResult> {
    const { terms, asker } = this.#calling;
    const forget = terms.calls.follow(this.#id, { asker, cancel: () => this.#cancel() });
    try {
      return await this.#followed();
    } catch (error) {
      if (!this.#isOver) void this.#cancel();
      throw error;
    } finally {
      forget();
      this.#over.abort();
    }
  }

  async #followed(): Promise<SourceResult> {
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

  /** Waits for the next look, or for a result that comes before. */
  async #pause(): Promise<SourceResult | undefined> {
    const { pollInterval, pollIntervalMs } = this.#status;
    const wanted = Number(pollIntervalMs ?? pollInterval ?? POLL.usual);
    const milliseconds = Math.min(POLL.most, Math.max(POLL.least, Number.isFinite(wanted) ? wanted : POLL.usual));
    this.#waited += milliseconds;
    if (this.#waited > TASK_TTL) throw this.#endless();
    const came = await this.#calling.wait(milliseconds, this.#payload);
    return came === undefined ? undefined : this.#resultOf(came);
  }

  /** Whoever does not answer once may do so the next time: the task goes on meanwhile. */
  async #look(): Promise<Came> {
    const { terms, isModern } = this.#calling;
    for (let failures = 1; ; failures += 1) {
      try {
        if (isModern) return await this.#calling.send("status", ({ _meta, options }) => this.#get({ _meta }, options));
        return { kind: "status", answer: await this.#asked((options) => this.#get({}, options)) };
      } catch (error) {
        const mayHelp = error instanceof ToolNodeError && error.isRetryable && terms.client.transport !== undefined;
        if (!mayHelp || failures >= MAX_FAILED_POLLS) throw error;
        await this.#calling.wait(POLL.usual * failures);
      }
    }
  }

  #get(more: Answered, options: RequestOptions): Promise<Answered> {
    return this.#request("tasks/get", more, options);
  }

  /** An hour of work may be silent: that the server answers is what says that it is alive. */
  #tell(): void {
    this.#looks += 1;
    const message = stringOr(this.#status["statusMessage"]);
    this.#calling.call.onProgress?.({
      progress: this.#looks,
      ...(message !== undefined && { message: shown(message) }),
    });
  }

  async #ask(): Promise<void> {
    if (!this.#calling.isModern) {
      // The server asks over this request, which the result answers in the end.
      this.#payload ??= this.#requestResult();
      this.#payload.catch(() => undefined);
      return;
    }
    const answers = await this.#calling.answers(this.#status["inputRequests"], this.#answered);
    for (const name of Object.keys(answers)) this.#answered.add(name);
    if (Object.keys(answers).length === 0) return;
    await this.#asked((options) => this.#request("tasks/update", { inputResponses: answers }, options));
  }

  async #outcome(): Promise<SourceResult> {
    this.#isOver = true;
    const { status, error } = this.#status;
    if (status === "cancelled") {
      if (this.#calling.terms.isClosed()) throw wasClosed(this.#place.source);
      const sentence = `${subjectOf(this.#place)} ended its task before it was done: call it again.`;
      throw new ToolNodeError(sentence, { category: "cancelled" });
    }
    // What failed may have a result that says why.
    if (!this.#calling.isModern) return this.#resultOf(await (this.#payload ?? this.#requestResult()));
    if (status === "completed") throw this.#failed("says that its task is done, and gives no result");
    const { code, message } = objectOr(error);
    if (typeof code !== "number") throw this.#failed("says that its task failed");
    throw adaptError(ProtocolError.fromError(code, String(message)), this.#place);
  }

  #resultOf(came: Came): SourceResult {
    if (came.kind !== "result") throw this.#failed("answered what MCP does not allow");
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

  /** Never throws, and never waits for long: nobody wants the answer. */
  async #cancel(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      await this.#request("tasks/cancel", {}, { timeout: GRACE });
      this.#hasEnded = true;
    } catch {
      // Whoever wanted it has gone.
    }
  }

  #asked(request: (options: RequestOptions) => Promise<Answered>): Promise<Answered> {
    const { terms, call } = this.#calling;
    const { signal, tool } = call;
    return asked({ ask: () => request({ signal, timeout: NO_LIMIT }), signal, tool, goesOn: true }, terms);
  }

  async #request(method: string, more: Answered, options: RequestOptions): Promise<Answered> {
    const { client } = this.#calling.terms;
    return client.request({ method, params: { taskId: this.#id, ...more } }, specTypeSchemas.Result, options);
  }

  #endless(): ToolTimeoutError {
    const remedy = "ask for less at a time";
    return new ToolTimeoutError(`${subjectOf(this.#place)} did not end within ${TASK_TTL / 1000} s: ${remedy}.`);
  }

  #failed(what: string): ToolServerError {
    const sentence = `${subjectOf(this.#place)} ${what}: see the source's own log.`;
    return new ToolServerError(sentence, { category: "non_retryable" });
  }
}

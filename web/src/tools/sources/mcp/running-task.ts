/**
 * A task that a server made of a call, followed to its end (MCP 2025-11-25 "Tasks"; the extension of 2026-07-28).
 * @module
 */
import { ProtocolError, specTypeSchemas, type RequestOptions } from "@modelcontextprotocol/client";
import { untilEither } from "../../../core/abort.js";
import { objectOr, stringOr } from "../../../mcp/rpc.js";
import { adaptError } from "../../adapt-error.js";
import { subjectOf, type ToolPlace } from "../../adapting/place.js";
import { ToolNodeError, ToolServerError, ToolTimeoutError } from "../../errors.js";
import { wasClosed } from "../../closed.js";
import type { SourceResult } from "../../source.js";
import { asked } from "./asking.js";
import type { Answered, Calling, Came } from "./calling.js";
import { GRACE, MAX_FAILED_POLLS, NO_LIMIT, POLL, TASK_TTL } from "./limits.js";
import { shown } from "./question.js";

/** Characters of a task's name; it stands in every request about it. */
const MAX_ID = 1024;

/** Follows one. */
export class RunningTask {
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

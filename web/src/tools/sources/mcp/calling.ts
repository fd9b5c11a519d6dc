/**
 * One call of a tool, from its first request to its result: questions are answered, and tasks followed, in between.
 * @module
 */
import type { ProgressCallback, RequestOptions } from "@modelcontextprotocol/client";
import { untilEither } from "../../../core/abort.js";
import type { TransformOptions } from "../../../core/sluice.js";
import { objectOr, stringOr } from "../../../mcp/rpc.js";
import { subjectOf } from "../../adapting/place.js";
import { ToolClientError, ToolServerError } from "../../errors.js";
import { sleep, systemClock } from "../../resilience/clock.js";
import type { SourceCall, SourceResult } from "../../source.js";
import { through } from "../body/through.js";
import { asked } from "./asking.js";
import type { Asker } from "./asker.js";
import type { ConnectionTerms } from "./connection.js";
import type { Asked, Expectation } from "./expectation.js";
import { MAX_ASKED, MAX_ROUNDS, NO_LIMIT, ROUND_PAUSE, TASK_TTL } from "./limits.js";
import { marked } from "./marker.js";
import { RunningTask } from "./running-task.js";

/** JSON of the server's. */
export type Answered = Readonly<Record<string, unknown>>;

/** What came of one request. */
export type Came =
  | { readonly kind: "result"; readonly result: SourceResult }
  /** No result, but a question or a task. */
  | { readonly kind: "aside"; readonly answer: Answered }
  /** No result inside it. */
  | { readonly kind: "status"; readonly answer: Answered };

/** What the request is made with. */
export interface Sending {
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

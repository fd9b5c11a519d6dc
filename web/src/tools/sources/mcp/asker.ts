/**
 * Who is asked what an MCP server wants to know in the middle of a call: the host of the call it belongs to.
 * @module
 */
import type { CreateMessageResult, ElicitResult } from "@modelcontextprotocol/client";
import { onAbort, untilAborted, untilEither } from "../../../core/abort.js";
import type { ToolPlace } from "../../errors.js";
import type { SourceCall } from "../../source.js";
import { answerTo, DECLINED, readQuestion, type Question } from "./elicitation.js";
import type { MessageDeps } from "./messages.js";
import { readSampling } from "./sampling.js";

/** Maximum number of questions of one call. */
export const MAX_ASKED: number = 20;

interface AskerDeps extends MessageDeps {
  /** The source's name. */
  readonly name: string;
  /** Whether hosts answer for a model. */
  readonly sampling?: boolean;
}

/** Asks the person behind one call, through its host. */
export class Asker {
  readonly #call: SourceCall;
  readonly #deps: AskerDeps;
  readonly #place: ToolPlace;
  readonly #end = new AbortController();
  readonly #over = new AbortController();
  readonly #forget: () => void;
  #asked = 0;

  constructor(call: SourceCall, deps: AskerDeps) {
    this.#call = call;
    this.#deps = deps;
    this.#place = { source: deps.name, tool: call.tool };
    const { signal } = call;
    const end = (): void => this.#end.abort(signal.reason);
    this.#forget = onAbort(signal, end);
    if (signal.aborted) end();
  }

  /** Aborted when the caller cancels, or asking fails. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Ends the call. Open and later questions are declined. */
  release(): void {
    this.#forget();
    this.#over.abort();
  }

  /** Whether the host can ask. */
  get canAsk(): boolean {
    return this.#call.pause !== undefined;
  }

  /** Identifies the person. */
  get owner(): string {
    const { tenant_id = null, user_id = null } = this.#call.scope;
    return JSON.stringify([tenant_id, user_id]);
  }

  /**
   * Asks the question in the parameters of `elicitation/create`. Declines questions that cannot be asked.
   *
   * @param takenBack aborted when the server withdraws the question.
   * @throws what the host's `pause` throws; a ToolNodeError for an invalid answer; the reason of the call's signal.
   */
  async elicit(params: unknown, takenBack?: AbortSignal): Promise<ElicitResult> {
    const place = this.#place;
    const answered = await this.#ask(async () => {
      const question = readQuestion(params, place);
      return question && { ...question, read: (given) => answerTo(question, given, place) };
    }, takenBack);
    return answered ?? DECLINED;
  }

  /**
   * Asks for a model's reply to the parameters of `sampling/createMessage`. Undefined if it is declined. Otherwise as
   * `elicit`.
   */
  async sample(params: unknown, takenBack?: AbortSignal): Promise<CreateMessageResult | undefined> {
    if (this.#deps.sampling !== true) return undefined;
    const reading = { scope: this.#call.scope, signal: this.signal };
    return this.#ask(() => readSampling(params, reading, this.#deps, this.#place), takenBack);
  }

  /** Undefined if no one can be asked, or the answer is no. */
  async #ask<R>(
    read: () => Promise<Question<R> | undefined>,
    takenBack: AbortSignal | undefined,
  ): Promise<R | undefined> {
    const { pause, unhurried = (work) => work() } = this.#call;
    const isOver = this.signal.aborted || this.#over.signal.aborted || this.#asked >= MAX_ASKED;
    if (pause === undefined || isOver) return undefined;
    this.#asked += 1;
    const answerQuestion = async (): Promise<R | undefined> => {
      const question = await read();
      if (question === undefined) return undefined;
      const given = await untilAborted(pause(question.reason, question.payload), this.signal);
      return question.read(given);
    };
    try {
      return await unhurried(async () => declineOn([this.#over.signal, takenBack], answerQuestion()));
    } catch (error) {
      this.#end.abort(error);
      throw error;
    }
  }
}

/** Undefined once one of the signals is aborted: the question was withdrawn, or the call is over. */
function declineOn<R>(
  ends: readonly (AbortSignal | undefined)[],
  answered: Promise<R | undefined>,
): Promise<R | undefined> {
  return untilEither(ends, async (end) => {
    const declined = new Promise<undefined>((resolve) => {
      const decline = (): void => resolve(undefined);
      if (end.aborted) decline();
      else onAbort(end, decline);
    });
    return Promise.race([declined, answered]);
  });
}

/** A task that is followed. */
interface Followed {
  readonly asker: Asker;
  /** Cancels the task at the server. */
  readonly cancel: () => Promise<void>;
}

/** The calls under way, to find out who to ask. */
export class Calls {
  readonly #askers = new Set<Asker>();
  readonly #tasks = new Map<string, Followed>();

  /** Runs a call. Afterwards it cannot ask any more. */
  async during<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    this.#askers.add(asker);
    try {
      return await work();
    } finally {
      this.#askers.delete(asker);
      asker.release();
    }
  }

  /** Registers a task of a call. Call the returned function to remove it. */
  follow(taskId: string, followed: Followed): () => void {
    this.#tasks.set(taskId, followed);
    return () => void this.#tasks.delete(taskId);
  }

  /** Who to ask for a task. */
  askerOf(taskId: unknown): Asker | undefined {
    return typeof taskId === "string" ? this.#tasks.get(taskId)?.asker : undefined;
  }

  /**
   * Who to ask if the server names no call: the only one who can be asked. Undefined if calls of several people are
   * under way, since one would see another's question.
   */
  get only(): Asker | undefined {
    const all = [...this.#askers];
    if (new Set(all.map(({ owner }) => owner)).size !== 1) return undefined;
    const able = all.filter(({ canAsk }) => canAsk);
    return able.length === 1 ? able[0] : undefined;
  }

  /** Cancels all tasks. */
  async cancel(): Promise<void> {
    await Promise.all([...this.#tasks.values()].map(({ cancel }) => cancel()));
  }
}

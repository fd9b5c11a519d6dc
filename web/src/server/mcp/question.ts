/**
 * Questions of a call to the person of its client ("Elicitation"): as requests of MCP, and the calls that wait for the answer
 * between two requests (MCP 2026-07-28, `input_required`).
 * @module
 */
import { randomUUID } from "node:crypto";
import { objectOr } from "../../jsonrpc/rpc.js";
import type { PausePayload } from "../../tools/context.js";

/** A question, as `createPause` tells of it. */
export interface AskedPause {
  /** The id by which it is answered. */
  readonly pause: string;
  readonly payload: PausePayload;
}

/** Whether a client shows forms or pages to its person, according to its capabilities. */
export function showsQuestions(capabilities: unknown): boolean {
  return objectOr(capabilities)["elicitation"] !== undefined;
}

/** The request that asks a client. Undefined for what it does not show. */
export function toElicitation({ pause, payload }: AskedPause, capabilities: unknown): object | undefined {
  const elicitation = objectOr(objectOr(capabilities)["elicitation"]);
  // Until 2025-06-18 a client says nothing more, and shows forms.
  const showsForms = elicitation["form"] !== undefined || elicitation["url"] === undefined;
  const showsPages = elicitation["url"] !== undefined;
  switch (payload.pause_type) {
    case "elicitation": {
      const { message, schema } = payload;
      return showsForms ? createElicitation({ mode: "form", message, requestedSchema: schema }) : undefined;
    }
    case "url": {
      const { message, url } = payload;
      return showsPages ? createElicitation({ mode: "url", message, url, elicitationId: pause }) : undefined;
    }
    case "oauth": {
      const { display_name, auth_url: url } = payload;
      const message = `${display_name} asks you to give access. Open the page, and come back.`;
      return showsPages ? createElicitation({ mode: "url", message, url, elicitationId: pause }) : undefined;
    }
    default:
      return undefined;
  }
}

function createElicitation(params: object): object {
  return { method: "elicitation/create", params };
}

/**
 * What the call is told: the fields of a form, null for no. Undefined if something else tells it: consent comes from the
 * provider, after the person has opened its page.
 */
export function readAnswer({ payload }: AskedPause, result: unknown): unknown {
  const { action, content } = objectOr(result);
  if (action !== "accept") return null;
  if (payload.pause_type === "oauth") return undefined;
  return payload.pause_type === "elicitation" ? objectOr(content) : true;
}

/** Asks a person through the client: `question` is a request of MCP. Resolves with its result, or undefined. */
export type AskPerson = (question: object) => Promise<unknown>;

/** Milliseconds that a call waits for its client to come back with an answer. */
const ANSWER_TIMEOUT = 10 * 60 * 1000;

/** Most calls of one client that wait. */
const MAX_PAUSED = 16;

/** The name of the only question in a result, and of its answer. */
export const ANSWER = "answer";

/** What becomes of a call: its result, or a question that the client answers with `state`. */
type Came<T> =
  | { readonly kind: "result"; readonly result: T }
  | { readonly kind: "question"; readonly question: object; readonly state: string };

/** A call that may ask its client, who comes back with each answer. */
export class PausedCall<T> {
  readonly #over = new AbortController();
  readonly #result: Promise<Came<T>>;
  readonly #keep: (answer: (response: unknown) => void) => string;
  /** Questions that the client was not told yet. */
  readonly #questions: Came<T>[] = [];
  /** Tells that there is one. */
  #tell: () => void = () => undefined;

  constructor(
    begin: (ask: AskPerson, over: AbortSignal) => Promise<T>,
    keep: (answer: (response: unknown) => void) => string,
  ) {
    this.#keep = keep;
    this.#result = begin((question) => this.#ask(question), this.#over.signal).then((result) => ({
      kind: "result",
      result,
    }));
    this.#result.catch(() => undefined);
  }

  /** The next question, or the result. Throws what the call throws. */
  async next(): Promise<Came<T>> {
    const asked = new Promise<void>((resolve) => (this.#tell = resolve));
    if (this.#questions.length === 0) await Promise.race([this.#result, asked]);
    return this.#questions.shift() ?? this.#result;
  }

  cancel(reason: unknown): void {
    this.#over.abort(reason);
  }

  #ask(question: object): Promise<unknown> {
    return new Promise((resolve) => {
      this.#questions.push({ kind: "question", question, state: this.#keep(resolve) });
      this.#tell();
    });
  }
}

interface Waiting<T> {
  readonly call: PausedCall<T>;
  readonly answer: (response: unknown) => void;
  readonly timer: NodeJS.Timeout;
}

/** The calls of one client that wait for it. */
export class PausedCalls<T> {
  readonly #waiting = new Map<string, Waiting<T>>();

  /** Begins a call, which asks by the function that it is given. */
  begin(begin: (ask: AskPerson, over: AbortSignal) => Promise<T>): PausedCall<T> {
    const call: PausedCall<T> = new PausedCall(begin, (answer) => this.#keep(call, answer));
    return call;
  }

  /** The call that waits with this state, which now has its answer. Undefined if there is none. */
  resume(state: string, responses: unknown): PausedCall<T> | undefined {
    const waiting = this.#waiting.get(state);
    if (waiting === undefined) return undefined;
    this.#forget(state, waiting);
    waiting.answer(objectOr(responses)[ANSWER]);
    return waiting.call;
  }

  /** Ends all of them. */
  close(): void {
    for (const [state, waiting] of this.#waiting) this.#giveUp(state, waiting);
  }

  #keep(call: PausedCall<T>, answer: (response: unknown) => void): string {
    const state = randomUUID();
    const timer = setTimeout(() => this.#giveUp(state, waiting), ANSWER_TIMEOUT).unref();
    const waiting: Waiting<T> = { call, answer, timer };
    this.#waiting.set(state, waiting);
    const [oldest] = this.#waiting;
    if (this.#waiting.size > MAX_PAUSED && oldest !== undefined) this.#giveUp(...oldest);
    return state;
  }

  /** The client did not come back: the question is declined, and the call ended. */
  #giveUp(state: string, waiting: Waiting<T>): void {
    this.#forget(state, waiting);
    waiting.answer(undefined);
    waiting.call.cancel(new DOMException("The client did not answer.", "AbortError"));
  }

  #forget(state: string, { timer }: Waiting<T>): void {
    clearTimeout(timer);
    this.#waiting.delete(state);
  }
}

/**
 * What stands between a ToolNode's MCP client and its server: results never reach the client, however large; what the
 * gate makes of them waits here for whoever made the call.
 * @module
 */
import type { ArtifactStore } from "../../../artifacts/store.js";
import type { GatedResult, Sluice, TransformOptions } from "../../../core/sluice.js";
import { cancelledBy } from "../../../mcp/client-request.js";
import type { FromClient } from "../../../mcp/door.js";
import type { Doorway, MessageTaker } from "../../../mcp/doorway.js";
import { errorMessage, idKey, RpcCode } from "../../../mcp/rpc.js";
import { refuseMessage, type Refused } from "../../../mcp/too-large.js";
import { Incoming, type Outlet } from "../../../transports/incoming.js";
import { MAX_HEAD } from "../../../transports/limits.js";
import type { MessageMembers } from "../../../transports/members.js";
import type { SourceResult } from "../../source.js";
import { Answers, ResultFacts } from "./answers.js";
import type { Asker } from "./elicitation.js";
import { unmarked, Waiting, type Asked, type Expectation, type Waiter } from "./expectation.js";

/** What a door is made of. */
interface ToolDoorTerms {
  readonly sluice: Sluice;
  /** That of the sluice. */
  readonly store: ArtifactStore;
  /** Says what became of everybody who waits, when the connection is gone. */
  readonly lost: () => Error;
}

/** Never answered as other requests are: its answer ends it. */
const SUBSCRIPTION = "subscriptions/listen";

/** Questions of the server's that are kept account of until they are asked. */
const MAX_QUESTIONS = 1000;

/** Expectations so far: each has a key of its own. */
let keys = 0;

/** A door for one connection; exchanges over HTTP have doors beside it. */
export class ToolDoor implements Doorway {
  readonly #terms: ToolDoorTerms;
  readonly #waiting: Waiting;
  readonly #expected: Map<string, Expectation>;
  /** Whose question it is that comes with an exchange's answer, by its id. */
  readonly #questions: Map<string, Asker>;
  /** The requests that may be answered here; all, where it is not known. */
  readonly #ids: readonly string[] | undefined;

  constructor(terms: ToolDoorTerms, beside?: { readonly door: ToolDoor; readonly ids: readonly string[] }) {
    this.#terms = terms;
    this.#waiting = beside === undefined ? new Waiting() : beside.door.#waiting;
    this.#expected = beside === undefined ? new Map<string, Expectation>() : beside.door.#expected;
    this.#questions = beside === undefined ? new Map<string, Asker>() : beside.door.#questions;
    this.#ids = beside?.ids;
  }

  /** A door for the answer to one message, where no other answers come. */
  forExchange(message: Uint8Array): ToolDoor {
    const id = unmarked(message)?.request.id;
    return id === undefined ? this : new ToolDoor(this.#terms, { door: this, ids: [id] });
  }

  /** Says that a request will be sent whose result is to go through the gate. It carries `marked(key)` in its `_meta`. */
  expect(asked: Asked, options: TransformOptions, waiter: Waiter = {}): Expectation {
    const expectation: Expectation = { key: String((keys += 1)), asked, options, waiter };
    this.#expected.set(expectation.key, expectation);
    return expectation;
  }

  /**
   * The result behind the gate, for whoever asks first, who disposes of it; undefined where none came through. It is answered as was
   * expected, where nothing else is asked for.
   */
  outcome(expectation: Expectation): SourceResult | undefined {
    const { arrival, options: own } = expectation;
    if (arrival?.kind !== "result") return undefined;
    expectation.arrival = undefined;
    const { gated, isError } = arrival;
    const bound: GatedResult = {
      original: gated.original,
      answer: (options) => gated.answer({ ...own, ...options }),
      [Symbol.asyncDispose]: () => gated[Symbol.asyncDispose](),
    };
    return { gated: bound, isError };
  }

  /** Who is to be asked what the server asks in its request with this id; undefined where that is not known. */
  askerOf(id: string | number): Asker | undefined {
    const key = JSON.stringify(id);
    const asker = this.#questions.get(key);
    this.#questions.delete(key);
    return asker;
  }

  /** Whether a request was given up and is not answered yet. */
  owes(expectation: Pick<Expectation, "key">): boolean {
    return this.#waiting.owes(expectation);
  }

  /** Nobody waits for it any more. */
  release(expectation: Expectation): void {
    this.#expected.delete(expectation.key);
    this.#waiting.giveUp(expectation);
    const { arrival } = expectation;
    if (arrival?.kind === "result") void arrival.gated[Symbol.asyncDispose]();
  }

  async fromClient(bytes: Uint8Array): Promise<FromClient> {
    const sent = unmarked(bytes);
    if (sent === undefined) {
      const cancelled = cancelledBy(bytes);
      const expectation = this.#waiting.find(cancelled);
      if (expectation !== undefined) this.#waiting.giveUp(expectation);
      return { forward: bytes, answers: [] };
    }
    const { request, key, forward } = sent;
    if (request.method !== SUBSCRIPTION) this.#waiting.open(request.id, this.#expected.get(key ?? ""));
    return { forward, answers: [] };
  }

  refuse(message: MessageMembers): Refused {
    return refuseMessage(message);
  }

  fromServer(outlet: Pick<Outlet, "forward" | "complete" | "stray">, reply: (text: string) => void): MessageTaker {
    const facts = new ResultFacts();
    const answers = new Answers({
      waiting: this.#waiting,
      ids: this.#ids,
      facts,
      store: this.#terms.store,
      onQuestion: (id) => this.#noteQuestion(id),
      lost: this.#terms.lost,
    });
    const incoming = new Incoming(this.#terms.sluice, {
      judge: answers,
      forward: (bytes) => outlet.forward(bytes),
      complete: () => outlet.complete(),
      stray: (bytes) => outlet.stray(bytes),
      passed: ({ id, isResponse }) => void (isResponse && this.#waiting.close(id)),
      broken: (error, message) => {
        const { text, isForServer } = answers.broken(error, message);
        if (isForServer && text !== undefined) reply(text);
        return isForServer ? undefined : text;
      },
    });
    let size = 0;
    return {
      write: async (bytes) => {
        size += bytes.length;
        // A short message says nothing of anybody's answer; behind a long one all others wait.
        if (size > MAX_HEAD) this.#alive();
        facts.push(bytes);
        await incoming.write(bytes);
      },
      end: () => incoming.end(),
      [Symbol.asyncDispose]: async () => {
        await incoming[Symbol.asyncDispose]();
        answers.abandon();
      },
    };
  }

  /** Nobody is answered: that the connection is closed the client tells everybody, and an answer would say another thing. */
  abandon(): readonly string[] {
    for (const id of this.#waiting.ids) this.#lose(id);
    return [];
  }

  /** A request will not be answered, since what the answer would have come by is gone: what the client gets instead. */
  lose(id: string, sentence: string): string | undefined {
    if (!this.#waiting.has(id)) return undefined;
    this.#lose(id);
    return errorMessage(id, RpcCode.serverError, sentence);
  }

  /** Where exchanges have no doors of their own, an answer comes after the response to its request. */
  forget(id: string): void {
    if (this.#ids !== undefined) this.#waiting.close(id);
  }

  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  tool(): undefined {
    return undefined;
  }

  get waiting(): number {
    return this.#waiting.ids.length;
  }

  #alive(): void {
    for (const expectation of this.#waiting.among(this.#ids)) expectation?.waiter.alive?.();
  }

  /** What comes with the answer to one request belongs to that. */
  #noteQuestion(id: string): void {
    const asker = this.#waiting.find(this.#ids?.[0])?.waiter.asker;
    const key = idKey(id);
    if (asker === undefined || key === undefined) return;
    this.#questions.set(key, asker);
    const [oldest] = this.#questions.keys();
    if (this.#questions.size > MAX_QUESTIONS && oldest !== undefined) this.#questions.delete(oldest);
  }

  #lose(id: string): void {
    const expectation = this.#waiting.close(id);
    if (expectation !== undefined) expectation.failure ??= this.#terms.lost();
  }
}

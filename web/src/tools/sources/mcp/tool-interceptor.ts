/**
 * Stands between a ToolNode's MCP client and its server. Results never reach the client, however large: they pass the
 * gate and wait here for their calls. All other messages pass unchanged.
 * @module
 */
import { sameScope } from "../../../artifacts/scope.js";
import type { ArtifactScope, ArtifactStore } from "../../../artifacts/store.js";
import type { GatedResult, Sluice, TransformOptions } from "../../../core/types.js";
import { SluiceError } from "../../../errors/error.js";
import { JsonRpcScanner } from "../../../jsonrpc/json-rpc-scanner.js";
import { MAX_HEAD, MAX_MESSAGE } from "../../../jsonrpc/limits.js";
import { MessageReader, type MessageSink } from "../../../jsonrpc/message-reader.js";
import type { GateAnswer, MessageAction, MessagePolicy } from "../../../jsonrpc/message-rewriter.js";
import { readCancelledKey } from "../../../mcp/client-request.js";
import type { ClientMessageOutcome, Interceptor, MessageWriter } from "../../../mcp/interceptor-interface.js";
import { errorMessage, idKey, objectOr, RpcCode } from "../../../jsonrpc/rpc.js";
import { type Refused, refuseMessage, tooLargeForClient } from "../../../mcp/message-refusal.js";
import type { SourceResult } from "../../source.js";
import { dropStaged, stageResult, stagingScope } from "../gated.js";
import type { Asker } from "./asker.js";
import {
  PendingRequests,
  type PendingResult,
  getResultPlace,
  type RequestKind,
  standIn,
  removeMark,
  type Waiter,
} from "./requests.js";

interface ToolInterceptorDeps {
  readonly sluice: Sluice;
  /** The sluice's store. */
  readonly store: ArtifactStore;
  /** The error for pending requests when the connection is lost. */
  readonly lost: () => Error;
}

/** A request that is answered only when it ends. */
const SUBSCRIPTION = "subscriptions/listen";

/** Maximum number of questions of the server that are remembered until they are asked. */
const MAX_QUESTIONS = 1000;

/** Number of pending results so far; gives each a key. */
let keys = 0;

/** The interceptor of a connection. Each HTTP exchange has its own beside it. */
export class ToolInterceptor implements Interceptor {
  readonly #deps: ToolInterceptorDeps;
  readonly #waiting: PendingRequests;
  readonly #expected: Map<string, PendingResult>;
  /** The call that a question belongs to, by the question's id. */
  readonly #questions: Map<string, Asker>;
  /** The requests that may be answered here. Undefined for all. */
  readonly #ids: readonly string[] | undefined;

  constructor(
    deps: ToolInterceptorDeps,
    beside?: { readonly interceptor: ToolInterceptor; readonly ids: readonly string[] },
  ) {
    this.#deps = deps;
    this.#waiting = beside === undefined ? new PendingRequests() : beside.interceptor.#waiting;
    this.#expected = beside === undefined ? new Map<string, PendingResult>() : beside.interceptor.#expected;
    this.#questions = beside === undefined ? new Map<string, Asker>() : beside.interceptor.#questions;
    this.#ids = beside?.ids;
  }

  /** An interceptor for the answer to one message. */
  forExchange(message: Uint8Array): ToolInterceptor {
    const id = removeMark(message)?.request.id;
    return id === undefined ? this : new ToolInterceptor(this.#deps, { interceptor: this, ids: [id] });
  }

  /** Announces a request whose result passes the gate. The request must carry `requestMark(key)` in its `_meta`. */
  expect(asked: RequestKind, options: TransformOptions, waiter: Waiter = {}): PendingResult {
    const pendingResult: PendingResult = { key: String((keys += 1)), asked, options, waiter };
    this.#expected.set(pendingResult.key, pendingResult);
    return pendingResult;
  }

  /**
   * Takes the result; the caller disposes of it. Undefined if none passed the gate. By default it is written as
   * announced.
   */
  outcome(pendingResult: PendingResult): SourceResult | undefined {
    const { arrival, options: own } = pendingResult;
    if (arrival?.kind !== "result") return undefined;
    pendingResult.arrival = undefined;
    const { gated, isError } = arrival;
    const bound: GatedResult = {
      original: gated.original,
      answer: (options) => gated.answer({ ...own, ...options }),
      [Symbol.asyncDispose]: () => gated[Symbol.asyncDispose](),
    };
    return { gated: bound, isError };
  }

  /** Who to ask a question of the server. Undefined if that is unknown. */
  askerOf(id: string | number): Asker | undefined {
    const key = JSON.stringify(id);
    const asker = this.#questions.get(key);
    this.#questions.delete(key);
    return asker;
  }

  /** Gives up a pending result. */
  release(pendingResult: PendingResult): void {
    this.#expected.delete(pendingResult.key);
    this.#waiting.giveUp(pendingResult);
    const { arrival } = pendingResult;
    if (arrival?.kind === "result") void arrival.gated[Symbol.asyncDispose]();
  }

  async fromClient(bytes: Uint8Array): Promise<ClientMessageOutcome> {
    const sent = removeMark(bytes);
    if (sent === undefined) {
      const cancelled = readCancelledKey(bytes);
      const pendingResult = this.#waiting.find(cancelled);
      if (pendingResult !== undefined) this.#waiting.giveUp(pendingResult);
      return { forward: bytes, answers: [] };
    }
    const { request, key, forward } = sent;
    if (request.method !== SUBSCRIPTION) this.#waiting.open(request.id, this.#expected.get(key ?? ""));
    return { forward, answers: [] };
  }

  refuse(message: JsonRpcScanner): Refused {
    return refuseMessage(message);
  }

  fromServer(
    sink: Pick<MessageSink, "forward" | "complete" | "nonProtocol">,
    reply: (text: string) => void,
  ): MessageWriter {
    const facts = new ResultFacts();
    const answers = new ResultPolicy({
      waiting: this.#waiting,
      ids: this.#ids,
      facts,
      store: this.#deps.store,
      onQuestion: (id) => this.#noteQuestion(id),
      lost: this.#deps.lost,
    });
    const incoming = new MessageReader(this.#deps.sluice, {
      policy: answers,
      forward: (bytes) => sink.forward(bytes),
      complete: () => sink.complete(),
      nonProtocol: (bytes) => sink.nonProtocol(bytes),
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
        // A short message may be anything, but a long one delays all answers behind it.
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

  /** Sends no answer: the client itself reports to all requests that the connection is closed. */
  abandon(): readonly string[] {
    for (const id of this.#waiting.ids) this.#lose(id);
    return [];
  }

  /** Gives up a request whose answer cannot arrive any more. Returns the error message for the client. */
  lose(id: string, sentence: string): string | undefined {
    if (!this.#waiting.has(id)) return undefined;
    this.#lose(id);
    return errorMessage(id, RpcCode.serverError, sentence);
  }

  /** Only for exchanges: otherwise an answer may still come after the response. */
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
    for (const pendingResult of this.#waiting.among(this.#ids)) pendingResult?.waiter.alive?.();
  }

  /** A question that arrives with the answer to a request belongs to its call. */
  #noteQuestion(id: string): void {
    const asker = this.#waiting.find(this.#ids?.[0])?.waiter.asker;
    const key = idKey(id);
    if (asker === undefined || key === undefined) return;
    this.#questions.set(key, asker);
    const [oldest] = this.#questions.keys();
    if (this.#questions.size > MAX_QUESTIONS && oldest !== undefined) this.#questions.delete(oldest);
  }

  #lose(id: string): void {
    const pendingResult = this.#waiting.close(id);
    if (pendingResult !== undefined) pendingResult.failure ??= this.#deps.lost();
  }
}

interface AnswerDeps {
  readonly waiting: PendingRequests;
  /** The requests that the message may answer. Undefined for all. */
  readonly ids: readonly string[] | undefined;
  readonly facts: ResultFacts;
  readonly store: ArtifactStore;
  /** Called with the id of each request of the server before it is passed on. */
  readonly onQuestion: (id: string) => void;
  /** The error for a lost connection. */
  readonly lost: () => Error;
}

/** Passes the message unchanged, or not at all if it is too large. */
const WHOLE: MessageAction = { kind: "edit", edit: () => undefined };

/** Decides what happens to one message. */
class ResultPolicy implements MessagePolicy {
  readonly #deps: AnswerDeps;
  /** The pending result that passes the gate. */
  #gated: PendingResult | undefined;
  #staging: ArtifactScope | undefined;

  constructor(deps: AnswerDeps) {
    this.#deps = deps;
  }

  /** Never used: this policy always decides. */
  get fallback(): TransformOptions {
    return { scope: stagingScope() };
  }

  decide(message: JsonRpcScanner, isWhole: boolean): MessageAction | undefined {
    const id = message.text("id");
    const isUrgent = message.size > MAX_MESSAGE;
    const { waiting, ids, onQuestion } = this.#deps;
    if (message.member("result") === undefined) {
      if (id !== undefined && message.member("method") !== undefined) onQuestion(id);
      return isWhole || isUrgent ? WHOLE : undefined;
    }
    if (id !== undefined || isWhole) {
      const pendingResult = waiting.find(id);
      return pendingResult === undefined ? WHOLE : this.#answer(pendingResult, message, isWhole || isUrgent);
    }
    const all = waiting.among(ids);
    const [only] = all;
    if (only !== undefined && all.length === 1) return this.#answer(only, message, isUrgent);
    if (!isUrgent) return undefined;
    const expected = all.filter((each) => each !== undefined);
    return expected.length === 0 ? WHOLE : this.#stage(message, expected, expected.length < all.length);
  }

  /** The answer in place of a message that cannot be passed on, and who gets it. */
  broken(
    error: unknown,
    message: JsonRpcScanner,
  ): { readonly text: string | undefined; readonly isForServer: boolean } {
    this.abandon();
    const { waiting } = this.#deps;
    const id = message.text("id");
    const isForServer = !message.isResponse && message.member("method") !== undefined;
    const pendingResult = isForServer ? undefined : (waiting.close(id) ?? this.#gated);
    if (pendingResult !== undefined) pendingResult.failure ??= this.#toFailure(error);
    const sentence = "The message could not be read.";
    const data = error instanceof SluiceError ? { code: error.code } : undefined;
    const text = id === undefined ? undefined : errorMessage(id, RpcCode.internal, sentence, data);
    return { text, isForServer };
  }

  /** Discards the message. */
  abandon(): void {
    if (this.#staging !== undefined) void dropStaged(this.#deps.store, this.#staging);
    this.#staging = undefined;
  }

  #answer(pendingResult: PendingResult, message: JsonRpcScanner, isLast: boolean): MessageAction | undefined {
    const { asked } = pendingResult;
    if (!this.#isResult(pendingResult)) {
      return asked === "read" ? WHOLE : { kind: "edit", edit: (text) => this.#aside(text, message) };
    }
    // A running task's status is complete without a result.
    if (message.member(getResultPlace(asked)) === undefined) return isLast ? WHOLE : undefined;
    return this.#gate(pendingResult, message);
  }

  /**
   * Keeps a question or a task for the call. The client gets a placeholder, since it knows no tasks and not whom to
   * ask.
   */
  #aside(text: string, message: JsonRpcScanner): string | undefined {
    const id = message.text("id");
    const pendingResult = this.#deps.waiting.find(id);
    if (id === undefined || pendingResult === undefined) return undefined;
    const { result } = JSON.parse(text) as { readonly result: unknown };
    pendingResult.arrival = { kind: "aside", result: objectOr(result) };
    return `{"jsonrpc":"2.0","id":${id},"result":${standIn(pendingResult.asked, false)}}`;
  }

  /** As far as is known yet. */
  #isResult({ asked }: PendingResult): boolean {
    const { facts } = this.#deps;
    return facts.isComplete && !(asked === "task" && facts.isTask);
  }

  #gate(pendingResult: PendingResult, message: JsonRpcScanner): MessageAction {
    this.#gated = pendingResult;
    const answer = (gated: GatedResult): Promise<GateAnswer> =>
      this.#onArrival(gated, () => this.#check(message, pendingResult));
    return { kind: "gate", member: getResultPlace(pendingResult.asked), options: pendingResult.options, answer };
  }

  /**
   * Starts gating before the id is known. If all candidates share a scope, the result is stored there. Otherwise, or
   * if it may answer a cancelled call, it is stored in a temporary scope.
   */
  #stage(message: JsonRpcScanner, all: readonly PendingResult[], maybeNobodys: boolean): MessageAction {
    const member = message.member("result.result") === undefined ? "result" : "result.result";
    const [first] = all as readonly [PendingResult];
    const isOwned = !maybeNobodys && all.every(({ options }) => sameScope(options.scope, first.options.scope));
    if (!isOwned) this.#staging = stagingScope();
    const { scope = {}, namespace = "", clientShowsImages = false } = first.options;
    const keepOriginal = Math.max(...all.map(({ options }) => options.keepOriginal ?? 0));
    const answer = (gated: GatedResult): Promise<GateAnswer> => {
      const staging = this.#staging;
      const owned = staging === undefined ? gated : stageResult(gated, this.#deps.store, staging);
      this.#staging = undefined;
      return this.#onArrival(owned, () => {
        const checked = this.#check(message);
        if (getResultPlace(checked.pendingResult.asked) !== member) throw tooLargeForClient();
        return checked;
      });
    };
    const options = { dialect: "mcp", namespace, clientShowsImages, keepOriginal } as const;
    return { kind: "gate", member, options: { ...options, scope: this.#staging ?? scope }, answer };
  }

  /** Gives a result to its call. The client gets a placeholder. */
  async #onArrival(
    gated: GatedResult,
    check: () => { readonly pendingResult: PendingResult; readonly isError: boolean },
  ): Promise<GateAnswer> {
    try {
      const { pendingResult, isError } = check();
      pendingResult.arrival = { kind: "result", gated, isError };
      return { text: standIn(pendingResult.asked, isError) };
    } catch (error) {
      await gated[Symbol.asyncDispose]();
      throw error;
    }
  }

  #toFailure(error: unknown): Error {
    if (!(error instanceof SluiceError)) return unreadable(error);
    return error.code === "E_JSON_END" ? this.#deps.lost() : error;
  }

  /** The pending result of the complete message. Throws if it is not the expected one, or none. */
  #check(message: JsonRpcScanner, thought?: PendingResult): { pendingResult: PendingResult; isError: boolean } {
    const { waiting, facts } = this.#deps;
    const pendingResult = waiting.find(message.text("id"));
    const isRight = pendingResult !== undefined && (thought === undefined || thought === pendingResult);
    if (!isRight || !this.#isResult(pendingResult)) throw tooLargeForClient();
    return { pendingResult, isError: facts.isError };
  }
}

function unreadable(cause: unknown): SluiceError {
  return new SluiceError("E_JSON_SYNTAX", "The answer is not JSON-RPC.", {}, { cause });
}

/** Bytes of a value that are kept. All values of interest are shorter. */
const MAX_VALUE = 64;

/** Extracts from a message what decides about its result (MCP, `Result`, `CallToolResult`). */
export class ResultFacts {
  readonly #members = new JsonRpcScanner();
  readonly #type = new MemberValue("result.resultType");
  readonly #error = new MemberValue("result.isError");
  /** The result inside the status of a finished task, which is too deep for the outer scanner. */
  readonly #inner = new JsonRpcScanner();
  readonly #innerError = new MemberValue("isError");

  /** Takes bytes of the message. */
  push(bytes: Uint8Array): void {
    const at = this.#members.size;
    this.#members.push(bytes);
    this.#type.follow(this.#members, bytes, at);
    this.#error.follow(this.#members, bytes, at);
    this.#look(bytes, at);
  }

  /** Whether it is a result, as far as is known, rather than a question or a task. */
  get isComplete(): boolean {
    return !this.#type.isKnown || this.#type.value === "complete";
  }

  /** Whether it names a task instead of a result (2025-11-25). */
  get isTask(): boolean {
    return this.#members.member("result.task") !== undefined;
  }

  /** Whether the tool failed, according to the result or the result inside it. */
  get isError(): boolean {
    return this.#error.value === true || this.#innerError.value === true;
  }

  #look(bytes: Uint8Array, at: number): void {
    const member = this.#members.member("result.result");
    if (member === undefined) return;
    const from = Math.max(0, member.start - at);
    const to = Math.min(bytes.length, (member.end ?? Infinity) - at);
    if (to <= from) return;
    const part = bytes.subarray(from, to);
    const partAt = this.#inner.size;
    this.#inner.push(part);
    this.#innerError.follow(this.#inner, part, partAt);
  }
}

/** The value of one member. */
class MemberValue {
  readonly #path: string;
  #text = "";
  /** Where the value starts. Of duplicate names the last one counts. */
  #start: number | undefined;
  #taken = 0;
  #isKnown = false;

  constructor(path: string) {
    this.#path = path;
  }

  follow(members: JsonRpcScanner, bytes: Uint8Array, at: number): void {
    const member = members.member(this.#path);
    if (member === undefined) return;
    if (member.start !== this.#start) {
      this.#start = member.start;
      this.#text = "";
      this.#taken = member.start;
    }
    this.#isKnown = member.end !== undefined;
    const end = Math.min(member.end ?? Infinity, at + bytes.length, member.start + MAX_VALUE);
    if (end <= this.#taken) return;
    this.#text += new TextDecoder().decode(bytes.subarray(this.#taken - at, end - at));
    this.#taken = end;
  }

  /** Whether the value is complete. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Undefined also if it is too long. */
  get value(): unknown {
    if (this.#text === "") return undefined;
    try {
      return JSON.parse(this.#text) as unknown;
    } catch {
      return undefined;
    }
  }
}

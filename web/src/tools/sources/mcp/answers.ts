/**
 * What becomes of one message of the server's: results that are waited for go through the gate, all else stays as it is.
 * @module
 */
import { sameScope } from "../../../artifacts/scope.js";
import type { ArtifactScope, ArtifactStore } from "../../../artifacts/store.js";
import type { GatedResult, TransformOptions } from "../../../core/sluice.js";
import { SluiceError } from "../../../errors/error.js";
import { errorMessage, objectOr, RpcCode } from "../../../mcp/rpc.js";
import { tooLargeForClient } from "../../../mcp/too-large.js";
import { MAX_MESSAGE } from "../../../transports/limits.js";
import { MessageMembers } from "../../../transports/members.js";
import type { Course, GateAnswer, Judge } from "../../../transports/passage.js";
import { placeOf, standIn, type Expectation, type Waiting } from "./expectation.js";
import { dropStaged, staged, stagingScope } from "./staging.js";

/** What one message is judged by. */
interface AnswerTerms {
  readonly waiting: Waiting;
  /** The requests that it may answer; all, where it is not known. */
  readonly ids: readonly string[] | undefined;
  readonly facts: ResultFacts;
  readonly store: ArtifactStore;
  /** Told of the id of each request of the server's, before it is passed on. */
  readonly onQuestion: (id: string) => void;
  /** Says that the connection ended. */
  readonly lost: () => Error;
}

/** It goes on as it came, or not at all where it is too large. */
const WHOLE: Course = { kind: "edit", edit: () => undefined };

/** Judges one message. */
export class Answers implements Judge {
  readonly #terms: AnswerTerms;
  /** Whose result is going through the gate. */
  #gated: Expectation | undefined;
  #staging: ArtifactScope | undefined;

  constructor(terms: AnswerTerms) {
    this.#terms = terms;
  }

  /** Never followed: nothing is let pass that would have to be reduced. */
  get fallback(): TransformOptions {
    return { scope: stagingScope() };
  }

  course(message: MessageMembers, isWhole: boolean): Course | undefined {
    const id = message.text("id");
    const isUrgent = message.size > MAX_MESSAGE;
    const { waiting, ids, onQuestion } = this.#terms;
    if (message.member("result") === undefined) {
      if (id !== undefined && message.member("method") !== undefined) onQuestion(id);
      return isWhole || isUrgent ? WHOLE : undefined;
    }
    if (id !== undefined || isWhole) {
      const expectation = waiting.find(id);
      return expectation === undefined ? WHOLE : this.#answer(expectation, message, isWhole || isUrgent);
    }
    const all = waiting.among(ids);
    const [only] = all;
    if (only !== undefined && all.length === 1) return this.#answer(only, message, isUrgent);
    if (!isUrgent) return undefined;
    const expected = all.filter((each) => each !== undefined);
    return expected.length === 0 ? WHOLE : this.#stage(message, expected, expected.length < all.length);
  }

  /** What is said in place of a message that cannot be passed on, and to whom. */
  broken(
    error: unknown,
    message: MessageMembers,
  ): { readonly text: string | undefined; readonly isForServer: boolean } {
    this.abandon();
    const { waiting } = this.#terms;
    const id = message.text("id");
    const isForServer = !message.isResponse && message.member("method") !== undefined;
    const expectation = isForServer ? undefined : (waiting.close(id) ?? this.#gated);
    if (expectation !== undefined) expectation.failure ??= this.#failureOf(error);
    const sentence = "The message could not be taken.";
    const data = error instanceof SluiceError ? { code: error.code } : undefined;
    const text = id === undefined ? undefined : errorMessage(id, RpcCode.internal, sentence, data);
    return { text, isForServer };
  }

  /** Nothing more comes of the message. */
  abandon(): void {
    if (this.#staging !== undefined) void dropStaged(this.#terms.store, this.#staging);
    this.#staging = undefined;
  }

  #answer(expectation: Expectation, message: MessageMembers, isLast: boolean): Course | undefined {
    const { asked } = expectation;
    if (!this.#isResult(expectation)) {
      return asked === "read" ? WHOLE : { kind: "edit", edit: (text) => this.#aside(text, message) };
    }
    // The status of a task that goes on is all there is.
    if (message.member(placeOf(asked)) === undefined) return isLast ? WHOLE : undefined;
    return this.#gate(expectation, message);
  }

  /** What came is kept for whoever called, since the client knows no tasks, and not who is to be asked. */
  #aside(text: string, message: MessageMembers): string | undefined {
    const id = message.text("id");
    const expectation = this.#terms.waiting.find(id);
    if (id === undefined || expectation === undefined) return undefined;
    const { result } = JSON.parse(text) as { readonly result: unknown };
    expectation.arrival = { kind: "aside", result: objectOr(result) };
    return `{"jsonrpc":"2.0","id":${id},"result":${standIn(expectation.asked, false)}}`;
  }

  /** As far as is known. */
  #isResult({ asked }: Expectation): boolean {
    const { facts } = this.#terms;
    return facts.isComplete && !(asked === "task" && facts.isTask);
  }

  #gate(expectation: Expectation, message: MessageMembers): Course {
    this.#gated = expectation;
    const answer = (gated: GatedResult): Promise<GateAnswer> =>
      this.#arrived(gated, () => this.#checked(message, expectation));
    return { kind: "gate", member: placeOf(expectation.asked), options: expectation.options, answer };
  }

  /**
   * Whose it is will be known at its end. Where all who wait have one scope, it is stored there; else, and where it may be the
   * answer to a call that was given up, it is nobody's until then.
   */
  #stage(message: MessageMembers, all: readonly Expectation[], maybeNobodys: boolean): Course {
    const member = message.member("result.result") === undefined ? "result" : "result.result";
    const [first] = all as readonly [Expectation];
    const isOwned = !maybeNobodys && all.every(({ options }) => sameScope(options.scope, first.options.scope));
    if (!isOwned) this.#staging = stagingScope();
    const { scope = {}, namespace = "", clientShowsImages = false } = first.options;
    const keepOriginal = Math.max(...all.map(({ options }) => options.keepOriginal ?? 0));
    const answer = (gated: GatedResult): Promise<GateAnswer> => {
      const staging = this.#staging;
      const owned = staging === undefined ? gated : staged(gated, this.#terms.store, staging);
      this.#staging = undefined;
      return this.#arrived(owned, () => {
        const checked = this.#checked(message);
        if (placeOf(checked.expectation.asked) !== member) throw tooLargeForClient();
        return checked;
      });
    };
    const options = { dialect: "mcp", namespace, clientShowsImages, keepOriginal } as const;
    return { kind: "gate", member, options: { ...options, scope: this.#staging ?? scope }, answer };
  }

  /** Hands a result to whom it belongs; the client gets something small in its place. */
  async #arrived(
    gated: GatedResult,
    check: () => { readonly expectation: Expectation; readonly isError: boolean },
  ): Promise<GateAnswer> {
    try {
      const { expectation, isError } = check();
      expectation.arrival = { kind: "result", gated, isError };
      return { text: standIn(expectation.asked, isError) };
    } catch (error) {
      await gated[Symbol.asyncDispose]();
      throw error;
    }
  }

  #failureOf(error: unknown): Error {
    if (!(error instanceof SluiceError)) return unreadable(error);
    return error.code === "E_JSON_END" ? this.#terms.lost() : error;
  }

  /** Whose result it was after all. Throws where it is another's than was thought, or none. */
  #checked(message: MessageMembers, thought?: Expectation): { expectation: Expectation; isError: boolean } {
    const { waiting, facts } = this.#terms;
    const expectation = waiting.find(message.text("id"));
    const isRight = expectation !== undefined && (thought === undefined || thought === expectation);
    if (!isRight || !this.#isResult(expectation)) throw tooLargeForClient();
    return { expectation, isError: facts.isError };
  }
}

function unreadable(cause: unknown): SluiceError {
  return new SluiceError("E_JSON_SYNTAX", "The answer is not JSON-RPC.", {}, { cause });
}

/** Bytes of a value that are kept: all that is asked for is shorter. */
const MAX_VALUE = 64;

/** Follows one message, and keeps what decides about its result (MCP, `Result`, `CallToolResult`). */
export class ResultFacts {
  readonly #members = new MessageMembers();
  readonly #type = new Kept("result.resultType");
  readonly #error = new Kept("result.isError");
  /** The result inside the status of a task that is done: its members are deeper than those of a message are told. */
  readonly #inner = new MessageMembers();
  readonly #innerError = new Kept("isError");

  /** Takes bytes of the message. */
  push(bytes: Uint8Array): void {
    const at = this.#members.size;
    this.#members.push(bytes);
    this.#type.follow(this.#members, bytes, at);
    this.#error.follow(this.#members, bytes, at);
    this.#look(bytes, at);
  }

  /** Whether the result is what was asked for, as far as is known: neither a question nor a task. */
  get isComplete(): boolean {
    return !this.#type.isKnown || this.#type.value === "complete";
  }

  /** Whether it names a task (2025-11-25), which is no result where one was asked for. */
  get isTask(): boolean {
    return this.#members.member("result.task") !== undefined;
  }

  /** Whether it says that the tool failed, or the result inside it does. */
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

/** One member's value. */
class Kept {
  readonly #path: string;
  #text = "";
  /** Where the value begins that is being kept: of two of a name readers take the last. */
  #start: number | undefined;
  #taken = 0;
  #isKnown = false;

  constructor(path: string) {
    this.#path = path;
  }

  follow(members: MessageMembers, bytes: Uint8Array, at: number): void {
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

  /** Whether all of it has come. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Undefined also for what is too long to be of interest. */
  get value(): unknown {
    if (this.#text === "") return undefined;
    try {
      return JSON.parse(this.#text) as unknown;
    } catch {
      return undefined;
    }
  }
}

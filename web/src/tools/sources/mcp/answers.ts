/**
 * What becomes of one message of the server's: results that are waited for go through the gate, all else stays as it is.
 * @module
 */
import type { ArtifactScope } from "../../../artifacts/store.js";
import type { Transformed, TransformOptions } from "../../../core/sluice.js";
import { SluiceError } from "../../../errors/error.js";
import { errorMessage, objectOr, RpcCode } from "../../../mcp/rpc.js";
import { tooLargeForClient } from "../../../mcp/too-large.js";
import { MAX_MESSAGE } from "../../../transports/limits.js";
import type { MessageMembers } from "../../../transports/members.js";
import type { Course, Judge } from "../../../transports/passage.js";
import { placeOf, standIn, type Expectation } from "./expectation.js";
import type { ResultFacts } from "./result-facts.js";
import { stagingScope } from "./staging.js";
import type { Waiting } from "./waiting.js";

/** What one message is judged by. */
export interface AnswerTerms {
  readonly waiting: Waiting;
  /** The requests that it may answer; all, where it is not known. */
  readonly ids: readonly string[] | undefined;
  readonly facts: ResultFacts;
  /** Whether the store gives back what it was given. */
  readonly keeps: boolean;
  /** Told of the id of each request of the server's, before it is passed on. */
  readonly onQuestion: (id: string) => void;
  /** Says that the connection ended. */
  readonly lost: () => Error;
  /** Deletes what was staged for nobody. */
  readonly dropStaged: (scope: ArtifactScope) => void;
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
    return all.every((each) => each === undefined) ? WHOLE : this.#stage(message);
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
    if (this.#staging !== undefined) this.#terms.dropStaged(this.#staging);
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
    const { ids, keeps } = this.#terms;
    const member = placeOf(expectation.asked);
    const { readResource, ...options } = expectation.options;
    // Over one pipe nothing that a link is read by can arrive before this message is over.
    if (readResource !== undefined && ids === undefined && keeps) return this.#stage(message);
    this.#gated = expectation;
    const complete = (reduced: Transformed): string => {
      const { isError } = this.#checked(message, expectation);
      expectation.arrival = { kind: "reduced", reduced, isError };
      return standIn(expectation.asked, isError);
    };
    return { kind: "gate", member, options: ids === undefined ? options : expectation.options, complete };
  }

  /** Whose it is will be known at its end; until then it is nobody's. */
  #stage(message: MessageMembers): Course {
    const scope = (this.#staging = stagingScope());
    const member = message.member("result.result") === undefined ? "result" : "result.result";
    const complete = (reduced: Transformed): string => {
      const { expectation, isError } = this.#checked(message);
      if (placeOf(expectation.asked) !== member) throw tooLargeForClient();
      expectation.arrival = { kind: "staged", reduced, isError, scope };
      this.#staging = undefined;
      return standIn(expectation.asked, isError);
    };
    return { kind: "gate", member, options: { dialect: "mcp", scope }, complete };
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

/**
 * What a result says of itself in a few letters, read while its bytes go by.
 * @module
 */
import { MessageMembers } from "../../../transports/members.js";

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

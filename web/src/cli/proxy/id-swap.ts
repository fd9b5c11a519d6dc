/**
 * The id of a message that comes in pieces, replaced on the way.
 * @module
 */
import type { MessageMembers } from "../../transports/members.js";

/** Replaces the id of one message. */
export class IdSwap {
  readonly #ownOf: (key: string) => string | undefined;
  /** Bytes before the next piece. */
  #at = 0;
  #isDone = false;

  /** `ownOf` gives the JSON text that replaces an id; one that it does not know stays. */
  constructor(ownOf: (key: string) => string | undefined) {
    this.#ownOf = ownOf;
  }

  /** What is written for a piece; `about` knows the message at least up to the piece's end. */
  pieces(bytes: Uint8Array, about: MessageMembers): readonly Uint8Array[] {
    const from = this.#at;
    this.#at += bytes.length;
    const id = about.member("id");
    if (id === undefined) return [bytes];
    const { start, end = Number.POSITIVE_INFINITY } = id;
    const within = (place: number): number => Math.min(Math.max(place - from, 0), bytes.length);
    const own = end <= this.#at && !this.#isDone ? this.#own(about) : new Uint8Array(0);
    return [bytes.subarray(0, within(start)), own, bytes.subarray(within(end))];
  }

  #own(about: MessageMembers): Uint8Array {
    this.#isDone = true;
    const text = about.text("id") ?? "null";
    return new TextEncoder().encode(this.#ownOf(text.trim()) ?? text);
  }
}

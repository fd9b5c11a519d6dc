/**
 * Batches of a client's (revision 2025-03-26; JSON-RPC 2.0 §6).
 * @module
 */
import { Levels, MessageMembers, type LevelsVisitor } from "../transports/members.js";
import { parseJson, sourceOf } from "./json-text.js";

const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Messages of a batch that are answered when it is too large: no client sends so many at once. */
const MAX_ANSWERED = 10_000;

/** The elements of a batch; undefined for what is none. */
export function elementsOf(bytes: Uint8Array): readonly Uint8Array[] | undefined {
  if (bytes.find((byte) => byte > 0x20) !== OPEN_ARRAY) return undefined;
  const text = new TextDecoder().decode(bytes);
  try {
    const batch = parseJson(text);
    if (batch.type !== "Array") return undefined;
    return batch.elements.map(({ value }) => new TextEncoder().encode(sourceOf(text, value)));
  } catch {
    // What cannot be read is the server's to judge.
    return undefined;
  }
}

/** A batch of these elements. */
export function batchOf(elements: readonly Uint8Array[]): Uint8Array {
  const decoder = new TextDecoder();
  return new TextEncoder().encode(`[${elements.map((element) => decoder.decode(element)).join(",")}]`);
}

/** Follows a message that is too large to be held, which begins with these pieces. */
export function membersOf(pieces: readonly Uint8Array[]): MessageMembers {
  const first = pieces.map((piece) => piece.find((byte) => byte > 0x20)).find((byte) => byte !== undefined);
  const members = first === OPEN_ARRAY ? new BatchMembers() : new MessageMembers();
  for (const piece of pieces) members.push(piece);
  return members;
}

/** Follows a batch, of which only the ids of its messages are kept. */
export class BatchMembers extends MessageMembers {
  readonly #messages = new BatchMessages();

  override push(chunk: Uint8Array): void {
    super.push(chunk);
    this.#messages.push(chunk);
  }

  /** Ids of its requests, as JSON text. */
  get requests(): readonly string[] {
    return this.#messages.requests;
  }

  /** Ids that its responses answer, as JSON text. */
  get responses(): readonly string[] {
    return this.#messages.responses;
  }

  /** Whether there is no message in it. */
  get isEmpty(): boolean {
    return this.#messages.isEmpty;
  }
}

class BatchMessages implements LevelsVisitor {
  readonly requests: string[] = [];
  readonly responses: string[] = [];
  isEmpty = true;
  readonly #levels = new Levels(this, 1);
  #message: MessageMembers | undefined;
  #chunk: Uint8Array = new Uint8Array(0);
  /** Where in the chunk the message goes on. */
  #from = 0;

  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#from = 0;
    this.#levels.push(chunk);
    this.#message?.push(chunk.subarray(this.#from));
  }

  /** For {@link Levels}. */
  mark(byte: number, at: number, depth: number): void {
    if (depth !== 1) return;
    if (byte === OPEN_OBJECT && this.#message === undefined) {
      this.#message = new MessageMembers();
      this.#from = at;
    } else if (byte === CLOSE_OBJECT && this.#message !== undefined) {
      this.#message.push(this.#chunk.subarray(this.#from, at + 1));
      this.#note(this.#message);
      this.#message = undefined;
    }
  }

  #note(message: MessageMembers): void {
    this.isEmpty = false;
    const id = message.text("id");
    if (id === undefined || this.requests.length + this.responses.length >= MAX_ANSWERED) return;
    (message.text("method") === undefined ? this.responses : this.requests).push(id);
  }
}

/**
 * Requests as a client wrote them, and batches (revision 2025-03-26; JSON-RPC 2.0 §6).
 * @module
 */
import { textOf } from "../transports/bytes.js";
import { Levels, MessageMembers, type LevelsVisitor } from "../transports/members.js";
import { parseJson, sourceOf } from "./json-text.js";
import { idKey, objectOr, parsedOr, PROTOCOL_VERSION, stringOr } from "./rpc.js";

/** A request, its text, and what matters of it. */
export interface ClientRequest {
  /** The whole message. */
  readonly text: string;
  /** JSON text of its id. */
  readonly id: string;
  /** The same in one spelling. */
  readonly key: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether it is of revision 2026-07-28 or later, where each request says which. */
  readonly isModern: boolean;
}

/** Reads a message of the client's; undefined for what is no request. */
export function requestOf(bytes: Uint8Array): ClientRequest | undefined {
  const members = new MessageMembers();
  members.push(bytes);
  const id = members.text("id");
  const key = idKey(id);
  if (id === undefined || key === undefined || members.text("method") === undefined) return undefined;
  const text = textOf([bytes]);
  const message = objectOr(parsedOr(text));
  const method = stringOr(message["method"]);
  if (method === undefined) return undefined;
  const params = objectOr(message["params"]);
  return { text, id: id.trim(), key, method, params, isModern: PROTOCOL_VERSION in objectOr(params["_meta"]) };
}

/** The requests that a message of the client's is, or has in it as a batch. */
export function requestsIn(bytes: Uint8Array): readonly ClientRequest[] {
  return (elementsOf(bytes) ?? [bytes]).flatMap((element) => requestOf(element) ?? []);
}

/** The key of the request that a message of the client's cancels, if it is `notifications/cancelled`. */
export function cancelledBy(bytes: Uint8Array): string | undefined {
  // Looked at only where it may be one: this is asked for each notification.
  if (bytes.length > MAX_CANCELLATION) return undefined;
  const { method, params } = objectOr(parsedOr(textOf([bytes])));
  if (method !== "notifications/cancelled") return undefined;
  return idKey(JSON.stringify(objectOr(params)["requestId"]));
}

/** A cancellation is an id and a reason. */
const MAX_CANCELLATION = 65_536;

const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Messages of a batch that are answered when it is too large: no client sends so many at once. */
const MAX_ANSWERED = 10_000;

/** The elements of a batch; undefined for what is none. */
export function elementsOf(bytes: Uint8Array): readonly Uint8Array[] | undefined {
  if (!isBatch(bytes)) return undefined;
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

/** Whether a message is a batch, if it is JSON. */
export function isBatch(bytes: Uint8Array): boolean {
  return bytes.find((byte) => byte > 0x20) === OPEN_ARRAY;
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

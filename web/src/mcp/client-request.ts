/**
 * Requests as a client wrote them, and batches (MCP 2025-03-26; JSON-RPC 2.0 §6).
 * @module
 */
import { decodePieces } from "../jsonrpc/bytes.js";
import { StructureScanner, type StructureVisitor } from "../json/structure-scanner.js";
import { JsonRpcScanner } from "../jsonrpc/json-rpc-scanner.js";
import { idKey, objectOr, tryParse, PROTOCOL_VERSION, stringOr } from "../jsonrpc/rpc.js";

/** A parsed request with its text. */
export interface ClientRequest {
  /** The whole message. */
  readonly text: string;
  /** JSON text of its id. */
  readonly id: string;
  /** The id, normalised. */
  readonly key: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether it is of revision 2026-07-28 or later, where each request carries its version. */
  readonly isModern: boolean;
}

/** Reads a message from the client. Undefined if it is not a request. */
export function readRequest(bytes: Uint8Array): ClientRequest | undefined {
  const members = new JsonRpcScanner();
  members.push(bytes);
  const id = members.text("id");
  const key = idKey(id);
  if (id === undefined || key === undefined || members.text("method") === undefined) return undefined;
  const text = decodePieces([bytes]);
  const message = objectOr(tryParse(text));
  const method = stringOr(message["method"]);
  if (method === undefined) return undefined;
  const params = objectOr(message["params"]);
  return { text, id: id.trim(), key, method, params, isModern: PROTOCOL_VERSION in objectOr(params["_meta"]) };
}

/** The requests in a message: itself, or the elements of a batch. */
export function requestsIn(bytes: Uint8Array): readonly ClientRequest[] {
  return (splitBatch(bytes) ?? [bytes]).flatMap((element) => readRequest(element) ?? []);
}

/** The key of the request that a `notifications/cancelled` cancels. Undefined for other messages. */
export function readCancelledKey(bytes: Uint8Array): string | undefined {
  // Called for each notification, so large ones are not parsed.
  if (bytes.length > MAX_CANCELLATION) return undefined;
  const { method, params } = objectOr(tryParse(decodePieces([bytes])));
  if (method !== "notifications/cancelled") return undefined;
  return idKey(JSON.stringify(objectOr(params)["requestId"]));
}

/** Largest cancellation that is read: it is an id and a reason. */
const MAX_CANCELLATION = 65_536;

const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Most messages of an oversized batch that are answered. No client sends so many at once. */
const MAX_ANSWERED = 10_000;

/** The elements of a batch, as they were written. Undefined if the message is not one. */
export function splitBatch(bytes: Uint8Array): readonly Uint8Array[] | undefined {
  // The server judges what cannot be parsed.
  if (!isBatch(bytes) || tryParse(decodePieces([bytes])) === undefined) return undefined;
  const elements: Uint8Array[] = [];
  let from = 0;
  const mark = (byte: number, at: number, depth: number): void => {
    if (byte === OPEN_ARRAY && depth === 0) from = at + 1;
    else if (byte === COMMA ? depth === 1 : byte === CLOSE_ARRAY && depth === 0) {
      elements.push(withoutSpace(bytes.subarray(from, at)));
      from = at + 1;
    }
  };
  new StructureScanner({ mark }, 1).push(bytes);
  return elements.filter(({ length }) => length > 0);
}

function withoutSpace(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(Math.max(bytes.findIndex(isInk), 0), bytes.findLastIndex(isInk) + 1);
}

const isInk = (byte: number): boolean => byte > 0x20;

/** Whether a message is a batch, if it is JSON. */
export function isBatch(bytes: Uint8Array): boolean {
  return bytes.find((byte) => byte > 0x20) === OPEN_ARRAY;
}

/** Joins elements to a batch. */
export function joinBatch(elements: readonly Uint8Array[]): Uint8Array {
  const decoder = new TextDecoder();
  return new TextEncoder().encode(`[${elements.map((element) => decoder.decode(element)).join(",")}]`);
}

/** Scans a message that is too large to hold and begins with these pieces. */
export function scanMembers(pieces: readonly Uint8Array[]): JsonRpcScanner {
  const first = pieces.map((piece) => piece.find((byte) => byte > 0x20)).find((byte) => byte !== undefined);
  const members = first === OPEN_ARRAY ? new BatchMembers() : new JsonRpcScanner();
  for (const piece of pieces) members.push(piece);
  return members;
}

/** Scans a batch and keeps only the ids of its messages. */
export class BatchMembers extends JsonRpcScanner {
  readonly #messages = new BatchMessages();

  override push(chunk: Uint8Array): void {
    super.push(chunk);
    this.#messages.push(chunk);
  }

  /** Ids of its requests, as JSON text. */
  get requests(): readonly string[] {
    return this.#messages.requests;
  }

  /** Ids of the requests that its responses answer, as JSON text. */
  get responses(): readonly string[] {
    return this.#messages.responses;
  }

  /** Whether it contains no message. */
  get isEmpty(): boolean {
    return this.#messages.isEmpty;
  }
}

class BatchMessages implements StructureVisitor {
  readonly requests: string[] = [];
  readonly responses: string[] = [];
  isEmpty = true;
  readonly #structure = new StructureScanner(this, 1);
  #message: JsonRpcScanner | undefined;
  #chunk: Uint8Array = new Uint8Array(0);
  /** Offset in the chunk where the message continues. */
  #from = 0;

  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#from = 0;
    this.#structure.push(chunk);
    this.#message?.push(chunk.subarray(this.#from));
  }

  /** For {@link StructureScanner}. */
  mark(byte: number, at: number, depth: number): void {
    if (depth !== 1) return;
    if (byte === OPEN_OBJECT && this.#message === undefined) {
      this.#message = new JsonRpcScanner();
      this.#from = at;
    } else if (byte === CLOSE_OBJECT && this.#message !== undefined) {
      this.#message.push(this.#chunk.subarray(this.#from, at + 1));
      this.#note(this.#message);
      this.#message = undefined;
    }
  }

  #note(message: JsonRpcScanner): void {
    this.isEmpty = false;
    const id = message.text("id");
    if (id === undefined || this.requests.length + this.responses.length >= MAX_ANSWERED) return;
    (message.text("method") === undefined ? this.responses : this.requests).push(id);
  }
}

/**
 * Reads one message from a server, whatever it is: an object, a batch, or output that is not a message.
 * @module
 */
import type { Sluice } from "../core/types.js";
import { SluiceError } from "../errors/error.js";
import { StructureScanner, type StructureVisitor } from "../json/structure-scanner.js";
import { BYTE_ORDER_MARK, copyBytes } from "./bytes.js";
import { MAX_HEAD, MAX_MESSAGE } from "./limits.js";
import type { JsonRpcScanner } from "./json-rpc-scanner.js";
import { MessageRewriter, type MessagePolicy, type MessageOutcome } from "./message-rewriter.js";

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const ENDS = { open: new Uint8Array([0x5b]), comma: new Uint8Array([0x2c]), close: new Uint8Array([0x5d]) };

/** Where messages go, and output that is not one. Promises resolve when more can be written. */
export interface MessageSink {
  /** Decides about each message. */
  readonly policy: MessagePolicy;
  /** Writes a message or its next part. */
  forward(bytes: Uint8Array): Promise<void>;
  /** Ends the message that was forwarded. */
  complete(): Promise<void>;
  /** Writes output that is not a message. */
  nonProtocol(bytes: Uint8Array): Promise<void>;
  /** Called for each message that was forwarded. */
  passed(passed: MessageOutcome): void;
  /** Returns what to send in place of a message that cannot be forwarded; undefined for nothing. */
  broken(error: unknown, message: JsonRpcScanner): string | undefined;
}

/** Takes the bytes of one message, or of a line that may be one. Their memory may be reused once a call has settled. */
export class MessageReader implements AsyncDisposable {
  readonly #sluice: Sluice;
  readonly #sink: MessageSink;
  #what: ObjectReader | BatchReader | "nonProtocol" | undefined;

  constructor(sluice: Sluice, sink: MessageSink) {
    this.#sluice = sluice;
    this.#sink = sink;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#what === undefined) {
      const first = bytes.find((byte) => byte > 0x20 && !BYTE_ORDER_MARK.includes(byte));
      // Ignores leading white space and a byte order mark.
      if (first === undefined) return;
      this.#what = this.#begin(first);
    }
    await (this.#what === "nonProtocol" ? this.#sink.nonProtocol(copyBytes(bytes)) : this.#what.write(bytes));
  }

  /** Ends the message and forwards the rest of it. */
  async end(): Promise<void> {
    const what = this.#what;
    if (what === undefined) return;
    const forwarded = what !== "nonProtocol" && (await what.end());
    if (forwarded) await this.#sink.complete();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (typeof this.#what === "object") await this.#what[Symbol.asyncDispose]();
  }

  #begin(first: number): ObjectReader | BatchReader | "nonProtocol" {
    if (first === OPEN_OBJECT) return new ObjectReader(this.#sluice, this.#sink);
    if (first === OPEN_ARRAY) return new BatchReader(this.#sluice, this.#sink);
    return "nonProtocol";
  }
}

/** Takes the bytes of one object. A small object that is not a message goes to `nonProtocol`. */
class ObjectReader implements AsyncDisposable {
  readonly #sink: MessageSink;
  readonly #rewriter: MessageRewriter;
  #head: Uint8Array[] = [];
  #headSize = 0;
  #forwarded = false;

  constructor(sluice: Sluice, sink: MessageSink) {
    this.#sink = sink;
    this.#rewriter = new MessageRewriter(sluice, sink.policy, async (bytes) => this.#forward(bytes));
  }

  /** Throws only what the sink throws. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#headSize += bytes.length;
    if (this.#headSize > MAX_HEAD) this.#head = [];
    else this.#head.push(copyBytes(bytes));
    await this.#rewriter.write(bytes);
  }

  /** Ends the object and returns whether anything was forwarded for it. */
  async end(): Promise<boolean> {
    const { members } = this.#rewriter;
    // Log lines may be objects too, with any members except `jsonrpc` (JSON-RPC 2.0 §4, §5).
    const isMessage = members.member("jsonrpc") !== undefined;
    if (!members.isComplete || (!isMessage && !this.#forwarded)) {
      await this.#break(isMessage);
      return this.#forwarded;
    }
    try {
      this.#sink.passed(await this.#rewriter.end());
    } catch (error) {
      await this.#replace(error);
    } finally {
      await this[Symbol.asyncDispose]();
    }
    return this.#forwarded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rewriter[Symbol.asyncDispose]();
  }

  /** Handles an object that is not a message, or is incomplete. */
  async #break(isMessage: boolean): Promise<void> {
    await this[Symbol.asyncDispose]();
    if (!isMessage && !this.#forwarded) {
      for (const bytes of this.#head) await this.#sink.nonProtocol(bytes);
      return;
    }
    // A part that was forwarded ends as a line of its own, before the error.
    if (this.#forwarded) await this.#sink.complete();
    this.#forwarded = false;
    await this.#replace(toIncompleteError());
  }

  async #replace(error: unknown): Promise<void> {
    const instead = this.#sink.broken(error, this.#rewriter.members);
    if (instead !== undefined && !this.#forwarded) await this.#forward(new TextEncoder().encode(instead));
  }

  async #forward(bytes: Uint8Array): Promise<void> {
    this.#forwarded = true;
    await this.#sink.forward(bytes);
  }
}

/**
 * Takes the bytes of one array, a batch in MCP 2025-03-26 (JSON-RPC 2.0 §6). Elements are handled one by one and
 * forwarded together, or in several arrays if one would be too large. An array whose first element is not an object is
 * not a batch.
 */
class BatchReader implements StructureVisitor, AsyncDisposable {
  readonly #sluice: Sluice;
  readonly #sink: MessageSink;
  readonly #structure = new StructureScanner(this, 1);
  /** Offsets in the chunk where elements begin and end, alternating. */
  #borders: number[] = [];
  #inElement = false;
  #isBatch: boolean | undefined;
  #element: ObjectReader | undefined;
  /** The pieces of each element to forward. */
  #elements: Uint8Array[][] = [];
  #size = 0;
  #forwarded = false;

  constructor(sluice: Sluice, sink: MessageSink) {
    this.#sluice = sluice;
    this.#sink = sink;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#borders = [];
    this.#structure.push(bytes);
    if (this.#isBatch === false) return this.#sink.nonProtocol(copyBytes(bytes));
    let from = this.#element === undefined ? undefined : 0;
    for (const border of this.#borders) {
      if (from === undefined) {
        from = border;
        this.#element = this.#open();
      } else {
        await this.#element?.write(bytes.subarray(from, border));
        await this.#close();
        from = undefined;
      }
    }
    if (from !== undefined) await this.#element?.write(bytes.subarray(from));
  }

  /** Ends the array and returns whether anything was forwarded. */
  async end(): Promise<boolean> {
    await this.#close();
    await this.#flush();
    return this.#forwarded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#element?.[Symbol.asyncDispose]();
  }

  /** For {@link StructureScanner}. */
  mark(byte: number, at: number, depth: number): void {
    if (depth !== 1) return;
    this.#isBatch ??= byte === OPEN_OBJECT;
    // The closing brace is reported outside its element, but belongs to it.
    if (byte === OPEN_OBJECT && !this.#inElement) this.#border(at);
    else if (byte === CLOSE_OBJECT && this.#inElement) this.#border(at + 1);
  }

  /** For {@link StructureScanner}. */
  openString(_at: number, depth: number): void {
    if (depth === 1) this.#isBatch ??= false;
  }

  #border(at: number): void {
    this.#borders.push(at);
    this.#inElement = !this.#inElement;
  }

  #open(): ObjectReader {
    const sink = this.#sink;
    const pieces: Uint8Array[] = [];
    this.#elements.push(pieces);
    return new ObjectReader(this.#sluice, {
      policy: sink.policy,
      forward: async (bytes) => {
        pieces.push(bytes);
        this.#size += bytes.length;
      },
      complete: async () => undefined,
      nonProtocol: (bytes) => sink.nonProtocol(bytes),
      passed: (passed) => sink.passed(passed),
      broken: (error, message) => sink.broken(error, message),
    });
  }

  async #close(): Promise<void> {
    await this.#element?.end();
    this.#element = undefined;
    if (this.#size <= MAX_MESSAGE) return;
    const last = this.#elements.pop() as Uint8Array[];
    await this.#flush();
    this.#elements.push(last);
    this.#size = last.reduce((sum, { length }) => sum + length, 0);
  }

  async #flush(): Promise<void> {
    const elements = this.#elements.filter(({ length }) => length > 0);
    this.#elements = [];
    this.#size = 0;
    if (elements.length === 0) return;
    if (this.#forwarded) await this.#sink.complete();
    this.#forwarded = true;
    for (const [index, pieces] of elements.entries()) {
      await this.#sink.forward(index === 0 ? ENDS.open : ENDS.comma);
      for (const piece of pieces) await this.#sink.forward(piece);
    }
    await this.#sink.forward(ENDS.close);
  }
}

function toIncompleteError(): SluiceError {
  return new SluiceError("E_JSON_END", "the message ends before it is complete");
}

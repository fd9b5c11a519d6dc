/**
 * What a server sends as one message, whatever it turns out to be: an object, a batch, or something else.
 * @module
 */
import type { Sluice } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { BYTE_ORDER_MARK } from "./bytes.js";
import { MAX_HEAD, MAX_MESSAGE } from "./limits.js";
import { Levels, type LevelsVisitor, type MessageMembers } from "./members.js";
import { Passage, type Judge, type Passed } from "./passage.js";

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const ENDS = { open: new Uint8Array([0x5b]), comma: new Uint8Array([0x2c]), close: new Uint8Array([0x5d]) };

/** What becomes of messages, and of what is none. Its promises settle when more can be taken. */
export interface Outlet {
  /** Decides about each message. */
  readonly judge: Judge;
  /** Takes a message, or the next part of one. */
  forward(bytes: Uint8Array): Promise<void>;
  /** The message that was forwarded is complete. */
  complete(): Promise<void>;
  /** Takes what is no message. */
  stray(bytes: Uint8Array): Promise<void>;
  /** Told of each message that is passed on. */
  passed(passed: Passed): void;
  /**
   * What is sent in place of a message that cannot be passed on; undefined: nothing is.
   */
  broken(error: unknown, message: MessageMembers): string | undefined;
}

/** Takes the bytes of one message, or of a line that may be one, in pieces that must not be written over. */
export class Incoming implements AsyncDisposable {
  readonly #sluice: Sluice;
  readonly #outlet: Outlet;
  #what: IncomingObject | IncomingBatch | "stray" | undefined;

  constructor(sluice: Sluice, outlet: Outlet) {
    this.#sluice = sluice;
    this.#outlet = outlet;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#what === undefined) {
      const first = bytes.find((byte) => byte > 0x20 && !BYTE_ORDER_MARK.includes(byte));
      // White space and a byte order mark in pieces of their own before a message say nothing.
      if (first === undefined) return;
      this.#what = this.#begin(first);
    }
    await (this.#what === "stray" ? this.#outlet.stray(bytes) : this.#what.write(bytes));
  }

  /** The message is over: what is left of it is passed on. */
  async end(): Promise<void> {
    const what = this.#what;
    if (what === undefined) return;
    const forwarded = what !== "stray" && (await what.end());
    if (forwarded) await this.#outlet.complete();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (typeof this.#what === "object") await this.#what[Symbol.asyncDispose]();
  }

  #begin(first: number): IncomingObject | IncomingBatch | "stray" {
    if (first === OPEN_OBJECT) return new IncomingObject(this.#sluice, this.#outlet);
    if (first === OPEN_ARRAY) return new IncomingBatch(this.#sluice, this.#outlet);
    return "stray";
  }
}

/** Takes the bytes of one object. What turns out to be no message goes to `stray`, if it is small. */
class IncomingObject implements AsyncDisposable {
  readonly #outlet: Outlet;
  readonly #passage: Passage;
  #head: Uint8Array[] = [];
  #headSize = 0;
  #forwarded = false;

  constructor(sluice: Sluice, outlet: Outlet) {
    this.#outlet = outlet;
    this.#passage = new Passage(sluice, outlet.judge, async (bytes) => this.#forward(bytes));
  }

  /** Bytes that must not be written over. Never throws but what the outlet throws. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#headSize += bytes.length;
    if (this.#headSize > MAX_HEAD) this.#head = [];
    else this.#head.push(bytes);
    await this.#passage.write(bytes);
  }

  /** The object is over; whether anything was forwarded in its place. */
  async end(): Promise<boolean> {
    const { members } = this.#passage;
    // Loggers write objects too, with any members but this one (JSON-RPC 2.0 §4, §5).
    const isMessage = members.member("jsonrpc") !== undefined;
    if (!members.isComplete || (!isMessage && !this.#forwarded)) {
      await this.#break(isMessage);
      return this.#forwarded;
    }
    try {
      this.#outlet.passed(await this.#passage.end());
    } catch (error) {
      await this.#replace(error);
    } finally {
      await this[Symbol.asyncDispose]();
    }
    return this.#forwarded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#passage[Symbol.asyncDispose]();
  }

  /** What came is no message, or a part of one. */
  async #break(isMessage: boolean): Promise<void> {
    await this[Symbol.asyncDispose]();
    if (!isMessage && !this.#forwarded) {
      for (const bytes of this.#head) await this.#outlet.stray(bytes);
      return;
    }
    // A part that was sent on ends as a line of its own, before the error that stands for the whole.
    if (this.#forwarded) await this.#outlet.complete();
    this.#forwarded = false;
    await this.#replace(brokenOff());
  }

  async #replace(error: unknown): Promise<void> {
    const instead = this.#outlet.broken(error, this.#passage.members);
    if (instead !== undefined && !this.#forwarded) await this.#forward(new TextEncoder().encode(instead));
  }

  async #forward(bytes: Uint8Array): Promise<void> {
    this.#forwarded = true;
    await this.#outlet.forward(bytes);
  }
}

/**
 * Takes the bytes of one array, a batch in revision 2025-03-26 (JSON-RPC 2.0 §6). Each element goes its own way; they are forwarded together, or in several arrays where
 * one would be too large. An array that does not begin with an object is no batch.
 */
class IncomingBatch implements LevelsVisitor, AsyncDisposable {
  readonly #sluice: Sluice;
  readonly #outlet: Outlet;
  readonly #levels = new Levels(this, 1);
  /** Where elements begin and end in the chunk, in turn. */
  #borders: number[] = [];
  #inElement = false;
  #isBatch: boolean | undefined;
  #element: IncomingObject | undefined;
  /** What is to be forwarded, an element each. */
  #elements: Uint8Array[][] = [];
  #size = 0;
  #forwarded = false;

  constructor(sluice: Sluice, outlet: Outlet) {
    this.#sluice = sluice;
    this.#outlet = outlet;
  }

  /** Bytes that must not be written over. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#borders = [];
    this.#levels.push(bytes);
    if (this.#isBatch === false) return this.#outlet.stray(bytes);
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

  /** The array is over; whether anything was forwarded. */
  async end(): Promise<boolean> {
    await this.#close();
    await this.#flush();
    return this.#forwarded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#element?.[Symbol.asyncDispose]();
  }

  /** For {@link Levels}. */
  mark(byte: number, at: number, depth: number): void {
    if (depth !== 1) return;
    this.#isBatch ??= byte === OPEN_OBJECT;
    // The brace that ends an element is told of outside of it, and belongs to it.
    if (byte === OPEN_OBJECT && !this.#inElement) this.#border(at);
    else if (byte === CLOSE_OBJECT && this.#inElement) this.#border(at + 1);
  }

  /** For {@link Levels}. */
  openString(_at: number, depth: number): void {
    if (depth === 1) this.#isBatch ??= false;
  }

  #border(at: number): void {
    this.#borders.push(at);
    this.#inElement = !this.#inElement;
  }

  #open(): IncomingObject {
    const outlet = this.#outlet;
    const pieces: Uint8Array[] = [];
    this.#elements.push(pieces);
    return new IncomingObject(this.#sluice, {
      judge: outlet.judge,
      forward: async (bytes) => {
        pieces.push(bytes);
        this.#size += bytes.length;
      },
      complete: async () => undefined,
      stray: (bytes) => outlet.stray(bytes),
      passed: (passed) => outlet.passed(passed),
      broken: (error, message) => outlet.broken(error, message),
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
    if (this.#forwarded) await this.#outlet.complete();
    this.#forwarded = true;
    for (const [index, pieces] of elements.entries()) {
      await this.#outlet.forward(index === 0 ? ENDS.open : ENDS.comma);
      for (const piece of pieces) await this.#outlet.forward(piece);
    }
    await this.#outlet.forward(ENDS.close);
  }
}

function brokenOff(): SluiceError {
  return new SluiceError("E_JSON_END", "the message ends before it is complete");
}

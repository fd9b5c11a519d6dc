/**
 * A batch of messages: the array that revision 2025-03-26 allows (JSON-RPC 2.0 §6).
 * @module
 */
import type { Sluice } from "../core/sluice.js";
import { Levels, type LevelsVisitor } from "./levels.js";
import { MAX_MESSAGE } from "./limits.js";
import { IncomingObject } from "./object.js";
import type { Outlet } from "./outlet.js";

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const ENDS = { open: new Uint8Array([0x5b]), comma: new Uint8Array([0x2c]), close: new Uint8Array([0x5d]) };

/**
 * Takes the bytes of one array. Each element goes its own way; they are forwarded together, or in several arrays where
 * one would be too large. An array that does not begin with an object is no batch.
 */
export class IncomingBatch implements LevelsVisitor, AsyncDisposable {
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

  /** For {@link Levels}. */
  closeString(): void {
    // Where strings end is no matter here.
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

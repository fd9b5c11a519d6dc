/**
 * What a server sends as one message, whatever it turns out to be.
 * @module
 */
import type { Sluice } from "../core/sluice.js";
import { IncomingBatch } from "./batch.js";
import { BYTE_ORDER_MARK } from "./bytes.js";
import { IncomingObject } from "./object.js";
import type { Outlet } from "./outlet.js";

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;

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

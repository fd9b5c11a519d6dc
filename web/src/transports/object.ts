/**
 * One JSON object from a server: a message, or something that only begins like one.
 * @module
 */
import type { Sluice } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { MAX_HEAD } from "./limits.js";
import type { Outlet } from "./outlet.js";
import { Passage } from "./passage.js";

/** Takes the bytes of one object. What turns out to be no message goes to `stray`, if it is small. */
export class IncomingObject implements AsyncDisposable {
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

function brokenOff(): SluiceError {
  return new SluiceError("E_JSON_END", "the message ends before it is complete");
}

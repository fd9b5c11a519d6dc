/**
 * A line on the terminal while long work goes on; nothing in a pipe, nothing for short work.
 * @module
 */
import type { Output } from "./terminal.js";
import { humanSize } from "../core/amounts.js";

const QUIET_MS = 400;
const EVERY_MS = 100;

/** Counts bytes and says how far they have come. */
export class Progress {
  readonly #errors: Output;
  readonly #label: string;
  readonly #total: number | undefined;
  readonly #begun = performance.now();
  #bytes = 0;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** `total` in bytes, where it is known. */
  constructor(errors: Output, label: string, total?: number) {
    this.#errors = errors;
    this.#label = label;
    this.#total = total;
  }

  /** Adds bytes; writes at most ten times a second, and not in the first 0.4 s. */
  async add(bytes: number): Promise<void> {
    this.#bytes += bytes;
    if (!this.#errors.isTerminal) return;
    const now = performance.now();
    if (now - this.#begun < QUIET_MS || now - this.#shownAt < EVERY_MS) return;
    this.#shownAt = now;
    await this.#errors.write(`\r\u001b[K${this.#line(now)}`);
  }

  /** Takes the line away again. */
  async done(): Promise<void> {
    if (this.#shownAt > 0) await this.#errors.write("\r\u001b[K");
    this.#shownAt = Number.NEGATIVE_INFINITY;
  }

  #line(now: number): string {
    const speed = `${humanSize(Math.round((this.#bytes * 1000) / (now - this.#begun)))}/s`;
    if (this.#total === undefined || this.#total === 0) return `${this.#label}: ${humanSize(this.#bytes)}, ${speed}`;
    const percent = Math.min(100, Math.floor((this.#bytes * 100) / this.#total));
    return `${this.#label}: ${humanSize(this.#bytes)} of ${humanSize(this.#total)}, ${percent} %, ${speed}`;
  }
}

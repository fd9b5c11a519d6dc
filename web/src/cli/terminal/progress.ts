/**
 * A line on the terminal while work goes on. Prints nothing in a pipe, and nothing for work that is done quickly.
 * @module
 */
import { humanSize } from "../../core/amounts.js";
import type { Output } from "./terminal.js";

const QUIET_MS = 400;
const EVERY_MS = 100;

/** Counts bytes, and shows their number and speed. */
export class Progress {
  readonly #errors: Output;
  readonly #label: string;
  readonly #total: number | undefined;
  readonly #begun = performance.now();
  #bytes = 0;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** `total` in bytes, if known. */
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

  /** Removes the line. */
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

const STATUS_EVERY_MS = 200;

const CLEAR = "\r\u001b[K";

/** Shows how long something has been going on. */
export class StatusLine {
  readonly #errors: Output;
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #text: string;
  #shown = "";

  /** Starts. `text` must be safe for a terminal. */
  constructor(errors: Output, text: string) {
    this.#errors = errors;
    this.#text = text;
    // Nothing else may happen for minutes.
    this.#timer = errors.isTerminal ? setInterval(() => this.#show(), STATUS_EVERY_MS) : undefined;
  }

  /** Changes the text. */
  say(text: string): void {
    this.#text = text;
  }

  /** Prints a line that stays. Does not wait for the reader. */
  print(line: string): void {
    this.#write(`${this.#clear()}${line}\n`);
  }

  /** Removes the line. */
  done(): void {
    clearInterval(this.#timer);
    this.#write(this.#clear());
  }

  #show(): void {
    const milliseconds = performance.now() - this.#begun;
    if (milliseconds < QUIET_MS) return;
    const line = `${this.#text}: ${Math.floor(milliseconds / 1000)} s`;
    if (line === this.#shown) return;
    this.#shown = line;
    // A wrapped line could not be removed.
    const fitting = Array.from(line).slice(0, this.#errors.columns - 1);
    this.#write(`${CLEAR}${fitting.join("")}`);
  }

  #clear(): string {
    const wasShown = this.#shown !== "";
    this.#shown = "";
    return wasShown ? CLEAR : "";
  }

  #write(text: string): void {
    if (text !== "") void this.#errors.write(text).catch(() => undefined);
  }
}

/**
 * A line on the terminal that says what is waited for; nothing in a pipe, nothing for what is quickly done.
 * @module
 */
import type { Output } from "../terminal.js";

const QUIET_MS = 400;
const EVERY_MS = 200;

const CLEAR = "\r\u001b[K";

/** Says how long something has been going on, until it is done. */
export class StatusLine {
  readonly #errors: Output;
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #text: string;
  #shown = "";

  /** Begins. `text` must be fit for a terminal. */
  constructor(errors: Output, text: string) {
    this.#errors = errors;
    this.#text = text;
    // A timer of its own: nothing else may happen for minutes.
    this.#timer = errors.isTerminal ? setInterval(() => this.#show(), EVERY_MS) : undefined;
  }

  /** Says something else from now on. */
  say(text: string): void {
    this.#text = text;
  }

  /** Writes a line that stays. Does not wait for whoever reads it. */
  print(line: string): void {
    this.#write(`${this.#cleared()}${line}\n`);
  }

  /** Takes the line away. */
  done(): void {
    clearInterval(this.#timer);
    this.#write(this.#cleared());
  }

  #show(): void {
    const milliseconds = performance.now() - this.#begun;
    if (milliseconds < QUIET_MS) return;
    const line = `${this.#text}: ${Math.floor(milliseconds / 1000)} s`;
    if (line === this.#shown) return;
    this.#shown = line;
    // A line that wraps could not be taken away again.
    const fitting = Array.from(line).slice(0, this.#errors.columns - 1);
    this.#write(`${CLEAR}${fitting.join("")}`);
  }

  #cleared(): string {
    const wasShown = this.#shown !== "";
    this.#shown = "";
    return wasShown ? CLEAR : "";
  }

  #write(text: string): void {
    if (text !== "") void this.#errors.write(text).catch(() => undefined);
  }
}

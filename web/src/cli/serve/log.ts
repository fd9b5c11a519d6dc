/**
 * Logs on standard error, without secrets.
 * @module
 */
import { clause, printable, type Terminal } from "../terminal/terminal.js";

/** Longest line. Names and addresses in it come from clients. */
const MAX_LINE = 1000;

/** Shortest value that is hidden. Shorter ones occur in text that is no secret. */
const SHORTEST = 6;

/** Milliseconds in which the same failure is logged once. */
const SAME = 1000;

/** Writes lines without waiting for the reader. */
export class ServeLog {
  readonly #terminal: Terminal;
  readonly #secrets: readonly string[];
  readonly #isVerbose: boolean;
  #last = { sentence: "", at: 0 };

  constructor(terminal: Terminal, secrets: readonly string[], isVerbose: boolean) {
    this.#terminal = terminal;
    this.#secrets = secrets.filter((secret) => secret.length >= SHORTEST);
    this.#isVerbose = isVerbose;
  }

  /** Writes a line, with secrets hidden. */
  say(sentence: string): void {
    const shown = this.#secrets.reduce((text, secret) => text.replaceAll(secret, "…"), sentence);
    this.#terminal.errors.write(`sluice: ${printable(shown.slice(0, MAX_LINE))}\n`).catch(() => undefined);
  }

  /** Logs an error of a store, a source or a host's function. */
  failed(error: unknown): void {
    const sentence = clause(writeSentence(error));
    const now = Date.now();
    if (sentence === this.#last.sentence && now - this.#last.at < SAME) return;
    this.#last = { sentence, at: now };
    this.say(sentence);
  }

  /** Logs one answer. Leaves out the query, which may contain a token. */
  answered(request: Request, status: number, milliseconds: number): void {
    if (!this.#isVerbose) return;
    this.say(`${request.method} ${new URL(request.url).pathname} ${status} ${Math.round(milliseconds)} ms`);
  }
}

/** The message with its cause, which the client was not told. */
function writeSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

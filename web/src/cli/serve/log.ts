/**
 * Lines on standard error, in which no secret shows.
 * @module
 */
import { printable, type Terminal } from "../terminal.js";

/** Characters of a line: names and addresses come from anywhere. */
const MAX_LINE = 1000;

/** Shorter values stand in too much that is no secret. */
const SHORTEST = 6;

/** Milliseconds in which the same failure is told once. */
const SAME = 1000;

/** Writes lines; it does not wait for whoever reads them. */
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

  /** Tells whoever started it. */
  say(sentence: string): void {
    const shown = this.#secrets.reduce((text, secret) => text.replaceAll(secret, "…"), sentence);
    this.#terminal.errors.write(`sluice: ${printable(shown.slice(0, MAX_LINE))}\n`).catch(() => undefined);
  }

  /** What a store, a source or a host's function failed at. */
  failed(error: unknown): void {
    const sentence = sentenceOf(error);
    const now = Date.now();
    if (sentence === this.#last.sentence && now - this.#last.at < SAME) return;
    this.#last = { sentence, at: now };
    this.say(sentence);
  }

  /** One answer, without what stands behind `?`: that may be a token. */
  answered(request: Request, status: number, milliseconds: number): void {
    if (!this.#isVerbose) return;
    this.say(`${request.method} ${new URL(request.url).pathname} ${status} ${Math.round(milliseconds)} ms`);
  }
}

/** With what was behind it: whoever asked was told less. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

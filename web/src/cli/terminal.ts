/**
 * The three standard streams, the environment and the signal that ends the work; ages and foreign text as a person reads
 * them.
 * @module
 */
import type { Readable, Writable } from "node:stream";
import { CommandError, Exit, systemReason } from "./exit.js";

/** What a command may touch besides files and the store. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Output;
  readonly errors: Output;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

/** Thrown when the reader of standard output has gone: the program ends, quietly. */
export class PipeClosed extends Error {}

/** A standard stream to write to. Each write settles when the system has taken the bytes. */
export class Output {
  readonly #stream: Writable & { isTTY?: boolean; columns?: number };
  readonly #colour: boolean;
  readonly #signal: AbortSignal | undefined;

  /** Once `signal` is aborted every write fails with its reason. */
  constructor(stream: Writable & { isTTY?: boolean; columns?: number }, env: NodeJS.ProcessEnv, signal?: AbortSignal) {
    this.#stream = stream;
    this.#signal = signal;
    this.#colour = this.isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
    // Each write's callback tells of the error; without a listener it would end the process first.
    stream.on("error", () => undefined);
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Characters a line holds; 80 where nobody knows. */
  get columns(): number {
    return this.#stream.columns ?? 80;
  }

  /** Throws PipeClosed when nobody reads any more. */
  write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#signal?.throwIfAborted();
      this.#stream.write(data, (error) => {
        if (error == null) resolve();
        else if ((error as NodeJS.ErrnoException).code === "EPIPE") reject(new PipeClosed());
        else reject(new CommandError(Exit.create, `cannot write the output: ${systemReason(error)}`, { cause: error }));
      });
    });
  }

  bold(text: string): string {
    return this.#colour ? `\u001b[1m${text}\u001b[22m` : text;
  }

  dim(text: string): string {
    return this.#colour ? `\u001b[2m${text}\u001b[22m` : text;
  }
}

/** `12 s`, `5 min`, `3 h`, `12 d`: whole units, the largest that fits. */
export function humanAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/**
 * Foreign text made safe for a terminal: control, bidirectional, zero-width and tag characters become
 * `\u{…}`. Names of files and artifacts come from servers, and a terminal obeys escape sequences.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}

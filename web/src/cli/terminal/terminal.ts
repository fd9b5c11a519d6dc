/**
 * The three standard streams, the environment and the signal that ends the work; and text that is fit for a terminal.
 * @module
 */
import type { Readable, Writable } from "node:stream";
import { CommandError, Exit, systemReason } from "../exit.js";

/** What a command may use besides files and the store. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Output;
  readonly errors: Output;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

/** Writes a line on standard error without waiting. */
export function tell({ errors }: Terminal, sentence: string): void {
  errors.write(`sluice: ${sentence}\n`).catch(() => undefined);
}

/** Thrown when the reader of standard output has gone. The program ends quietly. */
export class PipeClosed extends Error {}

/** A standard stream to write to. A write resolves when the system has taken the bytes. */
export class Output {
  readonly #stream: Writable & { isTTY?: boolean; columns?: number };
  readonly #colour: boolean;
  readonly #signal: AbortSignal | undefined;

  /** Once `signal` is aborted, every write fails with its reason. */
  constructor(stream: Writable & { isTTY?: boolean; columns?: number }, env: NodeJS.ProcessEnv, signal?: AbortSignal) {
    this.#stream = stream;
    this.#signal = signal;
    this.#colour = this.isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
    // The callback of each write gets the error. Without a listener the error would end the process first.
    stream.on("error", () => undefined);
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Characters per line; 80 if unknown. */
  get columns(): number {
    return this.#stream.columns ?? 80;
  }

  /** Throws PipeClosed when the reader of the output is gone. */
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

/** `12 s`, `5 min`, `3 h`, `12 d`: the largest whole unit. */
export function humanAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/**
 * Makes foreign text safe for a terminal: control, bidirectional, zero-width and tag characters become `\u{…}`. Names of
 * files and artifacts come from servers, and a terminal obeys escape sequences.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Makes foreign text one line that is safe for a terminal. */
export function onOneLine(text: string): string {
  return printable(text.replace(/\s+/g, " ").trim());
}

/** The name of a file as a sentence says it: quoted if it would be lost in the sentence, as `.` or `my notes` would. */
export function fileName(name: string): string {
  return /^[^\s"';]*[^\s"':;.,]$/u.test(name) ? printable(name) : printable(JSON.stringify(name));
}

/**
 * A sentence of the library as a command says it behind `sluice: `. It begins in lower case, and has no full stop if it is
 * the only one.
 */
export function clause(sentence: string): string {
  const begun = sentence.replace(/^[A-Z](?=[a-z]*[ ,'])/, (letter) => letter.toLowerCase());
  return /[.?!] [A-Z]/.test(begun) ? begun : begun.replace(/(?<!\.)\.$/, "");
}

/** A word as it can be typed in a shell. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${printable(word).replaceAll("'", "'\\''")}'`;
}

/** Width of running text: that of the terminal, within what is good to read. */
export function textWidth(output: Output): number {
  return Math.max(60, Math.min(100, output.columns));
}

/** Breaks a text between words into lines of at most `columns` characters. A longer word gets a line of its own. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

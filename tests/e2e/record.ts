/**
 * Runs a script against a server over stdio, and records every byte that comes back.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Message, Step } from "./script.js";

/** What a server did. */
export interface Recording {
  /** Its output, line by line, without the line ends. */
  readonly lines: readonly Buffer[];
  /** What stood behind the last line end. */
  readonly rest: Buffer;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How to start a server. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** A script that hangs fails with what it waited for and what it saw. */
const PATIENCE = 30_000;

const NEWLINE = 0x0a;

/** Runs `steps` and ends the process when they are done; what it does after the last step is recorded too. */
export async function record(command: Command, steps: readonly Step[]): Promise<Recording> {
  const child = spawn(command.program, command.args, {
    stdio: "pipe",
    env: { ...process.env, ...command.env },
  });
  const listener = new Listener(child);
  try {
    for (const step of steps) await new Turn(child, listener, step).take();
    child.stdin.end();
    return await listener.finished(steps.at(-1));
  } finally {
    child.kill("SIGKILL");
  }
}

/** Collects what a process says. */
class Listener {
  readonly messages: Message[] = [];
  stderr = "";
  /** Questions of the server that were answered. */
  answered = 0;
  readonly #lines: Buffer[] = [];
  #partial: Buffer[] = [];
  #wake: () => void = () => {};
  readonly #closed: Promise<[number | null, NodeJS.Signals | null]>;
  gone = false;

  constructor(child: ChildProcess) {
    child.stdout?.on("data", (chunk: Buffer) => this.#take(chunk));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      this.#wake();
    });
    // Writing to a process that is gone is part of some scripts.
    child.stdin?.on("error", () => {});
    this.#closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
    child.once("close", () => {
      this.gone = true;
      this.#wake();
    });
  }

  /** Waits until `ready` gives something. */
  async until<T>(ready: () => T | undefined, step: Step | undefined): Promise<T> {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
      const found = ready();
      if (found !== undefined) return found;
      const left = deadline - Date.now();
      if (left <= 0 || this.gone) throw new Error(this.#report(step));
      await this.#change(left);
    }
  }

  async finished(step: Step | undefined): Promise<Recording> {
    await this.until(() => (this.gone ? true : undefined), step);
    const [code, signal] = await this.#closed;
    return { lines: this.#lines, rest: Buffer.concat(this.#partial), stderr: this.stderr, code, signal };
  }

  #change(patience: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, patience);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#line(Buffer.concat([...this.#partial, chunk.subarray(from, at)]));
      this.#partial = [];
      from = at + 1;
    }
    if (from < chunk.length) this.#partial.push(chunk.subarray(from));
    this.#wake();
  }

  #line(line: Buffer): void {
    this.#lines.push(line);
    this.messages.push(...messagesIn(line));
  }

  #report(step: Step | undefined): string {
    const seen = this.#lines.map((line) => line.subarray(0, 200).toString()).join("\n");
    return `waited in vain: ${JSON.stringify(step)}\nstdout:\n${seen}\nstderr:\n${this.stderr.slice(0, 2_000)}`;
  }
}

/** One step of a script. */
class Turn {
  readonly #child: ChildProcess;
  readonly #listener: Listener;
  readonly #step: Step;

  constructor(child: ChildProcess, listener: Listener, step: Step) {
    this.#child = child;
    this.#listener = listener;
    this.#step = step;
  }

  async take(): Promise<void> {
    const step = this.#step;
    const { messages } = this.#listener;
    if ("send" in step) this.#send(step.send);
    else if ("sendFrom" in step) this.#send(step.sendFrom(messages));
    else if ("wait" in step) await this.#until(() => messages.find((message) => isAnswer(message, step.wait)));
    else if ("waitFor" in step) await this.#until(() => this.#nth(step.waitFor, step.times ?? 1));
    else if ("answer" in step) await this.#answer(step);
    else if ("waitForNoise" in step)
      await this.#until(() => this.#listener.stderr.includes(step.waitForNoise) || undefined);
    else if ("end" in step) this.#child.stdin?.end();
    else if ("signal" in step) this.#child.kill(step.signal);
    else await this.#until(() => this.#listener.gone || undefined);
  }

  async #until<T>(ready: () => T | undefined): Promise<T> {
    return this.#listener.until(ready, this.#step);
  }

  #nth(method: string, times: number): Message | undefined {
    return this.#listener.messages.filter((message) => message["method"] === method)[times - 1];
  }

  async #answer(step: Extract<Step, { readonly answer: string }>): Promise<void> {
    const questions = (): Message[] =>
      this.#listener.messages.filter(({ method, id }) => method !== undefined && id !== undefined);
    const question = await this.#until(() => questions()[this.#listener.answered]);
    if (question["method"] !== step.answer) throw new Error(`${String(question["method"])} came, not ${step.answer}`);
    this.#listener.answered += 1;
    const outcome = "result" in step ? { result: step.result } : { error: step.error };
    this.#send(JSON.stringify({ jsonrpc: "2.0", id: question["id"], ...outcome }));
  }

  #send(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }
}

/** The messages on a line; none when it is not JSON. */
export function messagesIn(line: Buffer): readonly Message[] {
  try {
    const value = JSON.parse(line.toString()) as Message | readonly Message[];
    return Array.isArray(value) ? (value as readonly Message[]) : [value as Message];
  } catch {
    return [];
  }
}

/** Whether a message answers the request with this id. */
export function isAnswer(message: Message, id: string | number): boolean {
  return message["method"] === undefined && message["id"] === id;
}

/**
 * Connects a client on our standard streams with a server in a process of its own.
 * @module
 */
import { setTimeout } from "node:timers/promises";
import type { McpInterceptor } from "../../mcp/interceptor.js";
import { PassThrough } from "../../mcp/pass-through.js";
import { passClientLines, passServerLines } from "../../mcp/stdio/lines.js";
import { copyBytes } from "../../jsonrpc/bytes.js";
import { MAX_MESSAGE } from "../../jsonrpc/limits.js";
import { LineWriter, withNewline } from "../../jsonrpc/lines.js";
import { ServerProcess, type ProcessEnd } from "../../mcp/stdio/server-process.js";
import { PipeClosed, type Output, type Terminal } from "../terminal/terminal.js";

/** Signals that are passed on to the server. */
const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Milliseconds that a server may go on after its client has left and waits for nothing. */
const LEFT = 5000;

/** Milliseconds to wait for pending work after the other side has ended. */
const GRACE = 2000;

/** Milliseconds between two checks for that. */
const LOOK = 100;

/** Our parent process. A different one means that it has ended. */
const PARENT = process.ppid;

/** Passes messages both ways. Without an interceptor everything passes through unchanged. */
export class StdioProxy {
  readonly #server: ServerProcess;
  readonly #opening: Promise<McpInterceptor> | undefined;
  #interceptor: McpInterceptor | undefined;
  readonly #terminal: Terminal;
  readonly #client: LineWriter;
  readonly #errors: LineWriter;
  #hasLeft = false;

  /** `opening` is waited for before the server gets anything. */
  constructor(server: ServerProcess, opening: Promise<McpInterceptor> | undefined, terminal: Terminal) {
    this.#server = server;
    this.#opening = opening;
    this.#terminal = terminal;
    this.#client = new LineWriter((bytes) => terminal.output.write(bytes));
    this.#errors = new LineWriter(lossy(terminal.errors));
  }

  /** Runs until the server has ended, and returns how it ended. Ends the server and throws if the interceptor cannot be opened. */
  async run(): Promise<ProcessEnd> {
    const told = new AbortController();
    const forward = (signal: NodeJS.Signals): void => {
      this.#server.signal(signal);
      told.abort();
    };
    for (const signal of SIGNALS) process.on(signal, forward);
    let input: Promise<void> | undefined;
    try {
      const output = readAhead(this.#server.output);
      this.#interceptor = await this.#opening?.catch((error: unknown) => {
        // What is read of it keeps the server from being seen as ended.
        void output.return?.();
        throw error;
      });
      input = this.#passInput();
      // After a signal, a client that does not read is waited for no longer than the server.
      await Promise.race([this.#passOutput(output), this.#waitForEnd(told.signal)]);
    } catch (error) {
      if (!(error instanceof PipeClosed)) throw error;
      // The host has closed the output, so the rest does not matter.
    } finally {
      this.#server.endInput();
      await this.#server.stop();
      // What is still read of artifacts would keep this process running.
      this.#interceptor?.abandon("");
      this.#terminal.input.destroy();
      await Promise.race([input, sleep(GRACE)]);
      for (const signal of SIGNALS) process.off(signal, forward);
    }
    return this.#server.ended;
  }

  async #passOutput(chunks: AsyncIterator<Uint8Array>): Promise<void> {
    const { ended } = this.#server;
    const output = { [Symbol.asyncIterator]: () => chunks };
    if (this.#interceptor === undefined) {
      for await (const chunk of output) await this.#terminal.output.write(copyBytes(chunk));
      return;
    }
    await passServerLines(output, this.#interceptor, {
      client: this.#client.sink(MAX_MESSAGE),
      nonProtocol: this.#errors.sink(),
      reply: (text) => void this.#send(new TextEncoder().encode(text)),
    });
    // A server that closes its output has nothing more to say.
    const end = (await Promise.race([ended, sleep(GRACE)])) ?? (await this.#server.stop());
    // A client that has left and a server that exits with 0: nothing is owed.
    if (this.#hasLeft && end.code === 0) return;
    const sentence = `The server ${describeEnd(end)} before it answered: see what it wrote to standard error.`;
    for (const answer of this.#interceptor.abandon(sentence)) await this.#client.line(answer);
  }

  /** Resolves some time after the server has ended because of a signal. */
  async #waitForEnd(signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await this.#server.ended;
    await sleep(GRACE);
  }

  /** Ends with the input or with the server, whichever ends first. */
  async #passInput(): Promise<void> {
    const { input } = this.#terminal;
    try {
      if (this.#interceptor === undefined) {
        for await (const chunk of input) await this.#server.write(chunk as Uint8Array);
      } else {
        await passClientLines(input as AsyncIterable<Uint8Array>, this.#interceptor, {
          server: (line) => this.#send(line),
          client: (text) => this.#client.line(text),
        });
      }
    } catch {
      // The input was closed because the server has ended, or cannot be read. No more comes either way.
    }
    this.#hasLeft = true;
    this.#server.endInput();
    void this.#leave();
  }

  async #send(line: Uint8Array): Promise<void> {
    await this.#server.write(withNewline(line));
  }

  /**
   * The client sends nothing more. A server that does not end by itself is stopped when no request waits for an answer,
   * or our parent has ended.
   */
  async #leave(): Promise<void> {
    const state = { isOver: false };
    void this.#server.ended.then(() => (state.isOver = true));
    for (let idle = 0; !state.isOver && idle < LEFT && process.ppid === PARENT; idle += LOOK) {
      await sleep(LOOK);
      if ((this.#interceptor?.waiting ?? 0) > 0) idle = 0;
    }
    if (!state.isOver) await this.#server.stop();
  }
}

/** Starts reading at once: what a server wrote before it exited would be lost otherwise. */
function readAhead(chunks: AsyncIterable<Uint8Array>): AsyncIterator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: Promise<IteratorResult<Uint8Array>> | undefined = iterator.next();
  first.catch(() => undefined);
  return {
    next: () => {
      const next = first ?? iterator.next();
      first = undefined;
      return next;
    },
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  };
}

/** Waits without keeping the process running. */
function sleep(milliseconds: number): Promise<undefined> {
  return setTimeout(milliseconds, undefined, { ref: false });
}

/** How a process ended, as the end of a sentence. */
function describeEnd({ code, signal }: ProcessEnd): string {
  return signal === null ? `ended with exit code ${String(code)}` : `was ended by ${signal}`;
}

/** Ends this process as another one ended. Returns the exit code if that is not possible. */
export function endLike({ code, signal }: ProcessEnd): number {
  if (signal === null) return code ?? 1;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  return 1;
}

/** Milliseconds to wait for a client's first request. It was started before us. */
const FIRST = 1000;

/** Answers the requests that have arrived, then stops reading. Never throws. */
export async function answerUnstarted(why: unknown, { input, output }: Terminal): Promise<void> {
  // A person has sent no request, and reads standard error.
  if (input.isTTY === true) return;
  const interceptor = new PassThrough();
  const client = new LineWriter((bytes) => output.write(bytes));
  const answered = new AbortController();
  const abandon = async (): Promise<void> => {
    for (const answer of interceptor.abandon(writeSentence(why))) {
      await client.line(answer);
      answered.abort();
    }
  };
  const passed = passClientLines(input as AsyncIterable<Uint8Array>, interceptor, {
    server: abandon,
    client: (text) => client.line(text),
  }).catch(() => undefined);
  const late = setTimeout(FIRST, undefined, { signal: answered.signal }).catch(() => undefined);
  await Promise.race([passed, late]);
  // Also answers what was read together with the first request.
  input.destroy();
  await Promise.race([passed, sleep(FIRST)]);
}

/** Does not name the command, which may contain paths and is in the client's own configuration. */
function writeSentence(why: unknown): string {
  const { code } = ((why as { cause?: unknown }).cause ?? {}) as { code?: unknown };
  const reason = code === "ENOENT" ? "there is no such command" : typeof code === "string" ? code : "it failed";
  return `The server could not be started: ${reason}. Check the command in the configuration of the client.`;
}

/** Most bytes of our own messages that wait to be read. */
const MOST_UNREAD = 1024 * 1024;

/** A running server. */
export interface StartedServer {
  readonly server: ServerProcess;
  /** Resolves when everything it wrote on standard error is passed on. */
  readonly noise: Promise<void>;
}

/**
 * Starts a command and passes its standard error on. A pipe that it inherited would block our writes too, and
 * everything would wait for its reader. A terminal is inherited.
 *
 * @param env the whole environment. Defaults to that of this process.
 */
export async function startServer(
  [program = "", ...args]: readonly string[],
  terminal: Terminal,
  env?: NodeJS.ProcessEnv,
): Promise<StartedServer> {
  const stderr = terminal.errors.isTerminal ? "inherit" : "pipe";
  const options = { args, stderr, reusesMemory: true, ...(env !== undefined && { env }) } as const;
  const server = await ServerProcess.start(program, options);
  return { server, noise: server.stderr === null ? Promise.resolve() : passOn(server.stderr, terminal.errors) };
}

/** Passes standard error on. The server waits for its reader, as it would without us. */
async function passOn(noise: AsyncIterable<Uint8Array>, errors: Output): Promise<void> {
  try {
    for await (const chunk of noise) await errors.write(chunk);
  } catch {
    // The reader is gone, or the server has ended. No one is left to tell.
  }
}

/** Writes without waiting, and drops what is not read in time, so that messages never wait for log output. */
export function lossy(errors: Output): (bytes: Uint8Array) => Promise<void> {
  let unread = 0;
  return (bytes) => {
    if (unread > MOST_UNREAD) return Promise.resolve();
    unread += bytes.length;
    const countWritten = (): void => {
      unread -= bytes.length;
    };
    errors.write(bytes).then(countWritten, countWritten);
    return Promise.resolve();
  };
}

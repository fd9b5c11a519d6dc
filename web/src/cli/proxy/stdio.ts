/**
 * A client on our standard streams, and a server in a process of its own.
 * @module
 */
import { setTimeout } from "node:timers/promises";
import type { Door } from "../../mcp/door.js";
import { PlainDoor } from "../../mcp/doorway.js";
import { passClientLines, passServerLines } from "../../mcp/lines.js";
import { MAX_MESSAGE } from "../../transports/limits.js";
import { LineWriter, withNewline } from "../../transports/line-writer.js";
import { ServerProcess, type ProcessEnd } from "../../transports/server-process.js";
import { PipeClosed, type Output, type Terminal } from "../terminal.js";

/** Signals that are the server's, not ours. */
const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** How long, in milliseconds, a server may go on once its client has left and waits for nothing. */
const LEFT = 5000;

/** How long, in milliseconds, what is under way may take to end once its other side has. */
const GRACE = 2000;

/** How often it is looked, in milliseconds, whether that is so. */
const LOOK = 100;

/** Who started us: another parent means that it is gone. */
const PARENT = process.ppid;

/** Passes messages both ways. Without a door everything passes as it is. */
export class StdioProxy {
  readonly #server: ServerProcess;
  readonly #door: Door | undefined;
  readonly #terminal: Terminal;
  readonly #client: LineWriter;
  readonly #errors: LineWriter;
  #hasLeft = false;

  constructor(server: ServerProcess, door: Door | undefined, terminal: Terminal) {
    this.#server = server;
    this.#door = door;
    this.#terminal = terminal;
    this.#client = new LineWriter((bytes) => terminal.output.write(bytes));
    this.#errors = new LineWriter(lossy(terminal.errors));
  }

  /** Works until the server has ended, and tells how it did. */
  async run(): Promise<ProcessEnd> {
    const told = new AbortController();
    const forward = (signal: NodeJS.Signals): void => {
      this.#server.signal(signal);
      told.abort();
    };
    for (const signal of SIGNALS) process.on(signal, forward);
    const input = this.#passInput();
    try {
      // Who was told to end waits no longer for a reader than for the server.
      await Promise.race([this.#passOutput(), this.#endedAfter(told.signal)]);
    } catch (error) {
      if (!(error instanceof PipeClosed)) throw error;
      // Nobody reads any more, so nothing that the server does can matter.
    } finally {
      this.#server.endInput();
      await this.#server.stop();
      this.#terminal.input.destroy();
      await Promise.race([input, sleep(GRACE)]);
      for (const signal of SIGNALS) process.off(signal, forward);
    }
    return this.#server.ended;
  }

  async #passOutput(): Promise<void> {
    const { output, ended } = this.#server;
    if (this.#door === undefined) {
      for await (const chunk of output) await this.#terminal.output.write(chunk);
      return;
    }
    await passServerLines(output, this.#door, {
      client: this.#client.lane(MAX_MESSAGE),
      stray: this.#errors.lane(),
      reply: (text) => void this.#send(new TextEncoder().encode(text)),
    });
    // A server whose output is over has nothing more to say.
    const end = (await Promise.race([ended, sleep(GRACE)])) ?? (await this.#server.stop());
    // Who has said all and sees the server end as it should knows what is not answered.
    if (this.#hasLeft && end.code === 0) return;
    const sentence = `The server ${described(end)} before it answered.`;
    for (const answer of this.#door.abandon(sentence)) await this.#client.line(answer);
  }

  /** Settles some time after the server has ended, once a signal was sent on. */
  async #endedAfter(signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await this.#server.ended;
    await sleep(GRACE);
  }

  /** Ends with the input, or with the server, whichever is first. */
  async #passInput(): Promise<void> {
    const { input } = this.#terminal;
    try {
      if (this.#door === undefined) {
        for await (const chunk of input) await this.#server.write(chunk as Uint8Array);
      } else {
        await passClientLines(input as AsyncIterable<Uint8Array>, this.#door, {
          server: (line) => this.#send(line),
          client: (text) => this.#client.line(text),
        });
      }
    } catch {
      // The input was closed because the server has ended, or cannot be read: either way no more comes.
    }
    this.#hasLeft = true;
    this.#server.endInput();
    void this.#left();
  }

  async #send(line: Uint8Array): Promise<void> {
    await this.#server.write(withNewline(line));
  }

  /**
   * The client sends no more. A server that does not end by itself is ended, once nothing is waited for, or nobody is
   * there to wait.
   */
  async #left(): Promise<void> {
    const state = { isOver: false };
    void this.#server.ended.then(() => (state.isOver = true));
    for (let idle = 0; !state.isOver && idle < LEFT && process.ppid === PARENT; idle += LOOK) {
      await sleep(LOOK);
      if ((this.#door?.waiting ?? 0) > 0) idle = 0;
    }
    if (!state.isOver) await this.#server.stop();
  }
}

/** Does not keep the process running. */
function sleep(milliseconds: number): Promise<undefined> {
  return setTimeout(milliseconds, undefined, { ref: false });
}

/** How a process ended, as the end of a sentence. */
function described({ code, signal }: ProcessEnd): string {
  return signal === null ? `ended with code ${String(code)}` : `was ended by ${signal}`;
}

/** Ends this process as another one ended; gives the exit code where that is not possible. */
export function endLike({ code, signal }: ProcessEnd): number {
  if (signal === null) return code ?? 1;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  return 1;
}

/** How long, in milliseconds, a client may take for its first request: it was started before us. */
const FIRST = 1000;

/** Answers what the client has asked by then, and reads no more of it. Never throws. */
export async function answerUnstarted(why: unknown, { input, output }: Terminal): Promise<void> {
  // A person has asked for nothing, and sees the sentence on standard error.
  if (input.isTTY === true) return;
  const door = new PlainDoor();
  const client = new LineWriter((bytes) => output.write(bytes));
  const answered = new AbortController();
  const abandon = async (): Promise<void> => {
    for (const answer of door.abandon(sentenceOf(why))) {
      await client.line(answer);
      answered.abort();
    }
  };
  const passed = passClientLines(input as AsyncIterable<Uint8Array>, door, {
    server: abandon,
    client: (text) => client.line(text),
  }).catch(() => undefined);
  const late = setTimeout(FIRST, undefined, { signal: answered.signal }).catch(() => undefined);
  await Promise.race([passed, late]);
  // What was read with the first request is answered as well.
  input.destroy();
  await Promise.race([passed, sleep(FIRST)]);
}

/** Names no command: it may hold paths, and the client's own configuration says which it is. */
function sentenceOf(why: unknown): string {
  const { code } = ((why as { cause?: unknown }).cause ?? {}) as { code?: unknown };
  const reason = code === "ENOENT" ? "there is no such command" : typeof code === "string" ? code : "it failed";
  return `The server could not be started: ${reason}. Check the command in the configuration of the client.`;
}

/** Bytes of our own noise that wait to be read. */
const MOST_UNREAD = 1024 * 1024;

/** A server that runs. */
export interface StartedServer {
  readonly server: ServerProcess;
  /** Settles when all that it wrote on standard error is passed on. */
  readonly noise: Promise<void>;
}

/**
 * Starts a command whose standard error is passed on. A pipe that it inherited would be a blocking one for us too: writing
 * there would then stop everything until somebody reads. A terminal is handed on as it is.
 *
 * @param env the whole environment; that of this process where left out.
 */
export async function startServer(
  [program = "", ...args]: readonly string[],
  terminal: Terminal,
  env?: NodeJS.ProcessEnv,
): Promise<StartedServer> {
  const stderr = terminal.errors.isTerminal ? "inherit" : "pipe";
  const server = await ServerProcess.start(program, { args, stderr, ...(env !== undefined && { env }) });
  return { server, noise: server.stderr === null ? Promise.resolve() : passOn(server.stderr, terminal.errors) };
}

/** The server waits for whoever reads its noise, as it would without us. */
async function passOn(noise: AsyncIterable<Uint8Array>, errors: Output): Promise<void> {
  try {
    for await (const chunk of noise) await errors.write(chunk);
  } catch {
    // Nobody reads any more, or the server is gone: either way there is nobody to tell.
  }
}

/** Writes without waiting, and drops what nobody reads: messages must not stand still for noise. */
export function lossy(errors: Output): (bytes: Uint8Array) => Promise<void> {
  let unread = 0;
  return (bytes) => {
    if (unread > MOST_UNREAD) return Promise.resolve();
    unread += bytes.length;
    const written = (): void => {
      unread -= bytes.length;
    };
    errors.write(bytes).then(written, written);
    return Promise.resolve();
  };
}

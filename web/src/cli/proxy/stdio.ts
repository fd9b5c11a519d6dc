/**
 * A client on our standard streams, and a server in a process of its own.
 * @module
 */
import { setTimeout } from "node:timers/promises";
import { passClientLines, passServerLines } from "../../mcp/lines.js";
import type { Door } from "../../mcp/door.js";
import { MAX_MESSAGE } from "../../transports/limits.js";
import { LineWriter, withNewline } from "../../transports/line-writer.js";
import type { ProcessEnd, ServerProcess } from "../../transports/server-process.js";
import { PipeClosed, type Terminal } from "../terminal.js";
import { lossy } from "./noise.js";

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

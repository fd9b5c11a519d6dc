/**
 * A connection of the store's own: made when it is needed, and anew when it is gone.
 * @module
 */
import { onAbort } from "../../core/abort.js";
import { connected, ended, type Client } from "./client.js";
import { ConnectionFailure, isReplica, isReply } from "./failures.js";
import type { RedisCommands } from "./options.js";

/** One connection, and who waits for its answers. */
interface Line {
  readonly client: Client;
  readonly waiting: Set<object>;
}

/**
 * Speaks to one server. It keeps no process alive. A connection that leaves a call without an answer gets no more of them, and
 * ends when nobody waits for it any more: those who asked later have time of their own.
 */
export class OwnConnection implements RedisCommands {
  readonly #url: string;
  readonly #timeout: number;
  /** For what is sent next. */
  #line: Line | undefined;
  #connecting: Promise<Line> | undefined;
  #isClosed = false;

  /** `timeout`: milliseconds that connecting may take. */
  constructor(url: string, timeout: number) {
    this.#url = url;
    this.#timeout = timeout;
  }

  /** Throws what the server said, ConnectionFailure, SluiceError E_MISUSE where there is no package to connect with. */
  async sendCommand(command: string[], { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<unknown> {
    // Not awaited where there is one: it might end in between.
    const line = this.#ready() ?? (await this.#connected());
    abortSignal?.throwIfAborted();
    const call = {};
    line.waiting.add(call);
    const forget = abortSignal && onAbort(abortSignal, () => this.#gaveUp(line, call));
    try {
      return await line.client.sendCommand(command, { ...(abortSignal && { abortSignal }) });
    } catch (error) {
      // After a failover the same name may lead to another server.
      if (isReplica(error)) this.#retire(line);
      if (isReply(error)) throw error;
      throw new ConnectionFailure(true, error);
    } finally {
      forget?.();
      this.#over(line, call);
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#isClosed = true;
    const line = this.#line;
    if (line === undefined) return;
    this.#line = undefined;
    ended(line.client);
  }

  #ready(): Line | undefined {
    const line = this.#line;
    if (line === undefined || line.client.isReady) return line;
    this.#retire(line);
    return undefined;
  }

  /** What gave no answer for so long may never give one: a machine that is gone says nothing. */
  #gaveUp(line: Line, call: object): void {
    this.#retire(line);
    this.#over(line, call);
  }

  #over(line: Line, call: object): void {
    line.waiting.delete(call);
    if (line !== this.#line && line.waiting.size === 0) ended(line.client);
  }

  #retire(line: Line): void {
    if (this.#line === line) this.#line = undefined;
    if (line.waiting.size === 0) ended(line.client);
  }

  #connected(): Promise<Line> {
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<Line> {
    const client = await connected(this.#url, this.#timeout);
    const line = { client, waiting: new Set<object>() };
    // Nobody waited for it any more.
    if (this.#isClosed) ended(client);
    else this.#line = line;
    return line;
  }
}

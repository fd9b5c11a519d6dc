/**
 * Passes newline-delimited messages through an interceptor (MCP, stdio transport).
 * @module
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { joinBytes } from "../../artifacts/bytes.js";
import { MAX_MESSAGE } from "../../jsonrpc/limits.js";
import { type LineSink, isBlank, linePieces } from "../../jsonrpc/lines.js";
import { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";
import { scanMembers } from "../client-request.js";
import type { FollowUp } from "../call-limit.js";
import type { ClientMessageOutcome, Interceptor } from "../interceptor-interface.js";

interface ClientLineSides {
  /** Writes a line to the server, without its newline. Resolves when more can be written. */
  readonly server: (line: Uint8Array) => Promise<void>;
  /** Sends a message to the client. */
  readonly client: (text: string) => Promise<void>;
}

/**
 * Passes the client's lines through an interceptor, in order. Its own answers are sent when they are ready. A call that
 * waits for the store is sent when it is ready; lines behind it go on, as long as few wait.
 */
export async function passClientLines(
  chunks: AsyncIterable<Uint8Array>,
  interceptor: Interceptor,
  sides: ClientLineSides,
): Promise<void> {
  const answers = new Set<Promise<void>>();
  const held = new PendingCalls();
  const answer = (message: Promise<string | undefined>): void => {
    const sent = message.then((text) => (text === undefined ? undefined : sides.client(text))).catch(() => undefined);
    answers.add(sent);
    void sent.finally(() => answers.delete(sent));
  };
  const follow = async (messages: AsyncIterable<FollowUp>): Promise<void> => {
    for await (const { toClient, toServer } of messages) {
      await sides.client(toClient);
      if (toServer !== undefined) await sides.server(new TextEncoder().encode(toServer));
    }
  };
  const pass = async ({ forward, answers: own, followUps = [] }: ClientMessageOutcome): Promise<void> => {
    if (forward !== undefined) await sides.server(forward);
    for (const message of own) answer(message);
    // They end with the server's answer, which is not waited for here.
    for (const messages of followUps) void follow(messages).catch(() => undefined);
  };
  let line = new BoundedMessage();
  for await (const { bytes, last } of linePieces(chunks)) {
    line.push(bytes);
    if (!last) continue;
    const whole = line.whole();
    if (whole === undefined) {
      const { toClient, toServer } = interceptor.refuse(line.members);
      if (toClient !== undefined) answer(Promise.resolve(toClient));
      if (toServer !== undefined) await sides.server(new TextEncoder().encode(toServer));
    } else if (!isBlank(whole)) {
      await pass(await interceptor.fromClient(whole, (call) => held.add(call.then(pass), whole.length)));
      await held.room();
    }
    line = new BoundedMessage();
  }
  await held.all();
  await Promise.all(answers);
}

/** Most calls that wait for a store while lines behind them go on. */
const MAX_HELD = 64;

/** Bytes of such calls beyond which no further line is read. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Calls that wait for a store. */
class PendingCalls {
  readonly #calls = new Set<Promise<void>>();
  #bytes = 0;

  /** Adds a call whose message has so many bytes. */
  add(call: Promise<void>, bytes: number): void {
    const waited = this.#wait(call, bytes).finally(() => this.#calls.delete(waited));
    this.#calls.add(waited);
  }

  /** Resolves when another one may be added. */
  async room(): Promise<void> {
    while (this.#calls.size >= MAX_HELD || this.#bytes > MAX_HELD_BYTES) await Promise.race(this.#calls);
  }

  async all(): Promise<void> {
    while (this.#calls.size > 0) await Promise.all(this.#calls);
  }

  async #wait(call: Promise<void>, bytes: number): Promise<void> {
    this.#bytes += bytes;
    try {
      await call;
    } catch {
      // That side is closed, which is reported elsewhere.
    } finally {
      this.#bytes -= bytes;
    }
  }
}

/** Collects a message up to MAX_MESSAGE bytes. A longer one is only scanned. */
export class BoundedMessage {
  #pieces: Uint8Array[] = [];
  #size = 0;
  #members: JsonRpcScanner | undefined;

  /** Adds bytes, which the caller must not reuse. */
  push(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#size <= MAX_MESSAGE) {
      if (bytes.length > 0) this.#pieces.push(bytes);
      return;
    }
    if (this.#members === undefined) this.#members = scanMembers([...this.#pieces.splice(0), bytes]);
    else this.#members.push(bytes);
  }

  /** What is known of a message that is too long. */
  get members(): JsonRpcScanner {
    return (this.#members ??= new JsonRpcScanner());
  }

  /** The message; undefined if it is too long. */
  whole(): Uint8Array | undefined {
    return this.#size > MAX_MESSAGE ? undefined : joinBytes(this.#pieces);
  }
}

interface ServerLineSides {
  /** Receives messages. */
  readonly client: LineSink;
  /** Receives lines that are not messages. */
  readonly nonProtocol: LineSink;
  /** Sends the server a message. */
  readonly reply: (text: string) => void;
}

/** Milliseconds after which other timers and connections get a turn. */
const LONGEST_TURN = 10;

/**
 * Passes the server's lines through an interceptor, in order. The next line waits until the previous one is forwarded.
 * A server that never stops writing does not starve the rest of the process.
 *
 * @param isOver whether further lines are unwanted; reading then stops.
 */
export async function passServerLines(
  chunks: AsyncIterable<Uint8Array>,
  interceptor: Interceptor,
  { client, nonProtocol, reply }: ServerLineSides,
  isOver: () => boolean = () => false,
): Promise<void> {
  const sink = {
    forward: (bytes: Uint8Array) => client.forward(bytes),
    complete: () => client.complete(),
    nonProtocol: (bytes: Uint8Array) => nonProtocol.forward(bytes),
  };
  let line = interceptor.fromServer(sink, reply);
  let turn = performance.now();
  try {
    for await (const { bytes, last } of linePieces(chunks)) {
      // A pipe is read in megabytes and buffered reads resolve at once, so no timer would fire between a million short
      // lines.
      if (performance.now() - turn > LONGEST_TURN) {
        await nextTurn();
        turn = performance.now();
      }
      if (isOver()) return;
      await line.write(bytes);
      if (!last) continue;
      await line.end();
      await nonProtocol.complete();
      line = interceptor.fromServer(sink, reply);
    }
  } finally {
    await line[Symbol.asyncDispose]();
  }
}

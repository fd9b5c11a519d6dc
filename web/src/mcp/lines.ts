/**
 * Messages that come as lines (MCP, stdio transport).
 * @module
 */
import { joined } from "../transports/bytes.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import type { LineLane } from "../transports/line-writer.js";
import { isBlank, linePieces } from "../transports/lines.js";
import { MessageMembers } from "../transports/members.js";
import { membersOf } from "./client-request.js";
import type { FromClient } from "./door.js";
import type { Doorway } from "./doorway.js";

interface ClientLineSides {
  /** Takes a line for the server, without its newline; settles when more can be taken. */
  readonly server: (line: Uint8Array) => Promise<void>;
  /** Takes a message for the client. */
  readonly client: (text: string) => Promise<void>;
}

/**
 * Passes every line through a door, in order. What the door answers itself is sent when it is there; a call that waits
 * for the store is sent when it is ready, and lines behind it go on meanwhile, as long as few wait.
 */
export async function passClientLines(
  chunks: AsyncIterable<Uint8Array>,
  door: Doorway,
  sides: ClientLineSides,
): Promise<void> {
  const answers = new Set<Promise<void>>();
  const held = new HeldCalls();
  const answer = (message: Promise<string>): void => {
    const sent = message.then(sides.client).catch(() => undefined);
    answers.add(sent);
    void sent.finally(() => answers.delete(sent));
  };
  const pass = async ({ forward, answers: own }: FromClient): Promise<void> => {
    if (forward !== undefined) await sides.server(forward);
    for (const message of own) answer(message);
  };
  let line = new HeldMessage();
  for await (const { bytes, last } of linePieces(chunks)) {
    line.push(bytes);
    if (!last) continue;
    const whole = line.whole();
    if (whole === undefined) {
      const { toClient, toServer } = door.refuse(line.members);
      if (toClient !== undefined) answer(Promise.resolve(toClient));
      if (toServer !== undefined) await sides.server(new TextEncoder().encode(toServer));
    } else if (!isBlank(whole)) {
      await pass(await door.fromClient(whole, (call) => held.add(call.then(pass), whole.length)));
      await held.room();
    }
    line = new HeldMessage();
  }
  await held.all();
  await Promise.all(answers);
}

/** Messages that wait for a store while those behind them go on. */
const MAX_HELD = 64;

/** Bytes of such messages, beyond which no other is read. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Calls that wait for a store. */
class HeldCalls {
  readonly #calls = new Set<Promise<void>>();
  #bytes = 0;

  /** Notes one whose message is of so many bytes. */
  add(call: Promise<void>, bytes: number): void {
    const waited = this.#wait(call, bytes).finally(() => this.#calls.delete(waited));
    this.#calls.add(waited);
  }

  /** Settles when another one may be added. */
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
      // A side that takes nothing more: its end is told elsewhere.
    } finally {
      this.#bytes -= bytes;
    }
  }
}

/** A message, as far as it may be sent on; of a longer one only what it is about. */
export class HeldMessage {
  #pieces: Uint8Array[] = [];
  #size = 0;
  #members: MessageMembers | undefined;

  /** Bytes that must not be written over. */
  push(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#size <= MAX_MESSAGE) {
      if (bytes.length > 0) this.#pieces.push(bytes);
      return;
    }
    if (this.#members === undefined) this.#members = membersOf([...this.#pieces.splice(0), bytes]);
    else this.#members.push(bytes);
  }

  /** What it is about, where it is too long. */
  get members(): MessageMembers {
    return (this.#members ??= new MessageMembers());
  }

  /** Undefined for one that is too long. */
  whole(): Uint8Array | undefined {
    return this.#size > MAX_MESSAGE ? undefined : joined(this.#pieces);
  }
}

interface ServerLineSides {
  /** Messages. */
  readonly client: LineLane;
  /** Lines that are no message. */
  readonly stray: LineLane;
  /** Sends the server a message. */
  readonly reply: (text: string) => void;
}

/** Passes every line through a door, in order; the next one waits until the one before is passed on. */
export async function passServerLines(
  chunks: AsyncIterable<Uint8Array>,
  door: Doorway,
  { client, stray, reply }: ServerLineSides,
): Promise<void> {
  const outlet = {
    forward: (bytes: Uint8Array) => client.forward(bytes),
    complete: () => client.complete(),
    stray: (bytes: Uint8Array) => stray.forward(bytes),
  };
  let line = door.fromServer(outlet, reply);
  try {
    for await (const { bytes, last } of linePieces(chunks)) {
      await line.write(bytes);
      if (!last) continue;
      await line.end();
      await stray.complete();
      line = door.fromServer(outlet, reply);
    }
  } finally {
    await line[Symbol.asyncDispose]();
  }
}

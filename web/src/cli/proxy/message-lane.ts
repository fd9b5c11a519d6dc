/**
 * A server's lines as messages: whole ones, and large ones in pieces.
 * @module
 */
import { MAX_MESSAGE } from "../../transports/limits.js";
import type { LineLane } from "../../transports/line-writer.js";
import { MessageMembers } from "../../transports/members.js";

/** The largest message that is held whole: one whose taker cannot be known before its end. */
const MAX_HELD = 64 * 1024 * 1024;

/** Takes an answer in pieces. */
export interface AnswerTaker {
  /** `about` knows the piece already. Settles when more can be taken. */
  write(bytes: Uint8Array, about: MessageMembers): Promise<void>;
  /** The message is complete. */
  end(about: MessageMembers): void;
  /** It will not be complete. */
  fail(): void;
}

interface MessageSides {
  /** Takes a whole message. */
  readonly take: (message: Uint8Array) => Promise<void>;
  /**
   * Finds who takes a message of more than MAX_MESSAGE bytes as it comes; undefined while that is not known.
   * `isLast`: it cannot be held any longer.
   */
  readonly begin: (about: MessageMembers, isLast: boolean) => Promise<AnswerTaker | undefined>;
  /** Told the id, as JSON text, of an answer that nobody took as it came, and that is too large to be held. */
  readonly tooLarge: (id: string) => Promise<void>;
}

/** Collects messages. */
export class MessageLane implements LineLane {
  readonly #sides: MessageSides;
  #held: Uint8Array[] = [];
  #about = new MessageMembers();
  #taker: AnswerTaker | undefined;

  constructor(sides: MessageSides) {
    this.#sides = sides;
  }

  async forward(bytes: Uint8Array): Promise<void> {
    this.#about.push(bytes);
    if (this.#taker !== undefined) {
      await this.#taker.write(oneLine(bytes), this.#about);
      return;
    }
    const isGivenUp = this.#about.size - bytes.length > MAX_HELD;
    if (isGivenUp) return;
    this.#held.push(bytes);
    if (this.#about.size > MAX_MESSAGE) await this.#spill(this.#about.size > MAX_HELD);
  }

  async complete(): Promise<void> {
    const [held, about, taker] = [this.#held, this.#about, this.#taker];
    this.#reset();
    // A server that ends in the middle of a message has not said it.
    if (!about.isComplete) taker?.fail();
    else if (taker !== undefined) taker.end(about);
    else if (about.size <= MAX_HELD) await this.#sides.take(oneLine(Buffer.concat(held)));
    else await this.#refuse(about);
  }

  /** Gives up what is not complete. */
  drop(): void {
    this.#taker?.fail();
    this.#reset();
  }

  async #spill(isLast: boolean): Promise<void> {
    this.#taker = await this.#sides.begin(this.#about, isLast);
    if (this.#taker === undefined) {
      if (isLast) this.#held = [];
      return;
    }
    for (const bytes of this.#held.splice(0)) await this.#taker.write(oneLine(bytes), this.#about);
  }

  async #refuse(about: MessageMembers): Promise<void> {
    const id = about.text("method") === undefined ? about.text("id") : undefined;
    if (id !== undefined) await this.#sides.tooLarge(id);
  }

  #reset(): void {
    this.#held = [];
    this.#about = new MessageMembers();
    this.#taker = undefined;
  }
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** A message without line ends: in JSON they are white space. With `ended`, one stands behind it. */
export function oneLine(message: Uint8Array, ended = false): Uint8Array {
  const hasEnds = message.includes(LF) || message.includes(CR);
  if (!hasEnds && !ended) return message;
  const line = new Uint8Array(message.length + (ended ? 1 : 0));
  line.set(message);
  if (hasEnds) for (const [at, byte] of message.entries()) if (byte === LF || byte === CR) line[at] = SPACE;
  if (ended) line[message.length] = LF;
  return line;
}

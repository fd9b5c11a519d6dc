/**
 * What transports need of a door, and one that lets everything pass.
 * @module
 */
import { MessageMembers } from "../transports/members.js";
import type { Outlet } from "../transports/incoming.js";
import type { ListedTool } from "./catalog.js";
import { requestsIn } from "./client-request.js";
import type { DoorEvent, FromClient } from "./door.js";
import { InFlight } from "./in-flight.js";
import { refuseMessage, tooLargeForServer, type Refused } from "./too-large.js";

/** Takes the bytes of one message, in pieces that must not be written over. */
export interface MessageTaker {
  /** Settles when more can be taken. */
  write(bytes: Uint8Array): Promise<void>;
  /** The message is over. */
  end(): Promise<void>;
  /** Throws away what is half done. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** One client and one server; see `Door`. */
export interface Doorway {
  /**
   * Takes a whole message of the client's, of at most MAX_MESSAGE bytes. `later` gets what becomes of one that has to
   * wait for a store, which messages behind it need not; left out, it is waited for.
   */
  fromClient(bytes: Uint8Array, later?: (held: Promise<FromClient>) => void): Promise<FromClient>;
  /** What each side is told of a message of the client's that is larger. */
  refuse(message: MessageMembers): Refused;
  /** Takes a message of the server's. */
  fromServer(outlet: Pick<Outlet, "forward" | "complete" | "stray">, reply: (text: string) => void): MessageTaker;
  /** What everybody who waits is answered when the server is gone. */
  abandon(sentence: string): readonly string[];
  /** A request will not be answered: `id` is JSON text. */
  forget(id: string): void;
  /** Whether a request waits for an answer: `id` is JSON text. */
  isWaiting(id: string): boolean;
  /** What the server's lists told of a tool. */
  tool(name: string): ListedTool | undefined;
  /** How many requests wait for an answer. */
  readonly waiting: number;
}

/** A door that changes nothing, and knows who waits. */
export class PlainDoor implements Doorway {
  readonly #inFlight = new InFlight();
  readonly #onEvent: (event: DoorEvent) => void;

  /** `onEvent` is told of what cannot be passed on. */
  constructor(onEvent: (event: DoorEvent) => void = () => undefined) {
    this.#onEvent = onEvent;
  }

  async fromClient(bytes: Uint8Array): Promise<FromClient> {
    for (const request of requestsIn(bytes)) this.#inFlight.open(request);
    return { forward: bytes, answers: [] };
  }

  refuse(message: MessageMembers): Refused {
    this.#onEvent({ kind: "failed", error: tooLargeForServer(message) });
    return refuseMessage(message);
  }

  fromServer(outlet: Pick<Outlet, "forward" | "complete" | "stray">): MessageTaker {
    const members = new MessageMembers();
    let isMessage: boolean | undefined;
    return {
      write: async (bytes) => {
        const first = bytes.find((byte) => byte > 0x20);
        if (first !== undefined) isMessage ??= first === 0x7b || first === 0x5b;
        if (isMessage === undefined) return;
        members.push(bytes);
        await (isMessage ? outlet.forward(bytes) : outlet.stray(bytes));
      },
      end: async () => {
        if (members.text("method") === undefined) this.#inFlight.close(members.text("id"));
        if (isMessage === true) await outlet.complete();
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  abandon(sentence: string): readonly string[] {
    return this.#inFlight.abandon(sentence);
  }

  forget(id: string): void {
    this.#inFlight.close(id);
  }

  isWaiting(id: string): boolean {
    return this.#inFlight.find(id) !== undefined;
  }

  tool(): undefined {
    return undefined;
  }

  get waiting(): number {
    return this.#inFlight.waiting;
  }
}

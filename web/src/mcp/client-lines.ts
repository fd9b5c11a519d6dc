/**
 * Messages of a client that come as lines (MCP, stdio transport).
 * @module
 */
import { joined } from "../transports/bytes.js";
import { isBlank, linePieces } from "../transports/lines.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import { MessageMembers } from "../transports/members.js";
import type { Doorway } from "./doorway.js";

/** Where lines of a client go. */
export interface ClientLineSides {
  /** Takes a line for the server, without its newline; settles when more can be taken. */
  readonly server: (line: Uint8Array) => Promise<void>;
  /** Takes a message for the client. */
  readonly client: (text: string) => Promise<void>;
}

/** Passes every line through a door, in order. What the door answers itself is sent when it is there. */
export async function passClientLines(
  chunks: AsyncIterable<Uint8Array>,
  door: Doorway,
  sides: ClientLineSides,
): Promise<void> {
  const answers = new Set<Promise<void>>();
  const answer = (message: Promise<string>): void => {
    const sent = message.then(sides.client).catch(() => undefined);
    answers.add(sent);
    void sent.finally(() => answers.delete(sent));
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
      const taken = await door.fromClient(whole);
      if (taken.forward !== undefined) await sides.server(taken.forward);
      for (const message of taken.answers) answer(message);
    }
    line = new HeldMessage();
  }
  await Promise.all(answers);
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
    const members = this.members;
    for (const piece of this.#pieces.splice(0)) members.push(piece);
    members.push(bytes);
  }

  /** What it is about. */
  get members(): MessageMembers {
    return (this.#members ??= new MessageMembers());
  }

  /** Undefined for one that is too long. */
  whole(): Uint8Array | undefined {
    return this.#size > MAX_MESSAGE ? undefined : joined(this.#pieces);
  }
}

/**
 * Messages as lines, and lines as whole messages.
 * @module
 */
import { MessageMembers } from "../../transports/members.js";
import type { LineLane } from "../../transports/line-writer.js";

/**
 * The largest message that is held whole: those that are reduced are far smaller, those that are an app's own may be
 * of any size.
 */
const MAX_HELD = 64 * 1024 * 1024;

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

/** Collects messages that come in pieces. Of one that is too large only the id is told, as JSON text. */
export function wholeMessages(
  take: (message: Uint8Array) => Promise<void>,
  tooLarge: (id: string) => Promise<void>,
): LineLane {
  let pieces: Uint8Array[] = [];
  let members = new MessageMembers();
  return {
    forward: async (bytes) => {
      members.push(bytes);
      if (members.size <= MAX_HELD) pieces.push(bytes);
      else pieces = [];
    },
    complete: async () => {
      const [held, about] = [pieces, members];
      pieces = [];
      members = new MessageMembers();
      if (about.size > MAX_HELD) {
        const id = about.text("method") === undefined ? about.text("id") : undefined;
        if (id !== undefined) await tooLarge(id);
      } else if (about.size > 0) {
        await take(oneLine(Buffer.concat(held)));
      }
    },
  };
}

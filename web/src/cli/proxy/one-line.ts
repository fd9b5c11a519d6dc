/**
 * Messages as lines.
 * @module
 */

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

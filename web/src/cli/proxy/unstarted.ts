/**
 * Clients of a server that could not be started: who waits is answered, as when a server crashes.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { passClientLines } from "../../mcp/lines.js";
import { PlainDoor } from "../../mcp/doorway.js";
import { LineWriter } from "../../transports/line-writer.js";
import type { Terminal } from "../terminal.js";

/** How long, in milliseconds, a client may take for its first request: it was started before us. */
const GRACE = 1000;

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
  const late = sleep(GRACE, undefined, { signal: answered.signal }).catch(() => undefined);
  await Promise.race([passed, late]);
  // What was read with the first request is answered as well.
  input.destroy();
  await Promise.race([passed, sleep(GRACE, undefined, { ref: false })]);
}

/** Names no command: it may hold paths, and the client's own configuration says which it is. */
function sentenceOf(why: unknown): string {
  const { code } = ((why as { cause?: unknown }).cause ?? {}) as { code?: unknown };
  const reason = code === "ENOENT" ? "there is no such command" : typeof code === "string" ? code : "it failed";
  return `The server could not be started: ${reason}. Check the command in the configuration of the client.`;
}

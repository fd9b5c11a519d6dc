/**
 * What a server says, looked at before the client judges it: that refuses a whole list for one wrong entry, and takes its
 * time over each notice.
 * @module
 */
import type { Client } from "@modelcontextprotocol/client";
import { objectOr } from "../../../mcp/rpc.js";

/** A message of a server's, whatever it is. */
export type ServerMessage = Readonly<Record<string, unknown>>;

/**
 * Looks at each message from now on. `look` gives what the client gets in its place; undefined: the message is dealt with.
 * Does nothing where the client is not connected.
 */
export function beforeClient(client: Client, look: (message: ServerMessage) => ServerMessage | undefined): void {
  const { transport } = client;
  const take = transport?.onmessage;
  if (transport === undefined || take === undefined) return;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has none
  transport.onmessage = (message, extra) => {
    const seen = objectOr(message);
    const next = look(seen);
    if (next === seen) take(message, extra);
    else if (next !== undefined) take(next as typeof message, extra);
  };
}

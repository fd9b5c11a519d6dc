/**
 * Messages of a server that come as lines (MCP, stdio transport).
 * @module
 */
import { linePieces } from "../transports/lines.js";
import type { LineLane } from "../transports/line-writer.js";
import type { Doorway } from "./doorway.js";

/** Where lines of a server go. */
export interface ServerLineSides {
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

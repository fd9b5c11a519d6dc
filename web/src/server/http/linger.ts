/**
 * Requests that are answered before all of them has come.
 * @module
 */
import type { IncomingMessage } from "node:http";

/** Milliseconds that whoever still sends has to come to read the answer. */
const LONGEST = 500;

/** Bytes that are taken from them meanwhile, and thrown away. */
const MOST = 16 * 1024 * 1024;

/** Whether more of a body was announced than has been read. */
export function isUnread(incoming: IncomingMessage): boolean {
  const { "transfer-encoding": coding, "content-length": length } = incoming.headers;
  return (coding !== undefined || Number(length ?? 0) > 0) && !incoming.readableEnded;
}

/**
 * Throws away what still comes of a body, for a while: a connection that is ended with bytes unread is reset, and the answer may be
 * lost with it (RFC 9112 §9.6).
 */
export async function letGo(incoming: IncomingMessage): Promise<void> {
  if (incoming.destroyed) return;
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, LONGEST);
    // Whoever read until now holds it up.
    incoming.removeAllListeners("data");
    incoming.on("data", (piece: Uint8Array) => {
      bytes += piece.byteLength;
      if (bytes > MOST) resolve();
    });
    incoming.once("end", resolve).once("close", resolve);
    incoming.once("close", () => clearTimeout(timer));
    incoming.resume();
  });
}

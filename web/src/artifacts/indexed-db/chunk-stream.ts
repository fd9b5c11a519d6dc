/**
 * A content as a stream.
 * @module
 */
import type { Span } from "../bytes.js";
import { partOf, type Contents } from "./contents.js";
import { takenAway } from "./failures.js";
import type { Lease } from "./locks.js";
import { CHUNK } from "./schema.js";

/**
 * Reads a span chunk by chunk, as fast as it is asked for. The lease, which keeps the content there, is released at the
 * end, on failure and on cancel; if the artifact was deleted by then, its bytes go.
 */
export function streamChunks(
  contents: Contents,
  content: string,
  span: Span,
  lease: Lease,
): ReadableStream<Uint8Array> {
  let at = span.start;
  const finish = async (): Promise<void> => {
    await lease.release();
    // What cannot be cleared away now is when the store is opened the next time.
    await contents.clear(content).catch(() => undefined);
  };
  const next = async (): Promise<Uint8Array> => {
    const index = Math.floor(at / CHUNK);
    const chunk = await contents.chunk(content, index);
    const piece = chunk && partOf(chunk, index, { start: at, end: span.end });
    if (!piece) throw takenAway("read");
    at += piece.byteLength;
    return piece;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        try {
          if (at < span.end) controller.enqueue(await next());
        } catch (error) {
          await finish();
          throw error;
        }
        if (at < span.end) return;
        await finish();
        controller.close();
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );
}

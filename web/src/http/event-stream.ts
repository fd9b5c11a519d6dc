/**
 * Event streams as they are written (HTML Standard, "Server-sent events"): events, and a comment after each silence.
 * @module
 */
import { type ByteReader, getByteReader, streamFrom } from "../artifacts/byte-reader.js";

/** Milliseconds of silence after which a comment is sent, since proxies and browsers close silent connections. */
const HEARTBEAT_MS = 15_000;

/** Milliseconds before a client reconnects. */
export const RETRY_MS = 1000;

/** The end of an event. */
export const EVENT_END = "\n\n";

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(`:${EVENT_END}`);

/** What an event has besides its data: ASCII without line breaks. */
export interface EventFields {
  readonly name?: string | undefined;
  /** The id by which a client resumes. */
  readonly id?: string | undefined;
  /** Milliseconds before the client reconnects. */
  readonly retry?: number | undefined;
}

/** The lines before an event's data. */
export function writeFields({ name, id, retry }: EventFields): string {
  const lines = { retry, event: name, id };
  return Object.entries(lines).reduce(
    (text, [key, value]) => (value === undefined ? text : `${text}${key}: ${value}\n`),
    "",
  );
}

/** An event whose data is one line. */
export function encodeEvent(fields: EventFields, data: string | Uint8Array): Uint8Array {
  const head = `${writeFields(fields)}data: `;
  if (typeof data === "string") return encoder.encode(head + data + EVENT_END);
  const event = new Uint8Array(head.length + data.length + EVENT_END.length);
  encoder.encodeInto(head, event);
  event.set(data, head.length);
  encoder.encodeInto(EVENT_END, event.subarray(head.length + data.length));
  return event;
}

/** An event stream with a comment after each silence between two events, while its client waits. */
export function keepAlive(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return streamFrom(addHeartbeats(getByteReader(stream)));
}

/** The same response. If it is an event stream, it is kept alive. */
export function keepResponseAlive(response: Response): Response {
  const { body, headers } = response;
  const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
  if (body === null || !isStream || headers.has("content-encoding")) return response;
  const kept = new Response(keepAlive(body), response);
  kept.headers.delete("content-length");
  return kept;
}

/** The same pieces of an event stream, with heartbeats. */
export function addHeartbeats(stream: ByteReader): ByteReader {
  let pending: Promise<Uint8Array | null> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  // The end of what was read: within an event, a comment with its blank line would end it.
  let end = EVENT_END;
  return {
    async next() {
      for (;;) {
        pending ??= stream.next(false);
        const silence = new Promise<undefined>((resolve) => {
          timer = setTimeout(() => resolve(undefined), HEARTBEAT_MS);
        });
        const piece = await Promise.race([pending, silence]).finally(() => clearTimeout(timer));
        if (piece === undefined) {
          if (/(?:\n\n|\r\n\r\n|\r\r)$/.test(end)) return HEARTBEAT;
          continue;
        }
        pending = undefined;
        if (piece !== null) end = (end + String.fromCharCode(...piece.subarray(-4))).slice(-4);
        return piece;
      }
    },
    cancel(reason) {
      clearTimeout(timer);
      return stream.cancel(reason);
    },
  };
}

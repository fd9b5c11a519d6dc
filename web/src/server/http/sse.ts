/**
 * Server-sent events, as sessions, calls and chats send them.
 * @module
 */
import { streamFrom } from "../../artifacts/byte-reader.js";
import { onAbort } from "../../core/abort.js";
import { addHeartbeats, encodeEvent, RETRY_MS, writeFields } from "../../http/event-stream.js";
import { McpHeader } from "../../mcp/http/headers.js";
import { SAFETY } from "./headers.js";
import { MAX_TIMER, within } from "./time-limit.js";

/** An event as it is sent. */
export interface SentEvent {
  /** The id by which a client resumes, if any. */
  readonly id?: string;
  /** Written as JSON. Its `kind` is also the event's name. */
  readonly data: { readonly kind: string };
}

/** Milliseconds by which clients reconnect later, at most, when the server closes, so that not all come back at once. */
const SPREAD_MS = 2000;

/** The last event of a stream that the server ends because it closes: its client goes on elsewhere. */
export const CLOSING_EVENT = { kind: "closing" } as const;

const BEGINNING = new TextEncoder().encode(`${writeFields({ retry: RETRY_MS })}\n`);

/**
 * An event stream that a client can come back to with `Last-Event-ID`. When the server closes, its last event says so.
 *
 * @param closing aborted when such streams end.
 */
export function resumableStream(
  events: (signal: AbortSignal) => AsyncIterable<SentEvent>,
  closing: AbortSignal,
  until?: number,
): Response {
  const addClosingEvent = async function* (signal: AbortSignal): AsyncIterable<SentEvent> {
    yield* events(signal);
    if (closing.aborted) yield { data: CLOSING_EVENT };
  };
  return eventStream(addClosingEvent, closing, until);
}

/**
 * An answer that lasts as long as there are events and a client. Events are requested one at a time, when the client
 * has taken the one before. Comments keep the connection open in silence. If the events throw, the stream breaks.
 *
 * @param events gets a signal that is aborted when the client is gone or `over` is, and must end then.
 * @param over aborted when the server closes.
 * @param until when it ends by itself, in milliseconds since 1970. Defaults to never.
 */
export function eventStream(
  events: (signal: AbortSignal) => AsyncIterable<SentEvent>,
  over: AbortSignal,
  until = Infinity,
): Response {
  const gone = new AbortController();
  const end = (): void => gone.abort();
  const milliseconds = Math.min(MAX_TIMER, Math.max(0, until - Date.now()));
  const timer = until === Infinity ? undefined : setTimeout(end, milliseconds);
  const stopListening = onAbort(over, end);
  const clean = (): void => {
    clearTimeout(timer);
    stopListening();
  };
  if (over.aborted) end();
  const frames = writeFrames(events(gone.signal)[Symbol.asyncIterator](), gone.signal, clean);
  const reader = addHeartbeats({
    next: async () => (await frames.next()).value ?? null,
    async cancel() {
      clean();
      end();
      // The events end by the signal, and their client is gone: a failure has no reader.
      frames.return(undefined).catch(() => undefined);
    },
  });
  return new Response(streamFrom(reader), {
    headers: { ...SAFETY, "Cache-Control": "no-store", "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" },
  });
}

/** The events as bytes. `clean` is called at their end. */
async function* writeFrames(
  events: AsyncIterator<SentEvent>,
  signal: AbortSignal,
  clean: () => void,
): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield BEGINNING;
    for (;;) {
      const result = await within(events.next(), MAX_TIMER, signal);
      // Events that do not end by the signal are not waited for.
      if (result === "late" || result.done === true) return undefined;
      yield encodeFrame(result.value);
    }
  } finally {
    clean();
    events.return?.().catch(() => undefined);
  }
}

/** JSON has no line breaks, so one line of data is enough. Ids and kinds are the server's own, and have none either. */
function encodeFrame({ id, data }: SentEvent): Uint8Array {
  const retry = data === CLOSING_EVENT ? RETRY_MS + Math.floor(Math.random() * SPREAD_MS) : undefined;
  return encodeEvent({ name: data.kind, id, retry }, JSON.stringify(data));
}

/** Whether a text has the form of an event id: two numbers of 1 to 20 digits. */
export function isEventId(text: string): boolean {
  return /^\d{1,20}-\d{1,20}$/.test(text);
}

/** The last event id of a client that resumes. Null without one, and for an invalid id. */
export function lastEventId({ headers }: Request): string | null {
  const said = headers.get(McpHeader.lastEventId);
  return said !== null && isEventId(said) ? said : null;
}

/**
 * Server-sent events (HTML Standard §9.2).
 * @module
 */
import { onAbort } from "../../core/abort.js";
import { McpHeader } from "../../mcp/http/headers.js";
import { SAFETY } from "../artifacts/headers.js";
import { isEventId } from "../sessions/event-log.js";
import { MAX_TIMER, within } from "./time-limit.js";

/** An event as it is sent. */
export interface SentEvent {
  /** The id by which a client resumes, if any. */
  readonly id?: string;
  /** Written as JSON. Its `kind` is also the event's name. */
  readonly data: { readonly kind: string };
}

/** Seconds of silence after which a comment is sent, since proxies and browsers close silent connections. */
const HEARTBEAT_SECONDS = 15;

/** Milliseconds until a browser reconnects. */
const RETRY_MS = 1000;

/** The same when the server closes: at most this much longer, so that not all clients come back at once. */
const SPREAD_MS = 2000;

/** The last event of a stream that the server ends because it closes: its client goes on elsewhere. */
export const CLOSING_EVENT = { kind: "closing" } as const;

const ENCODER = new TextEncoder();
const HEARTBEAT = ENCODER.encode(":\n\n");

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
  const told = async function* (signal: AbortSignal): AsyncIterable<SentEvent> {
    yield* events(signal);
    if (closing.aborted) yield { data: CLOSING_EVENT };
  };
  return eventStream(told, closing, until);
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
  const frames = framesOf(events(gone.signal)[Symbol.asyncIterator](), gone.signal);
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(ENCODER.encode(`retry: ${RETRY_MS}\n\n`)),
      async pull(controller): Promise<void> {
        try {
          const { done, value } = await frames.next();
          if (done !== true) return controller.enqueue(value);
        } catch (error) {
          clean();
          throw error;
        }
        clean();
        controller.close();
      },
      cancel(): void {
        clean();
        end();
        // The events end by the signal. Nobody is left to hear how.
        frames.return(undefined).catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { ...SAFETY, "Cache-Control": "no-store", "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" },
  });
}

/** The events as bytes, with a heartbeat after each silence. */
async function* framesOf(events: AsyncIterator<SentEvent>, signal: AbortSignal): AsyncGenerator<Uint8Array, undefined> {
  try {
    let next = events.next();
    for (;;) {
      const result = await within(next, HEARTBEAT_SECONDS * 1000, signal);
      if (result === "late") {
        if (signal.aborted) return undefined;
        yield HEARTBEAT;
        continue;
      }
      if (result.done === true) return undefined;
      yield ENCODER.encode(frameOf(result.value));
      next = events.next();
    }
  } finally {
    // Events that do not end by the signal are not waited for.
    events.return?.().catch(() => undefined);
  }
}

/** JSON has no line breaks, so one line of data is enough. Ids and kinds are the server's own, and have none either. */
function frameOf({ id, data }: SentEvent): string {
  const retry = data === CLOSING_EVENT ? `retry: ${RETRY_MS + Math.floor(Math.random() * SPREAD_MS)}\n` : "";
  return `${retry}event: ${data.kind}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** The last event id of a client that resumes. Null without one, and for an invalid id. */
export function lastEventId({ headers }: Request): string | null {
  const said = headers.get(McpHeader.lastEventId);
  return said !== null && isEventId(said) ? said : null;
}

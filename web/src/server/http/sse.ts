/**
 * Server-sent events (HTML Standard §9.2).
 * @module
 */
import { onAbort } from "../../core/abort.js";
import { SAFETY } from "../artifacts/headers.js";
import { isEventId } from "../sessions/event-log.js";
import { LONGEST, within } from "./time-limit.js";

/** An event as it is sent. */
export interface SentEvent {
  /** The id by which a client resumes, if any. */
  readonly id?: string;
  /** JSON. Its `kind` is also the event's name. */
  readonly data: { readonly kind: string };
}

/** Seconds of silence after which a comment is sent, since proxies and browsers close silent connections. */
const HEARTBEAT_SECONDS = 15;

/** Milliseconds until a browser reconnects. */
const RETRY = 1000;

const ENCODER = new TextEncoder();
const HEARTBEAT = ENCODER.encode(":\n\n");

/**
 * An answer that lasts as long as there are events and a client. Events are requested one at a time, when the client
 * has taken the one before.
 *
 * @param events gets a signal that is aborted when the client is gone or `over` is, and must end then.
 * @param until when it ends by itself, in milliseconds since 1970.
 */
export function eventStream(
  events: (signal: AbortSignal) => AsyncIterable<SentEvent>,
  over: AbortSignal,
  until = Infinity,
): Response {
  const left = new AbortController();
  const end = (): void => left.abort();
  const timer = until === Infinity ? undefined : setTimeout(end, Math.min(LONGEST, Math.max(0, until - Date.now())));
  const untie = onAbort(over, end);
  const forget = (): void => {
    clearTimeout(timer);
    untie();
  };
  if (over.aborted) end();
  const pieces = withHeartbeats(events(left.signal)[Symbol.asyncIterator](), left.signal);
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(ENCODER.encode(`retry: ${RETRY}\n\n`)),
      async pull(controller): Promise<void> {
        try {
          const { done, value } = await pieces.next();
          if (done !== true) return controller.enqueue(value);
        } catch (error) {
          forget();
          throw error;
        }
        forget();
        controller.close();
      },
      cancel(): void {
        forget();
        end();
        // The events end by the signal. Nobody is left to hear how.
        pieces.return(undefined).catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { ...SAFETY, "Cache-Control": "no-store", "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" },
  });
}

async function* withHeartbeats(
  events: AsyncIterator<SentEvent>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, undefined> {
  try {
    let next = events.next();
    for (;;) {
      const came = await within(next, HEARTBEAT_SECONDS * 1000, signal);
      if (came === "late") {
        if (signal.aborted) return undefined;
        yield HEARTBEAT;
        continue;
      }
      if (came.done === true) return undefined;
      yield ENCODER.encode(written(came.value));
      next = events.next();
    }
  } finally {
    // Events that do not end by the signal are not waited for.
    events.return?.().catch(() => undefined);
  }
}

/** JSON text has no line breaks, so one line of data is enough. */
function written({ id, data }: SentEvent): string {
  return `event: ${data.kind}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** The last event id of a client that resumes. Null without one, and for an invalid id. */
export function lastEventId({ headers }: Request): string | null {
  const said = headers.get("last-event-id");
  return said !== null && isEventId(said) ? said : null;
}

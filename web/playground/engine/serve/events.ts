/**
 * Server-sent events of the page's server, resumed over several connections.
 * @module
 */
import { createParser } from "eventsource-parser";
import { Unreachable } from "./client.js";

/** An event of the server. */
export interface ServedEvent extends Readonly<Record<string, unknown>> {
  readonly kind: string;
}

/** Options for `followEvents`. */
interface FollowOptions {
  /** Opens a connection after an event, or from the start. Throws Unreachable if a retry may succeed. */
  readonly open: (after: string | undefined) => Promise<Response>;
  readonly signal: AbortSignal;
  /** The position, which each event moves. */
  readonly cursor: Cursor;
  /** Kinds of events that end the stream. */
  readonly last: ReadonlySet<string>;
  /** Failed connections in a row before it gives up. */
  readonly tries: number;
}

/** The id of the last event. */
export interface Cursor {
  after?: string;
}

interface IdentifiedEvent {
  readonly id: string | undefined;
  readonly event: ServedEvent;
}

/** UTF-16 units of one event. */
const MAX_EVENT = 4 * 1024 * 1024;
/** Milliseconds of silence before a connection counts as broken. Heartbeats come every 15 s. */
const SILENCE = 45_000;
/** Milliseconds between connections, doubling from the first to the second. */
const [FIRST_PAUSE, LAST_PAUSE] = [500, 15_000];

/** All events until a last one. A broken connection is resumed after the last event. Throws what `open` throws. */
export async function* followEvents(following: FollowOptions): AsyncGenerator<ServedEvent> {
  const { open, signal, cursor, last, tries } = following;
  for (let failures = 0; ;) {
    try {
      for await (const { id, event } of eventsIn(await open(cursor.after), signal)) {
        failures = 0;
        // Some servers resend events before the requested position.
        if (!isAfter(id, cursor.after)) continue;
        if (id !== undefined) cursor.after = id;
        yield event;
        if (last.has(event.kind)) return;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Unreachable) || failures + 1 >= tries) throw error;
    }
    failures += 1;
    if (failures >= tries) throw new Unreachable();
    await delay(Math.min(LAST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1)), signal);
  }
}

/** The events of one connection. Throws Unreachable if it breaks. */
async function* eventsIn({ body }: Response, signal: AbortSignal): AsyncGenerator<IdentifiedEvent> {
  if (body === null) return;
  const come: IdentifiedEvent[] = [];
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ id, data }) => {
      const event = eventIn(data);
      if (event !== undefined) come.push({ id, event });
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new Unreachable();
    },
  });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), signal);
      if (done) return;
      parser.feed(value);
      yield* come.splice(0);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Whether an event is after the last one. Ids are two numbers; events without an id are always new. */
function isAfter(id: string | undefined, last: string | undefined): boolean {
  if (id === undefined || last === undefined) return true;
  const [[at, number], [lastAt, lastNumber]] = [numbersIn(id), numbersIn(last)];
  return at > lastAt || (at === lastAt && number > lastNumber);
}

function numbersIn(id: string): readonly [bigint, bigint] {
  const [, at = "0", number = "0"] = /^(\d{1,20})-(\d{1,20})$/.exec(id) ?? [];
  return [BigInt(at), BigInt(number)];
}

function eventIn(data: string): ServedEvent | undefined {
  try {
    const value = JSON.parse(data) as Partial<ServedEvent> | null;
    return typeof value?.kind === "string" ? (value as ServedEvent) : undefined;
  } catch {
    return undefined;
  }
}

/** Waits for a chunk. Throws Unreachable after too long a silence, or the signal's reason. */
function inTime<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    const timer = setTimeout(() => reject(new Unreachable()), SILENCE);
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    reading.then(resolve, () => reject(new Unreachable())).finally(finish);
  });
}

/** Resolves after a time. Throws the signal's reason. */
export function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  });
}

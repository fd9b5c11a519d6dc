/**
 * Server-sent events, over as many connections as it takes.
 * @module
 */
import { createParser } from "eventsource-parser";
import { Away } from "./exchange.js";

/** What happened at the server, as it says it. */
export interface ServedEvent extends Readonly<Record<string, unknown>> {
  readonly kind: string;
}

/** How events are followed. */
export interface Following {
  /** Opens a connection behind an event, or from the beginning. Throws Away where it may come to something later. */
  readonly open: (after: string | undefined) => Promise<Response>;
  readonly signal: AbortSignal;
  /** What is heard is behind it, and moves it. */
  readonly cursor: Cursor;
  /** Kinds of events behind which nothing comes. */
  readonly last: ReadonlySet<string>;
  /** Connections in a row that bring nothing. */
  readonly tries: number;
}

/** The event that came last. */
export interface Cursor {
  after?: string;
}

interface Placed {
  readonly id: string | undefined;
  readonly event: ServedEvent;
}

/** Units of one event and what is before its end. */
const MAX_EVENT = 4 * 1024 * 1024;
/** Milliseconds without a word, not even the sign of life that comes each 15 s. */
const SILENCE = 45_000;
/** Milliseconds between two connections, which double up to the second. */
const [FIRST_PAUSE, LAST_PAUSE] = [500, 15_000];

/** All events until the last one. Where a connection breaks they go on behind the one that came last. Throws what `open` does. */
export async function* followed(following: Following): AsyncGenerator<ServedEvent> {
  const { open, signal, cursor, last, tries } = following;
  for (let failures = 0; ;) {
    try {
      for await (const { id, event } of eventsIn(await open(cursor.after), signal)) {
        failures = 0;
        // A server that begins before what it was asked for says nothing new with it.
        if (!isBehind(id, cursor.after)) continue;
        if (id !== undefined) cursor.after = id;
        yield event;
        if (last.has(event.kind)) return;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Away) || failures + 1 >= tries) throw error;
    }
    failures += 1;
    if (failures >= tries) throw new Away();
    await rest(Math.min(LAST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1)), signal);
  }
}

/** The events of one connection, until it ends. Throws Away where it breaks. */
async function* eventsIn({ body }: Response, signal: AbortSignal): AsyncGenerator<Placed> {
  if (body === null) return;
  const come: Placed[] = [];
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ id, data }) => {
      const event = eventIn(data);
      if (event !== undefined) come.push({ id, event });
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new Away();
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

/** Ids are two numbers; what has none is always new. */
function isBehind(id: string | undefined, last: string | undefined): boolean {
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

/** Waits for a piece no longer than until the signal, or until the connection has been silent for too long. */
function inTime<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    const timer = setTimeout(() => reject(new Away()), SILENCE);
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    reading.then(resolve, () => reject(new Away())).finally(done);
  });
}

/** Waits. Throws the signal's reason. */
export function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
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

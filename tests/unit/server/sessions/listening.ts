import { onTestFinished } from "vitest";
import type { EventEntry, EventLog } from "../../../../web/src/server/sessions/event-log.js";

/** Listening to channels, as tests do it. */

/** What happened, with a number to tell it by. */
export interface Numbered {
  readonly kind: "numbered";
  readonly number: number;
}

/** An event that can be told from others. */
export function numbered(number: number): Numbered {
  return { kind: "numbered", number };
}

/** Somebody who listens until the test is over. */
export class Heard {
  /** What came so far. */
  readonly entries: EventEntry[] = [];
  /** Settles when it is over. */
  readonly done: Promise<void>;
  readonly #control = new AbortController();

  /** Begins at once. */
  constructor(log: EventLog, channel: string, after: string | null = null) {
    this.done = this.#listen(log, channel, after);
    // Whoever awaits it is told.
    this.done.catch(() => undefined);
    onTestFinished(() => this.#control.abort());
  }

  /** The numbers that came, and the kind of what has none. */
  get numbers(): readonly (number | string)[] {
    return this.entries.map(({ event }) => ("number" in event ? (event.number as number) : event.kind));
  }

  /** Goes away, and waits until it is gone. */
  async leave(): Promise<void> {
    this.#control.abort();
    await this.done;
  }

  async #listen(log: EventLog, channel: string, after: string | null): Promise<void> {
    const { signal } = this.#control;
    for await (const entry of log.follow(channel, { after, signal })) this.entries.push(entry);
  }
}

/** The first so many events, and then it goes away. */
export async function first(
  log: EventLog,
  channel: string,
  { count, after = null }: { readonly count: number; readonly after?: string | null },
): Promise<readonly EventEntry[]> {
  const entries: EventEntry[] = [];
  const control = new AbortController();
  if (count === 0) return entries;
  for await (const entry of log.follow(channel, { after, signal: control.signal })) {
    if (entries.push(entry) === count) break;
  }
  control.abort();
  return entries;
}

/** From 0 on. */
export function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at);
}

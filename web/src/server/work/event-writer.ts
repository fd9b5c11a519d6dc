/**
 * Writes the events of work to its log, in order and not more often than a person can look.
 * @module
 */
import type { LoggedEvent } from "../sessions/event-log.js";

/** Milliseconds for which text and progress are collected. */
const TEXT_PACE = 50;
const PROGRESS_PACE = 250;

/** Frequent events that are merged with the next one or replaced by it. */
interface Passing extends LoggedEvent {
  readonly kind: "text" | "tool_progress";
  readonly text?: string;
  readonly step?: number;
  readonly call?: string;
}

/** Writes events of one chat run or call. */
export class EventWriter<Event extends LoggedEvent> {
  readonly #append: (event: Event) => Promise<string>;
  readonly #report: (error: unknown) => void;
  /** Collected events by step and call. */
  readonly #gathered = new Map<string, Event & Passing>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** `append` returns the event's id; `report` must not throw. */
  constructor(append: (event: Event) => Promise<string>, report: (error: unknown) => void) {
    this.#append = append;
    this.#report = report;
  }

  /** Writes an event. Failures are reported, and the work goes on. */
  tell(event: Event): void {
    if (isPassing(event)) this.#gather(event);
    else this.write(event).catch(this.#report);
  }

  /** Does something after all earlier events. Its failure is reported. */
  do(work: () => Promise<void>): void {
    this.#then(work).catch(this.#report);
  }

  /** Writes an event after all earlier ones, and returns its id. Throws SluiceError E_STORE_…. */
  write(event: Event): Promise<string> {
    this.#flush();
    return this.#then(() => this.#append(event));
  }

  /** Settles when all earlier events are written or have failed. */
  async settled(): Promise<void> {
    this.#flush();
    await this.#last;
  }

  #gather(event: Event & Passing): void {
    const key = `${event.kind} ${event.step} ${event.call}`;
    const before = this.#gathered.get(key);
    const text = event.kind === "text" && before !== undefined ? { text: `${before.text}${event.text}` } : {};
    this.#gathered.set(key, { ...event, ...text });
    // Text waits for less time than progress.
    if (event.kind === "text" && before === undefined) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#pass(), event.kind === "text" ? TEXT_PACE : PROGRESS_PACE);
  }

  /** A slow log gets the events collected meanwhile at once. */
  #pass(): void {
    this.#timer = undefined;
    if (this.#pending === 0) this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = [...this.#gathered.values()];
    this.#gathered.clear();
    for (const event of gathered) this.#then(() => this.#append(event)).catch(this.#report);
  }

  #then<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    const done = this.#last.then(work).finally(() => {
      this.#pending -= 1;
      if (this.#pending === 0 && this.#timer === undefined && this.#gathered.size > 0) this.#flush();
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function isPassing<Event extends LoggedEvent>(event: Event): event is Event & Passing {
  return event.kind === "text" || event.kind === "tool_progress";
}

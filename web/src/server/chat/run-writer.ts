/**
 * Writes what happens in a run to its channel, in order, and not more often than somebody can look.
 * @module
 */
import type { LoggedEvent } from "../events/event-log.js";
import type { ChatEvent } from "./chat-event.js";
import { fitting } from "./fitting.js";

/** Milliseconds that text is gathered, and what is told again and again. */
const TEXT_PACE = 50;
const PROGRESS_PACE = 250;

/** Events that come often, and whose next one goes on with them or says it better. */
type Passing = Extract<ChatEvent, { readonly kind: "text" | "tool_progress" }>;

/** The one who writes for a run. */
export class RunWriter {
  readonly #append: (event: LoggedEvent) => Promise<string>;
  readonly #report: (error: unknown) => void;
  /** By what they go on with. */
  readonly #gathered = new Map<string, Passing>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** `report` must not throw. */
  constructor(append: (event: LoggedEvent) => Promise<string>, report: (error: unknown) => void) {
    this.#append = append;
    this.#report = report;
  }

  /** Takes an event. One that cannot be written is reported, and lost: the run goes on. */
  tell(event: ChatEvent): void {
    if (isPassing(event)) return this.#gather(event);
    this.#flush();
    this.#then(() => this.#written(event)).catch(this.#report);
  }

  /** Does something behind all that was told so far. What it throws is reported. */
  do(work: () => Promise<void>): void {
    this.#then(work).catch(this.#report);
  }

  /** Writes an event behind all that was told so far. Gives its id. Throws SluiceError E_STORE_…. */
  write(event: ChatEvent): Promise<string> {
    this.#flush();
    return this.#then(() => this.#written(event));
  }

  /** Settles when all is written that was told so far, or could not be. */
  async settled(): Promise<void> {
    this.#flush();
    await this.#last;
  }

  #gather(event: Passing): void {
    const key = event.kind === "text" ? `text ${event.step}` : `progress ${event.step} ${event.call}`;
    const before = this.#gathered.get(key);
    const text = before?.kind === "text" && event.kind === "text" ? { text: before.text + event.text } : {};
    this.#gathered.set(key, { ...event, ...text });
    // Text does not wait for as long as what was gathered before it.
    if (event.kind === "text" && before === undefined) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#passed(), event.kind === "text" ? TEXT_PACE : PROGRESS_PACE);
  }

  /** A log that is slow gets what is gathered meanwhile in one. */
  #passed(): void {
    this.#timer = undefined;
    if (this.#pending === 0) this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = [...this.#gathered.values()];
    this.#gathered.clear();
    for (const event of gathered) this.#then(() => this.#written(event)).catch(this.#report);
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

  async #written(event: ChatEvent): Promise<string> {
    let id = "";
    for (const each of fitting(event)) id = await this.#append(each);
    return id;
  }
}

function isPassing(event: ChatEvent): event is Passing {
  return event.kind === "text" || event.kind === "tool_progress";
}

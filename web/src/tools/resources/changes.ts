/**
 * Changes told to a host: one that is told over and over is told once in a while.
 * @module
 */
import type { ResourceEvent } from "./events.js";

/** Milliseconds between two events of the same change. */
const PAUSE = 100;

/** Tells at once what was not told for a while, and what is said meanwhile at its end, once. */
export class Changes {
  readonly #onEvent: (event: ResourceEvent) => void;
  /** What was told in this while, and what is to be told at its end. */
  #told = new Map<string, ResourceEvent | undefined>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onEvent: (event: ResourceEvent) => void) {
    this.#onEvent = onEvent;
  }

  tell(event: ResourceEvent): void {
    const key = keyOf(event);
    if (this.#told.has(key)) {
      this.#told.set(key, event);
      return;
    }
    this.#told.set(key, undefined);
    this.#wait();
    this.#onEvent(event);
  }

  /** Tells nothing more of what was said so far. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#told.clear();
  }

  #wait(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#over(), PAUSE);
    // Nobody's process lives on for this.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #over(): void {
    this.#timer = undefined;
    const told = this.#told;
    this.#told = new Map();
    for (const event of told.values()) if (event !== undefined) this.tell(event);
  }
}

/** The same for what a host cannot tell apart. */
function keyOf(event: ResourceEvent): string {
  return JSON.stringify([event.kind === "updated" ? event.uri : null, event.scope ?? null]);
}

/**
 * Whether there is room for a list beside what is open of it.
 * @module
 */
import type { LitElement, ReactiveController } from "lit";

/** CSS pixels from which there is. */
const WIDE = 840;

/** Follows the width of an element, which it has updated when the answer changes. */
export class Wide implements ReactiveController {
  readonly #host: LitElement;
  readonly #width: ResizeObserver;
  #isWide = false;

  /** Adds itself to the element. */
  constructor(host: LitElement) {
    this.#host = host;
    this.#width = new ResizeObserver((entries) => {
      const width = entries.at(-1)?.contentRect.width ?? 0;
      // In the next frame: changing the layout within the observer would notify it again.
      requestAnimationFrame(() => this.#set(width));
    });
    host.addController(this);
  }

  /** Whether the element is wide. */
  get isWide(): boolean {
    return this.#isWide;
  }

  /** Begins to follow it. */
  hostConnected(): void {
    this.#set(this.#host.clientWidth);
    this.#width.observe(this.#host);
  }

  /** Nothing outlives the element. */
  hostDisconnected(): void {
    this.#width.disconnect();
  }

  #set(width: number): void {
    const isWide = width >= WIDE;
    if (isWide === this.#isWide) return;
    this.#isWide = isWide;
    this.#host.requestUpdate();
  }
}

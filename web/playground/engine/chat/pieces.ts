/**
 * Text as it comes, told in fewer pieces than a model writes: a page draws the whole answer anew for each.
 * @module
 */
import type { ChatEvent } from "./contract.js";

/** Milliseconds that text is gathered. */
const PACE = 50;

/** Tells everything in its order. */
export class Pieces {
  readonly #tell: (event: ChatEvent) => void;
  #text: Extract<ChatEvent, { readonly kind: "text" }> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tell: (event: ChatEvent) => void) {
    this.#tell = tell;
  }

  /** Text a little later than it comes, anything else at once and behind the text before it. */
  tell(event: ChatEvent): void {
    if (event.kind !== "text" || (this.#text !== undefined && this.#text.step !== event.step)) this.flush();
    if (event.kind !== "text") return this.#tell(event);
    this.#text = { ...event, text: (this.#text?.text ?? "") + event.text };
    this.#timer ??= setTimeout(() => this.flush(), PACE);
  }

  /** Tells what is gathered. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = undefined;
    if (text !== undefined) this.#tell(text);
  }
}

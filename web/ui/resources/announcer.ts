/**
 * What screen readers are told, not more often than anybody can listen.
 * @module
 */
import { html, type LitElement, type ReactiveController, type TemplateResult } from "lit";

/** Milliseconds between two announcements. */
const PAUSE = 1_000;
/** More sentences than this at once are only counted. */
const MOST = 2;

/** The live region of one element. */
export class Announcer implements ReactiveController {
  readonly #host: LitElement;
  #said = "";
  #waiting: string[] = [];
  #pause: ReturnType<typeof setTimeout> | undefined;

  /** Adds itself to the element, which renders it. */
  constructor(host: LitElement) {
    this.#host = host;
    host.addController(this);
  }

  /** Nothing is said once the element is gone. */
  hostDisconnected(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#waiting = [];
  }

  /** Says a sentence, at once or after the pause. */
  say(sentence: string): void {
    this.#waiting.push(sentence);
    if (this.#pause === undefined) this.#speak();
  }

  /** The region, which no one sees. */
  render(): TemplateResult {
    return html`<p class="unseen" role="status">${this.#said}</p>`;
  }

  readonly #speak = (): void => {
    const sentences = [...new Set(this.#waiting)];
    this.#waiting = [];
    this.#pause = sentences.length === 0 ? undefined : setTimeout(this.#speak, PAUSE);
    if (sentences.length === 0) return;
    this.#said = sentences.length > MOST ? `${sentences.length} changes.` : sentences.join(" ");
    this.#host.requestUpdate();
  };
}

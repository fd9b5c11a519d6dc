/**
 * There is no session at the server that the page comes from: why, and what can be done. Loaded when that is so.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { viewStyles } from "../shared-styles.js";
import { ViewElement } from "../view.js";

/** `<playground-session>` */
export class SessionNote extends ViewElement {
  static override properties = { ...ViewElement.properties, isBusy: { state: true } };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        padding: 12px 16px 0;
      }
    `,
  ];

  declare isBusy: boolean;

  constructor() {
    super();
    this.isBusy = false;
  }

  override render(): TemplateResult | typeof nothing {
    const { problem, isOver = false } = this.state.serve ?? {};
    if (problem === undefined) return nothing;
    return html`<div class="problem row" role="alert">
      <p class="grow">${problem.message}</p>
      <button class="primary" aria-disabled=${this.isBusy} @click=${this.#begin}>
        ${isOver ? "Begin a new session" : "Try again"}
      </button>
    </div>`;
  }

  async #begin(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    await this.actions.serving?.begin();
    this.isBusy = false;
  }
}

customElements.define("playground-session", SessionNote);

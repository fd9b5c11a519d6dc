/**
 * Shares a result: as a link, or as a file.
 * @module
 */
import { css, html, type TemplateResult } from "lit";
import { viewStyles } from "../styles.js";
import type { ShownCall } from "../state.js";
import { ViewElement } from "../view-element.js";

/** `<playground-share>` */
class ShareMenu extends ViewElement {
  static override properties = { ...ViewElement.properties, call: { attribute: false } };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
      }
    `,
  ];

  declare call: ShownCall;

  override render(): TemplateResult {
    return html`<button @click=${this.#link}>Copy link</button> <button @click=${this.#file}>Download result</button>`;
  }

  #link(): void {
    void this.#say(this.actions.copyLink(this.call));
  }

  #file(): void {
    void this.#say(this.actions.downloadResult(this.call));
  }

  async #say(work: Promise<string | void>): Promise<void> {
    try {
      const text = await work;
      if (typeof text === "string") this.store.set({ answer: { text, isBad: false } });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.store.set({ answer: { text: `The result could not be shared: ${why}`, isBad: true } });
    }
  }
}

customElements.define("playground-share", ShareMenu);

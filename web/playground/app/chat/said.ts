/**
 * What the model wrote: as it comes, then formatted.
 * @module
 */
import { css, html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { plainLines } from "mcp-sluice/ui/theme";
import { viewStyles } from "../shared-styles.js";

/** `<playground-said>` */
export class Said extends LitElement {
  static override properties = { text: {}, isWhole: { attribute: false }, content: { state: true } };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        max-inline-size: 80ch;
        overflow-wrap: anywhere;
      }
      .plain {
        white-space: pre-wrap;
      }
      .formatted > * {
        margin-block: 0 8px;
      }
      .formatted :is(ul, ol) {
        padding-inline-start: 24px;
      }
      .formatted ul {
        list-style: disc;
      }
      pre,
      table {
        background: var(--surface-sunken);
        border-radius: calc(var(--radius) - 2px);
        display: block;
        max-inline-size: 100%;
        overflow: auto;
        padding: 8px;
      }
      :is(th, td) {
        padding: 2px 10px 2px 0;
        text-align: start;
      }
    `,
  ];

  /** Markdown. */
  declare text: string;
  /** Nothing is to come any more. */
  declare isWhole: boolean;
  declare content: DocumentFragment | undefined;
  #shown = "";

  constructor() {
    super();
    this.text = "";
    this.isWhole = false;
    this.content = undefined;
  }

  override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    if (this.isWhole && this.text !== this.#shown) void this.#format(this.text);
  }

  override render(): TemplateResult {
    return this.content === undefined
      ? html`<p class="plain">${plainLines(this.text)}</p>`
      : html`<div class="formatted">${this.content}</div>`;
  }

  async #format(text: string): Promise<void> {
    this.#shown = text;
    const { formatted } = await import("./markdown.js");
    if (this.#shown === text) this.content = formatted(plainLines(text));
  }
}

customElements.define("playground-said", Said);

/**
 * A text that is to be copied: the text, and a button that says whether it was.
 * @module
 */
import { css, html, LitElement, type TemplateResult } from "lit";
import copy from "lucide-static/icons/copy.svg?raw";
import { icon } from "../../ui/icons.js";
import { baseStyles, themeTokens } from "../../ui/theme.js";

/** Milliseconds that the answer is shown. */
const SAID = 4000;

/** `<playground-copy>`: shows `.text` under `.label`, which also names the region and the button. */
class CopyText extends LitElement {
  static override properties = { text: {}, label: {}, said: { state: true } };
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      :host {
        display: block;
        min-inline-size: 0;
      }
      .head {
        align-items: center;
        display: flex;
        flex-wrap: wrap;
        gap: 4px 12px;
      }
      strong {
        flex: 1;
        font-weight: 600;
        min-inline-size: 0;
        overflow-wrap: anywhere;
      }
      .soft {
        font-size: var(--size-small);
      }
      pre {
        background: var(--surface-sunken);
        border-radius: var(--radius);
        margin: 4px 0 0;
        max-block-size: 420px;
        overflow: auto;
        padding: 12px;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
    `,
  ];

  declare text: string;
  declare label: string;
  declare said: string;
  #forgetting: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.text = "";
    this.label = "";
    this.said = "";
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#forgetting);
  }

  override render(): TemplateResult {
    return html`<div class="head">
        <strong>${this.label}</strong>
        <span class="soft" role="status">${this.said}</span>
        <button type="button" aria-label="Copy: ${this.label}" @click=${this.#copy}>${icon(copy)} Copy</button>
      </div>
      <pre role="region" tabindex="0" aria-label=${this.label}><code>${this.text}</code></pre>`;
  }

  #copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(this.text);
      this.#say("Copied.");
    } catch {
      // A page may be denied the clipboard: the keyboard still copies what is selected.
      const code = this.renderRoot.querySelector("code");
      if (code !== null) getSelection()?.selectAllChildren(code);
      this.#say("Selected: copy it with the keyboard.");
    }
  };

  #say(words: string): void {
    clearTimeout(this.#forgetting);
    this.said = words;
    this.#forgetting = setTimeout(() => (this.said = ""), SAID);
  }
}

customElements.define("playground-copy", CopyText);

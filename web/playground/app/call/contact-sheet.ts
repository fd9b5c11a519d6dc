/**
 * The images of a result beside each other, by their numbers. Loaded for the first result that has several.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { humanSize } from "mcp-sluice";
import type { ShownArtifact } from "mcp-sluice/ui";
import { findShelf } from "../state.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

/** Images that are drawn; the others are among the cards of what was stored. */
const MOST = 200;

/** `<playground-contact-sheet>` */
class ContactSheet extends ViewElement {
  static override properties = { ...ViewElement.properties, images: { attribute: false } };

  static override styles = [
    viewStyles,
    css`
      :host {
        display: grid;
        gap: 8px;
        min-inline-size: 0;
      }
      ul {
        background: var(--surface-sunken);
        border: 1px solid var(--line);
        border-radius: 14px;
        display: grid;
        gap: 8px;
        grid-template-columns: repeat(auto-fill, minmax(56px, 1fr));
        max-block-size: 240px;
        overflow: auto;
        padding: 12px;
      }
      button {
        background: none;
        border: 0;
        color: var(--text-soft);
        display: grid;
        font-size: var(--size-small);
        gap: 2px;
        inline-size: 100%;
        justify-items: center;
        padding: 0;
      }
      sluice-thumbnail {
        block-size: 56px;
        inline-size: 56px;
      }
    `,
  ];

  declare images: readonly ShownArtifact[];

  constructor() {
    super();
    this.images = [];
  }

  override render(): TemplateResult {
    const { images } = this;
    const size = images.reduce((sum, { size_bytes = 0 }) => sum + size_bytes, 0);
    const title = `${images.length.toLocaleString("en")} images, ${humanSize(size)}`;
    const more = images.length - MOST;
    return html`<strong id="title">${title}</strong>
      <ul aria-labelledby="title" tabindex="0">
        ${images.slice(0, MOST).map((image, at) => this.#tile(image, at + 1))}
      </ul>
      ${more > 0 ? html`<span class="soft">${more.toLocaleString("en")} more are below.</span>` : nothing}`;
  }

  #tile(image: ShownArtifact, number: number): TemplateResult {
    return html`<li>
      <button aria-label=${`Preview image ${number}`} @click=${() => this.actions.preview(image)}>
        <sluice-thumbnail .artifact=${image} .bytes=${this.actions.bytesOf(findShelf(image), image)}></sluice-thumbnail>
        ${number}
      </button>
    </li>`;
  }
}

customElements.define("playground-contact-sheet", ContactSheet);

/**
 * What the session stored at the server that the page comes from. Loaded where there is one.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { sessionCards } from "../session-cards.js";
import { cards, viewStyles } from "../shared-styles.js";
import { ViewElement } from "../view.js";

/** `<playground-served>` */
export class ServedCards extends ViewElement {
  static override styles = [
    viewStyles,
    cards,
    css`
      :host {
        display: block;
      }
    `,
  ];

  override render(): TemplateResult | typeof nothing {
    const { serve } = this.state;
    if (serve === undefined) return nothing;
    const { artifacts, hasMore } = serve;
    return html`<section class="stack" aria-labelledby="served">
      <h2 id="served">At this page's server</h2>
      <p class="soft">
        ${
          artifacts.length === 0
            ? "The session has stored nothing there yet: what its chat stores is listed here."
            : "What the session stored there, until it ends."
        }
      </p>
      ${artifacts.length === 0 ? nothing : sessionCards(this.actions, artifacts)}
      ${hasMore ? html`<p class="soft">There are more: the newest ${artifacts.length} are listed.</p>` : nothing}
    </section>`;
  }
}

customElements.define("playground-served", ServedCards);

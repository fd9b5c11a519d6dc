/**
 * Resources that a result names: each is read only when somebody wants it, and then what came stands in its place.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { ShownArtifact } from "mcp-sluice/ui";
import { fetchLink } from "./fetching.js";
import { sessionCards } from "./session-cards.js";
import { cards, viewStyles } from "./shared-styles.js";
import type { ShownCall } from "./state.js";
import { ViewElement } from "./view.js";

/** `<playground-links>` */
export class LinkCards extends ViewElement {
  static override properties = { ...ViewElement.properties, call: { attribute: false } };
  static override styles = [
    viewStyles,
    cards,
    css`
      .cards > .stack {
        gap: 0;
      }
    `,
  ];

  declare call: ShownCall;

  override render(): TemplateResult {
    const links = this.call.result?.links ?? [];
    const came = links.flatMap(({ id }) => this.call.fetched?.[id]?.artifacts ?? []);
    const left = links.filter(({ id }) => this.call.fetched?.[id]?.artifacts === undefined);
    return html`<div class="stack">
      ${
        came.length === 0
          ? nothing
          : html`<h3>Read</h3>
              ${sessionCards(this.actions, came)}`
      }
      ${
        left.length === 0
          ? nothing
          : html`<h3>Named, not read yet</h3>
              <div class="cards">${left.map((link) => this.#card(link))}</div>`
      }
    </div>`;
  }

  #card(link: ShownArtifact): TemplateResult {
    const fetched = this.call.fetched?.[link.id];
    return html`<div class="stack">
      <sluice-artifact .artifact=${link} @sluice-fetch=${() => fetchLink(this.call, link, this)}></sluice-artifact>
      <p role="status" class="soft" ?hidden=${fetched?.problem !== undefined}>
        ${fetched === undefined ? nothing : "Reading…"}
      </p>
      ${fetched?.problem === undefined ? nothing : html`<p class="problem" role="alert">${fetched.problem.message}</p>`}
    </div>`;
  }
}

customElements.define("playground-links", LinkCards);

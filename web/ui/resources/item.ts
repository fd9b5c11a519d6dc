/**
 * One row of a list, with its panel where that is open.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import bell from "lucide-static/icons/bell.svg?raw";
import braces from "lucide-static/icons/braces.svg?raw";
import cached from "lucide-static/icons/check.svg?raw";
import chevron from "lucide-static/icons/chevron-right.svg?raw";
import { plainText } from "../plain-text.js";
import { icon, iconOf } from "../icons.js";
import type { Row } from "./rows.js";
import type { Held } from "./shelf.js";

/** What a row is shown with. */
export interface ItemTerms {
  /** Unique within the list. */
  readonly id: string;
  readonly held: Held | undefined;
  readonly isOpen: boolean;
  /** Whether there is somebody who could read it. */
  readonly isReadable: boolean;
  toggle(): void;
  refresh(): void;
  /** What is below the row while it is open. */
  panel(): TemplateResult;
}

/** A row. Nothing is read before it is opened. */
export function item(row: Row, terms: ItemTerms): TemplateResult {
  const { id, held, isOpen, isReadable } = terms;
  const uri = plainText(row.uri, 1_000);
  return html`<li>
    <div class="top">
      <button
        type="button"
        class="plain opener"
        aria-expanded=${isOpen}
        aria-controls=${id}
        ?disabled=${!isReadable}
        @click=${() => terms.toggle()}
      >
        <span class="chevron">${icon(chevron)}</span>
        ${row.isTemplate ? icon(braces) : iconOf(row.mimeType)}
        <span class="words">
          <bdi class="name">${row.name}</bdi>
          ${uri === row.name ? nothing : html`<bdi class="uri soft">${uri}</bdi>`}
          ${row.facts === "" ? nothing : html`<span class="soft">${row.facts}</span>`}
        </span>
      </button>
      ${held === undefined ? nothing : badges(row, held, terms)}
    </div>
    <div class="panel" id=${id} ?hidden=${!isOpen}>
      ${
        isOpen
          ? html`${row.description === "" ? nothing : html`<p><bdi>${row.description}</bdi></p>`} ${terms.panel()}`
          : nothing
      }
    </div>
  </li>`;
}

function badges(row: Row, held: Held, terms: ItemTerms): TemplateResult {
  return html`<span class="badges">
    ${held.isSubscribed ? html`<span class="badge">${icon(bell)}Subscribed</span>` : nothing}
    ${held.reading === undefined ? nothing : html`<span class="badge">${icon(cached)}Cached</span>`}
    ${
      held.isUpdated
        ? html`<span class="badge updated"><span class="dot"></span>Updated</span>${
              terms.isOpen
                ? nothing
                : html`<button type="button" aria-label=${`Refresh ${row.name}`} @click=${() => terms.refresh()}>
                    Refresh
                  </button>`
            }`
        : nothing
    }
  </span>`;
}

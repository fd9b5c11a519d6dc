/**
 * Cards of stored artifacts, with their actions, a page of them at a time.
 * @module
 */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import "../../../ui/artifact.js";
import "../pdf.js";
import type { ShownArtifact } from "mcp-sluice/ui";
import { repeat } from "lit/directives/repeat.js";
import type { Shelf } from "../../engine/shelves.js";
import type { Actions } from "../actions.js";
import { shelfOf } from "../state.js";
import { cards, viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

/** The actions of a card, by shelf. My Files are renamed and deleted in their own view. */
const OFFERED = {
  session: ["preview", "download", "copy", "save", "open", "delete"],
  files: ["preview", "download", "copy", "open"],
  served: ["preview", "download", "copy", "save", "open", "delete"],
  "served-files": ["preview", "download", "copy", "save", "open"],
} as const satisfies Record<Shelf, unknown>;

/** Cards shown at first, and more each time that somebody asks: a thousand would be too many elements for a page. */
const PAGE = 24;

/** `<playground-artifacts>` */
class ArtifactCards extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    artifacts: { attribute: false },
    shown: { state: true },
  };
  static override styles = [
    viewStyles,
    cards,
    css`
      :host {
        display: block;
      }
      .more {
        margin-block-start: 16px;
      }
    `,
  ];

  declare artifacts: readonly ShownArtifact[];
  declare shown: number;

  constructor() {
    super();
    this.artifacts = [];
    this.shown = PAGE;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get("artifacts");
    if (before !== undefined && before[0]?.id !== this.artifacts[0]?.id) this.shown = PAGE;
  }

  override render(): TemplateResult {
    const { actions, artifacts } = this;
    const left = artifacts.length - this.shown;
    return html`<div
        class="cards"
        @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => actions.preview(detail)}
        @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => actions.preview(detail, undefined, true)}
        @sluice-save=${({ detail }: CustomEvent<ShownArtifact>) => actions.save(detail)}
        @sluice-delete=${({ detail }: CustomEvent<ShownArtifact>) => actions.remove(shelfOf(detail), detail.id)}
      >
        ${repeat(
          artifacts.slice(0, this.shown),
          ({ id }) => id,
          (artifact) =>
            html`<sluice-artifact
              .artifact=${artifact}
              .bytes=${actions.bytesOf(shelfOf(artifact), artifact)}
              .actions=${OFFERED[shelfOf(artifact)]}
            ></sluice-artifact>`,
        )}
      </div>
      ${
        left > 0
          ? html`<button class="more" @click=${this.#more}>
              Show ${Math.min(PAGE, left)} more of ${left.toLocaleString("en")}
            </button>`
          : nothing
      }`;
  }

  /** The focus goes to the first card that came. */
  async #more(): Promise<void> {
    const at = this.shown;
    this.shown += PAGE;
    await this.updateComplete;
    const card = this.renderRoot.querySelectorAll("sluice-artifact")[at];
    await card?.updateComplete;
    card?.renderRoot.querySelector<HTMLElement>(".main, #more")?.focus();
  }
}

customElements.define("playground-artifacts", ArtifactCards);

/** A card for each artifact, with its actions. */
export function artifactCards(actions: Actions, artifacts: readonly ShownArtifact[]): TemplateResult {
  return html`<playground-artifacts
    .store=${actions.store}
    .actions=${actions}
    .artifacts=${artifacts}
  ></playground-artifacts>`;
}

/**
 * Cards of stored artifacts, with their actions, of which those in view are drawn.
 * @module
 */
import { css, html, type TemplateResult } from "lit";
import "../../../ui/artifact.js";
import "../pdf.js";
import type { ShownArtifact } from "mcp-sluice/ui";
import { repeat } from "lit/directives/repeat.js";
import { LongList } from "../../../ui/long-list.js";
import type { Shelf } from "../../engine/shelves.js";
import type { Actions } from "../actions.js";
import { findShelf } from "../state.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

/** The actions of a card, by shelf. My Files are renamed and deleted in their own view. */
const OFFERED = {
  session: ["preview", "download", "copy", "save", "open", "delete"],
  files: ["preview", "download", "copy", "open"],
  served: ["preview", "download", "copy", "save", "open", "delete"],
  "served-files": ["preview", "download", "copy", "save", "open"],
} as const satisfies Record<Shelf, unknown>;

/** Of more rows of cards, those in view are drawn. */
const FEW = 4;
/** The height of a row, in pixels. */
const HEIGHT = 250;
/** The least width of a card, and the space between two, in pixels. */
const [CARD, GAP] = [260, 16];

/** `<playground-artifacts>` */
class ArtifactCards extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    artifacts: { attribute: false },
    columns: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
      }
      .rows {
        display: flow-root;
        margin-block: 8px -${GAP}px;
      }
      .cards {
        display: grid;
        gap: ${GAP}px;
        padding-block-end: ${GAP}px;
      }
    `,
  ];

  declare artifacts: readonly ShownArtifact[];
  /** Cards beside each other. */
  declare columns: number;
  readonly #long = new LongList(this, { few: FEW, height: HEIGHT, beyond: 1 });
  // In the next frame: changing the layout within the observer would notify it again.
  readonly #width = new ResizeObserver(() => requestAnimationFrame(() => this.#fit()));

  constructor() {
    super();
    this.artifacts = [];
    this.columns = 1;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#fit();
    this.#width.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#width.disconnect();
  }

  override render(): TemplateResult {
    const { actions, artifacts, columns } = this;
    // A card keeps its place, and what is open in it, where others go: fewer of them are one grid.
    const size = artifacts.length > FEW * columns ? columns : artifacts.length;
    const items = this.#long.items(Math.ceil(artifacts.length / size));
    return html`<div
      class="rows"
      .style=${this.#long.style}
      @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => actions.preview(detail)}
      @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => actions.preview(detail, undefined, true)}
      @sluice-save=${({ detail }: CustomEvent<ShownArtifact>) => actions.save(detail)}
      @sluice-delete=${({ detail }: CustomEvent<ShownArtifact>) => actions.remove(findShelf(detail), detail.id)}
    >
      ${repeat(
        items,
        ({ index }) => index,
        ({ index, style }) =>
          html`<div
            class="cards"
            data-index=${index}
            .style=${`grid-template-columns: repeat(${columns}, minmax(0, 1fr)); ${style}`}
          >
            ${repeat(
              artifacts.slice(index * size, (index + 1) * size),
              ({ id }) => id,
              (artifact) => this.#card(artifact),
            )}
          </div>`,
      )}
    </div>`;
  }

  #card(artifact: ShownArtifact): TemplateResult {
    return html`<sluice-artifact
      .artifact=${artifact}
      .bytes=${this.actions.bytesOf(findShelf(artifact), artifact)}
      .actions=${OFFERED[findShelf(artifact)]}
    ></sluice-artifact>`;
  }

  #fit(): void {
    this.columns = Math.max(1, Math.floor((this.clientWidth + GAP) / (CARD + GAP)));
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

/**
 * The drawer: an artifact beside the work, or in a sheet at the bottom of a narrow window.
 * @module
 */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { icon } from "../../../ui/icons.js";
import { plainLines } from "../../../ui/plain-text.js";
import type { ArtifactBytes, ShownArtifact } from "mcp-sluice/ui";
import close from "lucide-static/icons/x.svg?raw";
import "../../../ui/viewer.js";
import "../pdf.js";
import { openIn } from "../display.js";
import { remember, readRemembered } from "../browser.js";
import { viewStyles } from "../styles.js";
import type { Preview, Placed, View } from "../state.js";
import { SHELF_LABELS, ViewElement } from "../view-element.js";

/** CSS pixels. */
const [LEAST, MOST, USUAL, STEP] = [280, 900, 420, 24];

/** The windows in which the drawer is a sheet; as in the styles below. */
const SHEET = "(max-width: 1099px)";

/** `<playground-drawer>` */
class Drawer extends ViewElement {
  static override properties = { ...ViewElement.properties, width: { state: true } };

  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        grid-area: drawer;
        min-block-size: 0;
      }
      section {
        block-size: 100%;
        display: grid;
        grid-template-columns: 8px minmax(0, 1fr);
      }
      section:focus-visible {
        outline-offset: -2px;
      }
      .edge {
        background: var(--surface-raised);
        border-inline-start: 1px solid var(--line);
        cursor: col-resize;
        touch-action: none;
      }
      .edge:hover,
      .edge:focus-visible {
        background: var(--accent-soft);
      }
      .artifact {
        background: var(--surface);
        display: flex;
        flex-direction: column;
        gap: 8px;
        inline-size: var(--width);
        min-block-size: 0;
        overflow: auto;
        padding: 8px 12px;
      }
      sluice-viewer {
        --sluice-viewer-height: 100%;
        flex: 1;
        min-block-size: 440px;
      }
      .artifact > .row {
        background: var(--surface);
        inset-block-start: -8px;
        position: sticky;
        z-index: 1;
      }
      .open {
        display: flex;
        flex: 1;
        flex-direction: column;
        gap: 8px;
        min-block-size: 440px;
      }
      .many {
        block-size: 70%;
        flex: none;
        min-block-size: 500px;
      }
      .open + .open {
        border-block-start: 1px solid var(--line-strong);
        padding-block-start: 8px;
      }
      :host([half]) .artifact {
        inline-size: calc(50vw - 44px);
      }
      /* Covers the view. */
      :host([wide]) {
        background: var(--surface);
        grid-area: work / work / drawer / drawer;
        z-index: 10;
      }
      :host([wide]) section {
        grid-template-columns: minmax(0, 1fr);
      }
      :host([wide]) .edge {
        display: none;
      }
      :host([wide]) .artifact {
        inline-size: auto;
      }
      @media (max-width: 1099px) {
        /* Covers the view only: the rail stays in reach. */
        :host {
          align-self: end;
          background: var(--surface);
          block-size: 75%;
          border-block-start: 1px solid var(--line-strong);
          box-shadow: 0 -8px 24px #0004;
          grid-area: work;
          z-index: 10;
        }
        :host([wide]) {
          block-size: 100%;
          grid-area: work;
        }
        section {
          grid-template-columns: minmax(0, 1fr);
        }
        .edge {
          display: none;
        }
        .artifact,
        :host([half]) .artifact {
          inline-size: auto;
        }
        /* Below the view. */
        :host([half]) {
          align-self: stretch;
          block-size: auto;
          box-shadow: none;
          grid-area: drawer;
        }
      }
    `,
  ];

  declare width: number;
  /** One object per artifact: the viewer reloads when it gets another one. */
  readonly #given = new WeakMap<ShownArtifact, ArtifactBytes>();
  /** The element that had the focus before, and its ancestors. */
  #before: readonly HTMLElement[] = [];
  #shown: Preview | undefined;
  #view: View | undefined;

  constructor() {
    super();
    this.width = readRemembered<number>("drawer") ?? USUAL;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    // The focus has moved elsewhere: leave it there.
    if (document.activeElement !== document.body) return;
    for (const each of this.#before) {
      each.focus();
      if (each.matches(":focus-within")) return;
    }
  }

  override willUpdate(): void {
    const { preview } = this.state;
    if (preview !== undefined) {
      this.toggleAttribute("wide", preview.isWide);
      this.toggleAttribute("half", preview.isHalf === true);
    }
    // Not in the template: the page's content security policy forbids style attributes.
    this.style.setProperty("--width", `${this.width}px`);
  }

  override updated(changed: PropertyValues): void {
    super.updated(changed);
    const { preview, view, pauses } = this.state;
    // A sheet covers the view, so it closes when the view changes.
    if (this.#view !== undefined && this.#view !== view && matchMedia(SHEET).matches) this.actions.preview(undefined);
    this.#view = view;
    // Pauses are shown in the view, which a wide preview would cover.
    if (preview?.isWide === true && pauses.length > 0) this.store.set({ preview: { ...preview, isWide: false } });
    if (preview === this.#shown) return;
    this.#shown = preview;
    if (!this.matches(":focus-within")) this.#before = listFocused();
    if (preview?.isByTool !== true) this.renderRoot.querySelector("section")?.focus();
    else this.renderRoot.querySelector(".many:last-child")?.scrollIntoView({ block: "nearest" });
  }

  override render(): TemplateResult | typeof nothing {
    const { preview } = this.state;
    if (preview === undefined) return nothing;
    const { isWide } = preview;
    const open = openIn(preview);
    return html`<section tabindex="-1" role=${isWide ? "main" : nothing} aria-label="Preview">
      <div
        class="edge"
        role="separator"
        tabindex="0"
        aria-label="Width of the preview"
        aria-orientation="vertical"
        aria-valuemin=${LEAST}
        aria-valuemax=${MOST}
        aria-valuenow=${this.width}
        @pointerdown=${this.#grab}
        @keydown=${this.#key}
      ></div>
      <div class="artifact">
        <div class="row">
          <h2 class="grow">${open.length > 1 ? `${open.length} files` : SHELF_LABELS[preview.shelf]}</h2>
          <button aria-label="Close the preview" @click=${() => this.actions.preview(undefined)}>
            ${icon(close)}<span aria-hidden="true">Close</span>
          </button>
        </div>
        ${repeat(
          open,
          ({ artifact }) => artifact.id,
          (placed) => this.#open(placed, open.length > 1),
        )}
      </div>
    </section>`;
  }

  #open(placed: Placed, isOneOfMany: boolean): TemplateResult {
    const { artifact, shelf } = placed;
    const bytes = this.#given.get(artifact) ?? this.actions.bytesOf(shelf, artifact);
    this.#given.set(artifact, bytes);
    const name = plainLines(artifact.filename ?? artifact.id);
    return html`<div
      class="open ${isOneOfMany ? "many" : ""}"
      role=${isOneOfMany ? "group" : nothing}
      aria-label=${isOneOfMany ? name : nothing}
    >
      ${
        isOneOfMany
          ? html`<div class="row">
              <h3 class="grow">${SHELF_LABELS[shelf]}</h3>
              <button aria-label="Close ${name}" @click=${() => this.#close(artifact)}>Close</button>
            </div>`
          : nothing
      }
      <sluice-viewer .artifact=${artifact} .bytes=${bytes}></sluice-viewer>
    </div>`;
  }

  /** Closes one of several files. */
  #close(artifact: ShownArtifact): void {
    const { preview } = this.state;
    if (preview === undefined) return;
    const left = openIn(preview).filter((each) => each.artifact !== artifact);
    const last = left.at(-1);
    this.store.set({ preview: last && { ...preview, ...last, before: left.slice(0, -1) } });
  }

  #grab(event: PointerEvent): void {
    const edge = event.currentTarget as HTMLElement;
    edge.setPointerCapture(event.pointerId);
    const move = ({ clientX }: PointerEvent): void => this.#resize(innerWidth - clientX);
    edge.addEventListener("pointermove", move);
    edge.addEventListener("lostpointercapture", () => edge.removeEventListener("pointermove", move), { once: true });
  }

  #key(event: KeyboardEvent): void {
    const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.#resize(this.width + by);
  }

  #resize(width: number): void {
    const { preview } = this.state;
    if (preview?.isHalf === true) this.store.set({ preview: { ...preview, isHalf: false } });
    this.width = Math.round(Math.min(MOST, innerWidth * 0.6, Math.max(LEAST, width)));
    remember("drawer", this.width);
  }
}

/** The focused element, across shadow roots, then its ancestors. */
function listFocused(): readonly HTMLElement[] {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const path: HTMLElement[] = [];
  for (let node: Node | null = at; node !== null; node = node instanceof ShadowRoot ? node.host : node.parentNode) {
    if (node instanceof HTMLElement) path.push(node);
  }
  return path;
}

customElements.define("playground-drawer", Drawer);

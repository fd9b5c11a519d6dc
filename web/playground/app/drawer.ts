/**
 * The drawer: an artifact at large, beside the work, or as a sheet at the bottom where the window is narrow.
 * @module
 */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { base, icon, tokens } from "mcp-sluice/ui/theme";
import type { ArtifactBytes } from "mcp-sluice/ui";
import close from "lucide-static/icons/x.svg?raw";
import "./viewer.js";
import { remember, remembered } from "./memory.js";
import { shared } from "./shared-styles.js";
import type { Looked } from "./state.js";
import { ViewElement } from "./view.js";

/** CSS pixels. */
const [LEAST, MOST, USUAL, STEP] = [280, 900, 420, 24];

/** `<playground-drawer>` */
export class Drawer extends ViewElement {
  static override properties = { ...ViewElement.properties, width: { state: true } };

  static override styles = [
    tokens,
    base,
    shared,
    css`
      :host {
        display: block;
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
        min-block-size: 320px;
      }
      @media (max-width: 1099px) {
        :host {
          background: var(--surface);
          border-block-start: 1px solid var(--line-strong);
          box-shadow: 0 -8px 24px #0004;
          inset: 30dvh 0 0 0;
          position: fixed;
          z-index: 10;
        }
        section {
          grid-template-columns: minmax(0, 1fr);
        }
        .edge {
          display: none;
        }
        .artifact {
          inline-size: auto;
        }
      }
    `,
  ];

  declare width: number;
  /** The viewer begins anew when it is given other bytes: the same artifact has the same. */
  #given: { readonly looked: Looked; readonly bytes: ArtifactBytes } | undefined;
  /** What had the focus before. */
  #before: HTMLElement | undefined;

  #shown: Looked | undefined;

  constructor() {
    super();
    this.width = remembered<number>("drawer") ?? USUAL;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    // Whoever went on elsewhere stays there.
    if (document.activeElement === document.body) this.#before?.focus();
  }

  override willUpdate(): void {
    // Not in the template: the policy of the page forbids style attributes.
    this.style.setProperty("--width", `${this.width}px`);
  }

  override updated(changed: PropertyValues): void {
    super.updated(changed);
    const { looked } = this.state;
    if (looked === this.#shown) return;
    this.#shown = looked;
    if (!this.matches(":focus-within")) this.#before = focused();
    this.renderRoot.querySelector("section")?.focus();
  }

  override render(): TemplateResult | typeof nothing {
    const { looked } = this.state;
    if (looked === undefined) return nothing;
    if (this.#given?.looked !== looked)
      this.#given = { looked, bytes: this.actions.bytesOf(looked.shelf, looked.artifact) };
    const { artifact, shelf } = looked;
    return html`<section tabindex="-1" aria-label="Preview">
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
          <h2 class="grow">${shelf === "files" ? "In My Files" : "Stored in this session"}</h2>
          <button class="plain" aria-label="Close the preview" @click=${() => this.actions.look(undefined)}>
            ${icon(close)}
          </button>
        </div>
        <sluice-viewer .artifact=${artifact} .bytes=${this.#given.bytes}></sluice-viewer>
      </div>
    </section>`;
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
    this.width = Math.round(Math.min(MOST, innerWidth * 0.6, Math.max(LEAST, width)));
    remember("drawer", this.width);
  }
}

/** In whatever element within elements it is. */
function focused(): HTMLElement | undefined {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at instanceof HTMLElement ? at : undefined;
}

customElements.define("playground-drawer", Drawer);

/**
 * `<sluice-result-rule>`: the badge of a rule, with what it means.
 * @module
 */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { placeBeside } from "../popover.js";
import { baseStyles, themeTokens } from "../theme.js";
import { LAYERS, LINK, type Rule } from "./labels.js";

/** Where the layers are described. */
const DOCS = "https://www.npmjs.com/package/mcp-sluice";

/** Milliseconds of pointing before it speaks, and before it leaves, so that the pointer can get to its link. */
const [BEFORE, AFTER] = [400, 200];

/** A badge such as "L2 typed block". What it means is shown to those who point at it, come to it by keyboard, or press it. */
export class SluiceResultRule extends LitElement {
  static override properties = {
    rule: { attribute: false },
    detail: { attribute: false },
    reached: { attribute: false },
    isOpen: { state: true },
  };
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      :host {
        display: inline-flex;
      }
      button {
        background: var(--stored-soft);
        border: 0;
        border-radius: 999px;
        color: var(--stored);
        cursor: help;
        font-size: var(--size-small);
        gap: 4px;
        min-block-size: 22px;
        min-inline-size: 0;
        padding: 0 8px;
      }
      b {
        font-weight: 600;
      }
      [popover] {
        background: var(--surface-raised);
        border: 1px solid var(--line-strong);
        border-radius: var(--radius);
        box-shadow: 0 6px 20px rgb(0 0 0 / 20%);
        color: var(--text);
        font-family: var(--font);
        font-size: var(--size);
        inline-size: min(320px, calc(100vw - 16px));
        inset: auto;
        margin: 0;
        padding: 12px;
        position: fixed;
        white-space: normal;
      }
      p {
        margin: 0 0 8px;
      }
      @media (pointer: coarse), (max-width: 640px) {
        button {
          min-block-size: var(--target);
        }
      }
      @media (forced-colors: active) {
        button {
          border: 1px solid CanvasText;
        }
      }
    `,
  ];

  /** The rule. */
  declare rule: Rule;
  /** More about what it acted on; null for nothing. */
  declare detail: string | null;
  /** Whether Tab reaches it. */
  declare reached: boolean;
  declare protected isOpen: boolean;
  #clock: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.rule = LINK;
    this.detail = null;
    this.reached = true;
    this.isOpen = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#clock);
    this.isOpen = false;
  }

  protected override render(): TemplateResult {
    const { layer, name, why } = this.rule;
    return html`<button
        type="button"
        class="badge"
        aria-describedby="why"
        aria-expanded=${this.isOpen}
        tabindex=${this.reached ? nothing : -1}
        @click=${this.#toggle}
        @pointerenter=${(event: PointerEvent) => this.#point(event, true)}
        @pointerleave=${(event: PointerEvent) => this.#point(event, false)}
        @keydown=${this.#onKey}
        @focus=${this.#onFocus}
        @blur=${this.#onBlur}
      >
        <b>${layer}</b> ${name}
      </button>
      <span hidden id="why">${why} ${LAYERS[layer]}</span>
      ${this.isOpen ? this.#tip() : nothing}`;
  }

  protected override updated(): void {
    const tip = this.renderRoot.querySelector<HTMLElement>("[popover]");
    if (tip === null || tip.matches(":popover-open")) return;
    tip.showPopover();
    placeBeside(tip, this);
  }

  #tip(): TemplateResult {
    const { layer, why } = this.rule;
    return html`<div
      popover="auto"
      role="group"
      aria-label=${`What ${layer} means`}
      @toggle=${this.#onToggle}
      @pointerenter=${(event: PointerEvent) => this.#point(event, true)}
      @pointerleave=${(event: PointerEvent) => this.#point(event, false)}
      @keydown=${this.#onKey}
      @focusout=${this.#onBlur}
    >
      <p>${why}${this.detail === null ? nothing : html` <bdi>${this.detail}</bdi>`}</p>
      <p class="soft">${LAYERS[layer]}</p>
      <a href=${DOCS} target="_blank" rel="noopener noreferrer">About the layers, in the docs</a>
    </div>`;
  }

  readonly #toggle = (): void => {
    clearTimeout(this.#clock);
    this.isOpen = !this.isOpen;
  };

  /** A finger presses instead. */
  #point({ pointerType }: PointerEvent, isThere: boolean): void {
    if (pointerType === "touch") return;
    clearTimeout(this.#clock);
    this.#clock = setTimeout(() => (this.isOpen = isThere), isThere ? BEFORE : AFTER);
  }

  readonly #onFocus = (event: Event): void => {
    if ((event.target as Element).matches(":focus-visible")) this.isOpen = true;
  };

  /** Stays while the focus is on its link. */
  readonly #onBlur = ({ relatedTarget }: FocusEvent): void => {
    if (!(relatedTarget instanceof Node && this.renderRoot.contains(relatedTarget))) this.isOpen = false;
  };

  readonly #onToggle = ({ newState }: ToggleEvent): void => {
    if (newState === "closed") this.isOpen = false;
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !this.isOpen) return;
    event.stopPropagation();
    this.isOpen = false;
  };
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-rule": SluiceResultRule;
  }
}

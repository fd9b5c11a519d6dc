/**
 * `<sluice-result-lines>`: any number of lines, of which only those in view are in the document.
 * @module
 */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { css, html, LitElement, type TemplateResult } from "lit";
import { base, tokens } from "../theme.js";

const HEIGHT = 20;

/** Lines of one height that are made when they come into view. */
export class SluiceResultLines extends LitElement {
  static override properties = {
    count: { attribute: false },
    line: { attribute: false },
    label: { attribute: false },
  };
  static override styles = [
    tokens,
    base,
    css`
      :host {
        display: block;
        font-family: var(--font-code);
        font-size: 13px;
      }
      .area {
        background: var(--surface);
        block-size: var(--sluice-result-height, 60vh);
        border: 1px solid var(--line);
        border-radius: var(--radius);
        contain: strict;
        overflow: auto;
      }
      .all {
        min-inline-size: 100%;
        position: relative;
        inline-size: max-content;
      }
      .line {
        block-size: 20px;
        inset-inline-start: 0;
        line-height: 20px;
        min-inline-size: 100%;
        padding-inline: 10px;
        position: absolute;
        unicode-bidi: isolate;
        white-space: pre;
      }
      .number {
        color: var(--text-soft);
        display: inline-block;
        inline-size: 7ch;
        user-select: none;
      }
      .sent,
      .model {
        text-decoration: none;
      }
      .line:has(.sent) {
        background: var(--bad-soft);
      }
      .line:has(.model) {
        background: var(--good-soft);
      }
      .sent b {
        color: var(--bad);
      }
      .model b {
        color: var(--good);
      }
      b {
        display: inline-block;
        inline-size: 2ch;
        user-select: none;
      }
    `,
  ];

  /** How many lines there are. */
  declare count: number;
  /** What a line from 0 shows. */
  declare line: (index: number) => TemplateResult | string;
  /** What the area is called. */
  declare label: string;

  #virtual: Virtualizer<HTMLElement, HTMLElement> | undefined;
  #leave: (() => void) | undefined;

  constructor() {
    super();
    this.count = 0;
    this.line = () => "";
    this.label = "Lines";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) this.#begin();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#leave?.();
    this.#virtual = undefined;
  }

  protected override firstUpdated(): void {
    queueMicrotask(() => this.#begin());
  }

  protected override willUpdate(): void {
    this.#virtual?.setOptions(this.#options());
    this.#attach();
  }

  protected override render(): TemplateResult {
    const items = this.#virtual?.getVirtualItems() ?? [];
    return html`<div class="area" role="region" tabindex="0" aria-label=${this.label}>
      <div class="all" .style=${`block-size: ${this.count * HEIGHT}px`}>
        ${items.map(
          ({ index, start }) =>
            html`<div class="line" .style=${`transform: translateY(${start}px)`}>${this.line(index)}</div>`,
        )}
      </div>
    </div>`;
  }

  #begin(): void {
    if (!this.isConnected || this.#virtual !== undefined) return;
    this.#virtual = new Virtualizer(this.#options());
    // This and `_willUpdate` are what adapters of the library to frameworks call.
    // oxlint-disable-next-line no-underscore-dangle
    this.#leave = this.#virtual._didMount();
    this.#attach();
    this.requestUpdate();
  }

  #attach(): void {
    // oxlint-disable-next-line no-underscore-dangle
    this.#virtual?._willUpdate();
  }

  #options(): ConstructorParameters<typeof Virtualizer<HTMLElement, HTMLElement>>[0] {
    return {
      count: this.count,
      getScrollElement: () => this.renderRoot.querySelector<HTMLElement>(".area"),
      estimateSize: () => HEIGHT,
      overscan: 10,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      onChange: () => this.requestUpdate(),
    };
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-lines": SluiceResultLines;
  }
}

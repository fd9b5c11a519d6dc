/**
 * `<sluice-result-sent>`: the blocks that a server sent.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { base, tokens } from "../theme.js";
import { blockBody, type BlockLook } from "./block-body.js";
import { loadOf, type Block, type Blocks } from "./blocks.js";
import { badge } from "./chip.js";
import { pointWithin, type SentContext } from "./context.js";
import type { Pointed } from "./counterparts.js";
import { placeOf } from "./names.js";
import { LINK } from "./rules.js";
import { chipStyles } from "./styles.js";

/** Blocks that are shown at once. */
const PAGE = 50;
/** Blocks of JSON that are open from the start: the first, and short ones among the first few. */
const OPEN = 20;
const SHORT = 10;

/** The server's side. Says what is pointed at through `.pointed` of its parts. */
export class SluiceResultSent extends LitElement {
  static override properties = {
    blocks: { attribute: false },
    context: { attribute: false },
    lit: { attribute: false },
    shown: { state: true },
  };
  static override styles = [
    tokens,
    base,
    chipStyles,
    css`
      :host {
        display: block;
        min-inline-size: 0;
      }
      ol {
        display: grid;
        gap: 8px;
        grid-template-columns: minmax(0, 1fr);
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li {
        background: var(--surface);
        border: 1px solid var(--line);
        border-radius: var(--radius);
        padding: 8px 10px;
      }
      li:hover {
        border-color: var(--line-strong);
      }
      .head {
        align-items: center;
        display: flex;
        flex-wrap: wrap;
        gap: 4px 8px;
        margin-block-end: 4px;
      }
      .head .name {
        font-weight: 600;
        overflow-wrap: anywhere;
      }
      .head .end {
        display: flex;
        gap: 4px;
        margin-inline-start: auto;
      }
      .why {
        margin: 4px 0 0;
        overflow-wrap: anywhere;
      }
      dl {
        display: grid;
        gap: 2px 12px;
        grid-template-columns: auto minmax(0, 1fr);
        margin: 0 0 4px;
      }
      dt {
        color: var(--text-soft);
      }
      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }
      .more {
        margin-block-start: 8px;
      }
    `,
  ];

  /** What is shown. */
  declare blocks: Blocks;
  /** The result around it. */
  declare context: SentContext | undefined;
  /** The artifact that is pointed at in the model's text. */
  declare lit: string | null;
  declare protected shown: number;

  readonly #asText = new Set<number>();
  readonly #chars = new Map<number, number>();
  #known: Block[] = [];

  constructor() {
    super();
    this.blocks = { length: 0, at: noBlock };
    this.context = undefined;
    this.lit = null;
    this.shown = PAGE;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has("blocks")) return;
    this.#asText.clear();
    this.#chars.clear();
    this.#known = [];
    this.shown = PAGE;
  }

  protected override firstUpdated(): void {
    pointWithin(this.renderRoot, () => this.context);
  }

  protected override render(): TemplateResult {
    const shown = Math.min(this.shown, this.blocks.length);
    for (let index = this.#known.length; index < shown; index += 1) this.#known.push(this.blocks.at(index));
    const left = this.blocks.length - shown;
    return html`<ol aria-label="Server sent">
        ${this.#known.map((block, index) => this.#block(block, index))}
      </ol>
      ${
        left <= 0
          ? nothing
          : html`<button class="more" type="button" @click=${() => (this.shown += PAGE)}>
              Show ${Math.min(left, PAGE)} more of ${left.toLocaleString("en")}
            </button>`
      }`;
  }

  #block(block: Block, index: number): TemplateResult | typeof nothing {
    const { context } = this;
    if (context === undefined) return nothing;
    const look: BlockLook = {
      lit: this.lit,
      open: index === 0 || (index < OPEN && block.node.children.length <= SHORT),
      asText: this.#asText.has(index),
      chars: this.#chars.get(index),
      showAs: (asText) => {
        if (asText) this.#asText.add(index);
        else this.#asText.delete(index);
        this.requestUpdate();
      },
      more: (chars) => {
        this.#chars.set(index, chars);
        this.requestUpdate();
      },
    };
    const { main, tools } = blockBody(block, context, look);
    const pointed = pointedOf(block);
    const where = pointed === null || "id" in pointed ? null : context.whereabouts(pointed);
    return html`<li .pointed=${pointed}>
      <div class="head">
        <bdi class="name">${titleOf(block)}</bdi>
        <bdi class="soft">${block.kind === "member" || block.kind === "other" ? nothing : placeOf(block)}</bdi>
        ${block.kind === "resource_link" ? badge(LINK) : nothing}
        <span class="end">
          ${tools}
          ${
            where === null || pointed === null
              ? nothing
              : html`<button
                  class="small plain"
                  type="button"
                  title=${`Show in model view: ${where}`}
                  aria-label=${`Show ${placeOf(block)} in model view, ${where}`}
                  @click=${() => context.reveal(pointed)}
                >
                  In model view
                </button>`
          }
        </span>
      </div>
      ${main}
    </li>`;
  }
}

function noBlock(): never {
  throw new RangeError("There are no blocks.");
}

function titleOf(block: Block): string {
  const { kind } = block;
  if (kind === "resource_link") return "resource link";
  return kind === "member" || kind === "other" || kind === "entry" ? placeOf(block) : kind;
}

// A block is what its bytes became, or what passed as it was.
function pointedOf(block: Block): Pointed | null {
  const hole = loadOf(block)?.hole ?? block.node.hole;
  if (hole !== null) return { id: hole.id };
  const { node, kind } = block;
  const part = kind === "text" ? node.member("text") : kind === "resource_link" ? node.member("uri") : node;
  if (part === null || part.end - part.begin > 50_000 || part.hole !== null) return part?.hole ?? null;
  return { source: part.json, said: part.said.text };
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-sent": SluiceResultSent;
  }
}

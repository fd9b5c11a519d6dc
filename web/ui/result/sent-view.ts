/**
 * `<sluice-result-sent>`: the blocks that a server sent.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { humanSize } from "mcp-sluice";
import { type DrawnItem, LongList } from "../long-list.js";
import { baseStyles, themeTokens } from "../theme.js";
import { type Block, type Blocks, type Load, readLoad, readWords } from "./blocks.js";
import { badge, chip, pointWithin, type ResultContext, textWithChips } from "./chips.js";
import type { Pointed } from "./counterparts.js";
import { toSafeFact, LINK, nameBlock, findRule } from "./labels.js";
import { chipStyles } from "./styles.js";
import type { JsonNode } from "./json-text.js";
import { findInner } from "./tree-rows.js";

/** Of more blocks, those in view are drawn. */
const FEW = 12;
/** The height of a block with a picture, in pixels. */
const HEIGHT = 175;
/** JSON blocks that start open: the first, and short ones among the first few. */
const OPEN = 20;
const SHORT = 10;

/** The server's side. The `.pointed` property of its parts says what they stand for. */
export class SluiceResultSent extends LitElement {
  static override properties = {
    blocks: { attribute: false },
    context: { attribute: false },
    lit: { attribute: false },
  };
  static override styles = [
    themeTokens,
    baseStyles,
    chipStyles,
    css`
      :host {
        display: block;
        min-inline-size: 0;
      }
      ol {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li {
        padding: 12px 16px;
      }
      li + li {
        border-block-start: 1px solid var(--line);
      }
      li:hover {
        background: var(--surface-raised);
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
    `,
  ];

  /** What is shown. */
  declare blocks: Blocks;
  /** The result around it. */
  declare context: ResultContext | undefined;
  /** The artifact that is pointed at in the model's text. */
  declare lit: string | null;

  readonly #long = new LongList(this, { few: FEW, height: HEIGHT, beyond: 2 });
  readonly #asText = new Set<number>();
  readonly #chars = new Map<number, number>();
  readonly #known = new Map<number, Block>();

  constructor() {
    super();
    this.blocks = { length: 0, at: noBlock };
    this.context = undefined;
    this.lit = null;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has("blocks")) return;
    this.#asText.clear();
    this.#chars.clear();
    this.#known.clear();
    this.#long.reset();
  }

  protected override firstUpdated(): void {
    pointWithin(this.renderRoot, () => this.context);
  }

  protected override render(): TemplateResult {
    const items = this.#long.items(this.blocks.length);
    return html`<ol .style=${this.#long.style}>
      ${repeat(
        items,
        ({ index }) => index,
        (item) => this.#block(this.#at(item.index), item),
      )}
    </ol>`;
  }

  #at(index: number): Block {
    const block = this.#known.get(index) ?? this.blocks.at(index);
    this.#known.set(index, block);
    return block;
  }

  #block(block: Block, { index, style }: DrawnItem): TemplateResult | typeof nothing {
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
    const pointed = findPointed(block);
    const where = pointed === null || "id" in pointed ? null : context.whereabouts(pointed);
    return html`<li
      data-index=${index}
      aria-setsize=${this.blocks.length}
      aria-posinset=${index + 1}
      .style=${style}
      .pointed=${pointed}
    >
      <div class="head">
        <bdi class="name">${titleBlock(block)}</bdi>
        <bdi class="soft">${block.kind === "member" || block.kind === "other" ? nothing : nameBlock(block)}</bdi>
        ${block.kind === "resource_link" ? badge(LINK) : nothing}
        <span class="end">
          ${tools}
          ${
            where === null || pointed === null
              ? nothing
              : html`<button
                  class="small plain"
                  type="button"
                  title=${`Show ${nameBlock(block)} in model view, ${where}`}
                  aria-label=${`Show ${nameBlock(block)} in model view, ${where}`}
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

function titleBlock(block: Block): string {
  const { kind } = block;
  if (kind === "resource_link") return "resource link";
  return kind === "member" || kind === "other" || kind === "entry" ? nameBlock(block) : kind;
}

// A block stands for its artifact, or for its unchanged text.
function findPointed(block: Block): Pointed | null {
  const hole = readLoad(block)?.hole ?? block.node.hole;
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

/** How a block is shown. */
interface BlockLook {
  /** The artifact that is pointed at in the model's text. */
  readonly lit: string | null;
  /** Whether a tree's first level is open. */
  readonly open: boolean;
  /** Whether JSON in a text is shown as the text that it is. */
  readonly asText: boolean;
  /** How many characters of a text are shown; left out, the first 2,000. */
  readonly chars: number | undefined;
  /** Shows JSON as a text or as a tree. */
  readonly showAs: (asText: boolean) => void;
  /** Shows that many characters. */
  readonly more: (chars: number) => void;
}

/** The parts of a block below and beside its name. */
interface BlockParts {
  /** Below the name. */
  readonly main: TemplateResult;
  /** Beside the name. */
  readonly tools: TemplateResult | typeof nothing;
}

const FIRST = 2_000;
const FACTS = ["name", "title", "uri", "mimeType", "size", "description"];

/** The parts of a block. */
function blockBody(block: Block, context: ResultContext, look: BlockLook): BlockParts {
  const load = readLoad(block);
  const said = readWords(block);
  if (load !== null) return { main: loadPart(block, load, context, look), tools: nothing };
  if (said !== null) return textPart(block, said, context, look);
  if (block.kind === "resource_link") return { main: html`${facts(block.node)}`, tools: nothing };
  return { main: tree(block.node, block, context, look), tools: nothing };
}

function loadPart(
  block: Block,
  { hole, inline, mimeType }: Load,
  context: ResultContext,
  { lit }: BlockLook,
): TemplateResult {
  const holder = block.kind === "resource" ? block.node.member("resource") : block.node;
  const about = holder === null || block.kind === "image" || block.kind === "audio" ? nothing : facts(holder);
  if (hole === null) {
    const size = inline === null ? "" : ` · ${humanSize(inline)}`;
    return html`${about}<span class="chip" role="group" aria-label="Not taken out"
        ><span class="what"><bdi>${toSafeFact(mimeType ?? "") || "bytes"}${size}</bdi></span>
        <span class="soft">stays in the result</span></span
      >`;
  }
  const rule = findRule(hole, block, context.configured(joinPath(block, [])));
  return html`${about}${chip(hole, context, { rule, lit, alone: true })}`;
}

function textPart(block: Block, said: JsonNode, context: ResultContext, look: BlockLook): BlockParts {
  const holder = block.kind === "text" ? nothing : facts(block.node.member("resource") ?? block.node);
  const inner = findInner(said);
  const configured = context.configured(joinPath(block, ["text"]));
  const { hole } = said;
  if (hole !== null) {
    const rule = findRule(hole, null, configured);
    const main = html`${holder}${chip(hole, context, { rule, lit: look.lit, alone: true })}`;
    return { main, tools: nothing };
  }
  if (inner === null || look.asText) {
    const { lit, chars = FIRST, more } = look;
    const main = html`${holder}${textWithChips(said.said, context, { chars, lit, configured, reached: true, more })}`;
    return { main, tools: inner === null ? nothing : renderSwitch(look) };
  }
  return { main: html`${holder}${tree(inner, block, context, look)}`, tools: renderSwitch(look) };
}

function renderSwitch({ asText, showAs }: BlockLook): TemplateResult {
  return html`<button class="small" type="button" aria-pressed=${asText} @click=${() => showAs(!asText)}>
    As text
  </button>`;
}

function tree(node: JsonNode, block: Block, context: ResultContext, { lit, open }: BlockLook): TemplateResult {
  // Few results have JSON in them. What is shown already is upgraded.
  void import("./tree.js").then(({ defineTree }) => defineTree());
  return html`<sluice-result-tree
    .node=${node}
    .context=${context}
    .keys=${joinPath(block, [])}
    .label=${`JSON of ${nameBlock(block)}`}
    .lit=${lit}
    .opened=${open}
  ></sluice-result-tree>`;
}

// What a block says about itself, in the order of its members.
function facts(holder: JsonNode): TemplateResult | typeof nothing {
  const known = FACTS.flatMap((name) => {
    const value = holder.member(name);
    return value === null || value.kind === "object" || value.kind === "array"
      ? []
      : [[name, value.said.text] as const];
  });
  if (known.length === 0) return nothing;
  return html`<dl>
    ${known.map(
      ([name, text]) =>
        html`<dt>${name}</dt>
          <dd><bdi>${toSafeFact(text)}</bdi></dd>`,
    )}
  </dl>`;
}

function joinPath({ name }: Block, more: readonly string[]): readonly string[] {
  return [...(name === "value" ? [] : name.split(" ")), ...more];
}

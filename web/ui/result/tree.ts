/**
 * `<sluice-result-tree>`: a JSON value as a tree, with chips where something was taken out.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import chevron from "lucide-static/icons/chevron-right.svg?raw";
import { icon } from "../icons.js";
import { defineElements } from "../registry.js";
import { baseStyles, themeTokens } from "../theme.js";
import { LARGE, pause } from "../pace.js";
import { chip, pointWithin, type ResultContext, textWithChips } from "./chips.js";
import type { JsonNode } from "./json-text.js";
import { findRule } from "./labels.js";
import { holesWithin } from "./marked-text.js";
import { chipStyles } from "./styles.js";
import { moveIn, type Row, TreeRows } from "./tree-rows.js";

/** Characters of a string shown at first. */
const SHORT = 200;
/** Files in a value that are shown with a large picture each, and not in one line. */
const FEW = 3;

/** A tree view (ARIA): one tab stop, arrow keys move in it. Rows are created when they are opened. */
export class SluiceResultTree extends LitElement {
  static override properties = {
    node: { attribute: false },
    context: { attribute: false },
    keys: { attribute: false },
    label: { attribute: false },
    lit: { attribute: false },
    opened: { type: Boolean },
  };
  static override styles = [
    themeTokens,
    baseStyles,
    chipStyles,
    css`
      :host {
        display: block;
        font-family: var(--font-code);
        font-size: 13px;
      }
      .row {
        border-radius: 4px;
        cursor: default;
        display: flex;
        gap: 4px;
        padding-block: 1px;
        padding-inline: calc((var(--level) - 1) * 16px) 4px;
      }
      .row:hover {
        background: var(--surface-sunken);
      }
      .row:focus-visible {
        outline-offset: -2px;
      }
      .mark {
        flex: none;
        inline-size: 16px;
      }
      .mark svg {
        transition: transform 0.1s;
      }
      [aria-expanded="true"] > .mark svg {
        transform: rotate(90deg);
      }
      [aria-expanded],
      .more {
        cursor: pointer;
      }
      .key {
        color: var(--accent);
        overflow-wrap: anywhere;
      }
      .name {
        flex: none;
        max-inline-size: 45%;
      }
      .value {
        flex: 1;
        min-inline-size: 0;
        overflow-wrap: anywhere;
      }
      .more {
        color: var(--accent);
        text-decoration: underline;
      }
      /* Beside its key, or as far in, a file would have no room. */
      @container (max-width: 380px) {
        .row {
          flex-wrap: wrap;
        }
        .value:has(> .alone) {
          --back: calc((var(--level) - 2) * 16px);
          flex-basis: calc(100% + var(--back));
          margin-inline-start: calc(-1 * var(--back));
        }
      }
      @media (pointer: coarse) {
        .row {
          min-block-size: var(--target);
          align-items: center;
        }
      }
    `,
  ];

  /** The value. */
  declare node: JsonNode | undefined;
  /** The result around it. */
  declare context: ResultContext | undefined;
  /** Keys and indexes that lead to the value. */
  declare keys: readonly string[];
  /** What the tree is called. */
  declare label: string;
  /** The artifact that is pointed at in the model's text. */
  declare lit: string | null;
  /** Whether the first level is open. */
  declare opened: boolean;

  #tree: TreeRows | undefined;
  #rows: readonly Row[] = [];
  #current = "";
  #reading = Promise.resolve();
  /** Whether there is room for a large chip for each file. */
  #fewHoles = false;
  readonly #chars = new Map<string, number>();

  constructor() {
    super();
    this.node = undefined;
    this.context = undefined;
    this.keys = [];
    this.label = "JSON";
    this.lit = null;
    this.opened = false;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("node")) this.#begin();
    this.#rows = this.#tree?.rows() ?? [];
    if (!this.#rows.some(({ path }) => path === this.#current)) this.#current = this.#rows[0]?.path ?? "";
  }

  protected override async getUpdateComplete(): Promise<boolean> {
    await super.getUpdateComplete();
    await this.#reading;
    return super.getUpdateComplete();
  }

  protected override firstUpdated(): void {
    pointWithin(this.renderRoot, () => this.context);
  }

  protected override render(): TemplateResult {
    if (this.#rows.length === 0) return html`<span class="soft">Reading…</span>`;
    return html`<div role="tree" aria-label=${this.label} @keydown=${this.#keydown} @focusin=${this.#focusin}>
      ${repeat(
        this.#rows,
        ({ path }) => path,
        (row) => this.#row(row),
      )}
    </div>`;
  }

  #begin(): void {
    const { node } = this;
    this.#chars.clear();
    this.#current = "";
    this.#tree = undefined;
    if (node === undefined) return;
    this.#fewHoles = holesWithin(node.source, node.begin, node.end).length <= FEW;
    if (node.end - node.begin > LARGE) this.#reading = this.#read(node);
    else this.#tree = new TreeRows(node, this.opened);
  }

  async #read(node: JsonNode): Promise<void> {
    await pause();
    if (node !== this.node) return;
    this.#tree = new TreeRows(node, this.opened);
    this.requestUpdate();
  }

  #row(row: Row): TemplateResult {
    const reached = row.path === this.#current;
    return html`<div
      class="row ${row.left > 0 ? "more" : ""}"
      role="treeitem"
      aria-level=${row.level}
      aria-posinset=${row.position}
      aria-setsize=${row.siblings}
      aria-expanded=${row.open ?? nothing}
      tabindex=${reached ? 0 : -1}
      data-path=${row.path}
      .style=${`--level: ${Math.min(row.level, 24)}`}
      @click=${(event: Event) => this.#click(event, row)}
    >
      <span class="mark">${row.open === null ? nothing : icon(chevron)}</span>
      ${row.left > 0 ? html`<span>Show ${describeMore(row.left)}</span>` : this.#member(row, reached)}
    </div>`;
  }

  #member(row: Row, reached: boolean): TemplateResult {
    const { context } = this;
    if (context === undefined) return html``;
    const key =
      row.key === null || typeof row.key === "number"
        ? row.key
        : textWithChips(row.key, context, this.#look(row, reached, "key"));
    return html`${key === null ? nothing : html`<span class="name"><bdi class="key">${key}</bdi>:</span>`}
      <span class="value">${this.#value(row, context, reached)}</span>`;
  }

  #value(row: Row, context: ResultContext, reached: boolean): unknown {
    const { node, nested } = row;
    const { length } = node.children;
    if (node.kind === "object") {
      return html`<span class="soft"
        >${nested ? "JSON in a string: " : ""}object, ${countNoun(length, "member")}</span
      >`;
    }
    if (node.kind === "array") {
      return html`<span class="soft"
        >${nested ? "JSON in a string: " : ""}array, ${countNoun(length, "element")}</span
      >`;
    }
    const { hole } = node;
    const look = this.#look(row, reached, "value");
    if (hole !== null) {
      return chip(hole, context, { ...look, rule: findRule(hole, null, look.configured), alone: this.#fewHoles });
    }
    return textWithChips(node.kind === "string" ? { ...node.said } : { text: node.json, holes: [] }, context, look);
  }

  #look(row: Row, reached: boolean, part: string): Parameters<typeof textWithChips>[2] {
    const place = `${part} ${row.path}`;
    return {
      chars: this.#chars.get(place) ?? SHORT,
      lit: this.lit,
      configured: this.context?.configured([...this.keys, ...row.keys]) ?? false,
      reached,
      more: (chars) => {
        this.#chars.set(place, chars);
        this.requestUpdate();
      },
    };
  }

  #click(event: Event, row: Row): void {
    if (event.target instanceof Element && event.target.closest("button, sluice-result-rule") !== null) return;
    this.#act(row, row.open !== true);
  }

  #act(row: Row, open: boolean): void {
    this.#current = row.path;
    if (row.left > 0) this.#tree?.showMore(row.path.slice(0, -1));
    else if (row.open !== null) this.#tree?.toggle(row.path, open);
    this.requestUpdate();
    // The row that asked for more is gone: the first that came takes its place.
    if (row.left > 0)
      this.#goTo(row.path === "+" ? String(row.position - 1) : `${row.path.slice(0, -1)}/${row.position - 1}`);
  }

  #goTo(path: string): void {
    this.#current = path;
    this.requestUpdate();
    void this.#focusOn(path);
  }

  async #focusOn(path: string): Promise<void> {
    await this.updateComplete;
    const rows = [...this.renderRoot.querySelectorAll<HTMLElement>(".row")];
    rows.find(({ dataset }) => dataset["path"] === path)?.focus();
  }

  #focusin = (event: FocusEvent): void => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>(".row") : null;
    const path = row?.dataset["path"];
    if (path === undefined || path === this.#current) return;
    this.#current = path;
    this.requestUpdate();
  };

  #keydown = (event: KeyboardEvent): void => {
    const target = event.target instanceof Element ? event.target : null;
    if (target?.getAttribute("role") !== "treeitem" || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = moveIn(this.#rows, this.#current, event.key);
    if (move === null) return;
    event.preventDefault();
    if ("to" in move) this.#goTo(move.to);
    else this.#act(move.row, move.open);
  };
}

function countNoun(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

function describeMore(left: number): string {
  return left <= 100 ? `${left} more` : `100 more of ${left.toLocaleString("en")}`;
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-tree": SluiceResultTree;
  }
}

/** Defines the element. */
export function defineTree(): void {
  defineElements({ "sluice-result-tree": SluiceResultTree });
}

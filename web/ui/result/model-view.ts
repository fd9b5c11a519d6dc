/**
 * `<sluice-result-model>`: the text that a model gets, indented or exact.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import copy from "lucide-static/icons/copy.svg?raw";
import { icon } from "../icons.js";
import { baseStyles, themeTokens } from "../theme.js";
import { Counterparts, type Pointed, type Span } from "./counterparts.js";
import { type JsonToken, jsonTokens, tokenStyles } from "./json-tokens.js";
import { LARGE } from "../pace.js";
import { shownName } from "../plain-text.js";
import type { ResultContext } from "./chips.js";
import { readReference } from "./marked-text.js";
import { prettyLines } from "./pretty.js";

/** Characters shown at once. */
const SHOWN = 200_000;
const MOST_PRETTY_LINES = 20_000;
/** Milliseconds that a confirmation is shown. */
const SAID = 4_000;
/** Inline base64 that the model sees. */
const RUN = /(?<=")[A-Za-z0-9+/_-]{201,}={0,2}(?=\\*"|$)/g;

/** The model's side: `.observation` indented or, when "Exact" is pressed, as it is. Copy always takes it as it is. */
export class SluiceResultModel extends LitElement {
  static override properties = {
    observation: { attribute: false },
    clamped: { attribute: false },
    context: { attribute: false },
    heard: { attribute: false },
    isExact: { state: true },
    shown: { state: true },
    said: { state: true },
  };
  static override styles = [
    themeTokens,
    baseStyles,
    tokenStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        gap: 8px;
        min-block-size: 0;
      }
      .tools {
        align-items: center;
        display: flex;
        gap: 4px;
      }
      /* In the head of the column, where the result has one. */
      :host([headed]) .tools {
        block-size: 48px;
        inset-block-start: 0;
        inset-inline-end: 8px;
        position: absolute;
      }
      .said {
        margin: 0;
        padding-inline: 16px;
      }
      .said:empty {
        display: none;
      }
      .ref {
        background: var(--stored-soft, var(--good-soft));
        border-radius: 5px;
        color: var(--stored, var(--good));
        cursor: pointer;
        font-weight: 600;
        padding: 1px 4px;
      }
      .ref::after {
        content: " " attr(data-name);
        font-family: var(--font);
      }
      .ref.lit,
      .ref:hover {
        outline: 1px solid currentColor;
      }
      .clamp {
        background: var(--warn-soft);
        border-radius: 4px;
        color: var(--warn);
        margin: 0;
        padding: 4px 8px;
      }
      pre {
        background: var(--surface);
        border-radius: var(--radius);
        margin: 0;
        max-block-size: var(--sluice-result-height, 60vh);
        overflow: auto;
        padding: 16px;
      }
      code {
        line-height: 1.65;
        overflow-wrap: anywhere;
        unicode-bidi: isolate;
        white-space: pre-wrap;
      }
      .run {
        color: var(--text-soft);
        display: inline-block;
        max-inline-size: 16ch;
        overflow: hidden;
        text-overflow: ellipsis;
        vertical-align: bottom;
        white-space: nowrap;
      }
      ::highlight(sluice-counterpart) {
        background-color: light-dark(#cfe3fb, #1d4573);
        text-decoration: underline;
      }
      @media (forced-colors: active) {
        ::highlight(sluice-counterpart) {
          background-color: Highlight;
          color: HighlightText;
        }
      }
    `,
  ];

  /** The text that the model gets. */
  declare observation: string;
  /** What the guardrail did, in words; empty if nothing. */
  declare clamped: string;
  /** Called with the artifact that is pointed at in the text; null for none. */
  declare heard: ((id: string | null) => void) | undefined;
  /** The result around it; without it references are plain text. */
  declare context: ResultContext | undefined;
  declare protected isExact: boolean;
  declare protected shown: number;
  declare protected said: string;

  readonly #lit = new LitRanges();
  #isChosen = false;
  #text = "";
  #counterparts = new Counterparts("");
  #places: TextPlaces | undefined;
  #forgetting: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.observation = "";
    this.clamped = "";
    this.heard = undefined;
    this.context = undefined;
    this.isExact = false;
    this.shown = SHOWN;
    this.said = "";
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#forgetting);
    this.#lit.set([]);
  }

  /** Highlights something and scrolls to its first range; null removes the highlight. */
  light(pointed: Pointed | null): void {
    const ranges = pointed === null ? [] : this.#rangesOf(this.#counterparts.of(pointed));
    this.#lit.set(ranges);
    const first = ranges.at(0);
    if (first !== undefined) this.#bringIntoView(first);
  }

  /** Focuses and selects something; false if the text does not show it. */
  async reveal(pointed: Pointed): Promise<boolean> {
    const first = this.#counterparts.of(pointed).at(0);
    if (first === undefined) return false;
    if (first.begin >= this.shown) this.shown = Math.ceil((first.end + 1) / SHOWN) * SHOWN;
    await this.updateComplete;
    const range = this.#rangesOf([first]).at(0);
    const area = this.renderRoot.querySelector("pre");
    if (range === undefined || area === null) return false;
    area.focus();
    this.light(pointed);
    getSelection()?.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
    return true;
  }

  protected override willUpdate(changed: PropertyValues): void {
    // A large text is indented only when somebody asks.
    if (changed.has("observation") && !this.#isChosen) this.isExact = this.observation.length > LARGE;
    if (!["observation", "isExact"].some((name) => changed.has(name))) return;
    this.#text = this.isExact ? this.observation : pretty(this.observation);
    this.#counterparts = new Counterparts(this.#text);
    this.shown = SHOWN;
  }

  protected override updated(): void {
    this.#places = undefined;
  }

  protected override render(): TemplateResult {
    const left = this.#text.length - this.shown;
    return html`<div class="tools">
        <button type="button" @click=${this.#copy}>${icon(copy)} Copy</button>
        <button type="button" aria-pressed=${this.isExact} @click=${this.#choose}>Exact</button>
      </div>
      <p role="status" class="said soft">${this.said}</p>
      ${this.clamped === "" ? nothing : html`<p class="clamp">${this.clamped}</p>`}
      <pre
        role="region"
        tabindex="0"
        aria-label="What the model sees"
        @pointermove=${this.#pointermove}
        @pointerleave=${() => this.heard?.(null)}
        @focusin=${this.#focusin}
        @click=${this.#open}
        @keydown=${this.#keydown}
      ><code>${parts(this.#text.slice(0, this.shown), this.context)}</code></pre>
      ${
        left <= 0
          ? nothing
          : html`<button type="button" @click=${() => (this.shown += SHOWN)}>
              Show more (${left.toLocaleString("en")} characters left)
            </button>`
      }`;
  }

  #rangesOf(spans: readonly Span[]): Range[] {
    const places = this.#textPlaces();
    return spans.flatMap((span) => (span.begin < this.shown ? (places?.range(span) ?? []) : []));
  }

  #textPlaces(): TextPlaces | null {
    const code = this.renderRoot.querySelector("code");
    if (code === null) return null;
    return (this.#places ??= new TextPlaces(code));
  }

  // Scrolls only the area, so that the page does not move under the pointer.
  #bringIntoView(range: Range): void {
    const area = this.renderRoot.querySelector("pre");
    if (area === null) return;
    const place = range.getBoundingClientRect();
    const around = area.getBoundingClientRect();
    const seen = place.top >= around.top && Math.min(place.bottom, place.top + 40) <= around.bottom;
    if (!seen) area.scrollTop += place.top - around.top - around.height / 3;
  }

  #choose = (): void => {
    this.#isChosen = true;
    this.isExact = !this.isExact;
  };

  #focusin = (event: Event): void => this.heard?.(referenceOf(event));

  #open = (event: Event): void => {
    const artifact = this.context?.artifacts.get(referenceOf(event) ?? "");
    if (artifact !== undefined) this.context?.preview(artifact);
  };

  #keydown = (event: KeyboardEvent): void => {
    if (referenceOf(event) === null || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    this.#open(event);
  };

  #pointermove = (event: PointerEvent): void => {
    const { heard } = this;
    if (heard === undefined || !("caretPositionFromPoint" in document)) return;
    const options = { shadowRoots: [this.renderRoot as ShadowRoot] };
    const caret = document.caretPositionFromPoint(event.clientX, event.clientY, options);
    const place = caret === null ? null : (this.#textPlaces()?.offset(caret.offsetNode, caret.offset) ?? null);
    heard(place === null ? null : this.#counterparts.at(place));
  };

  #copy = async (): Promise<void> => {
    const isCopied = await navigator.clipboard.writeText(this.observation).then(
      () => true,
      () => false,
    );
    if (!isCopied) this.#selectAll();
    this.said = isCopied ? "Copied." : "The browser blocked copying; the text is selected.";
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => (this.said = ""), SAID);
  };

  #selectAll(): void {
    const code = this.renderRoot.querySelector("code");
    this.renderRoot.querySelector("pre")?.focus();
    if (code !== null) getSelection()?.setBaseAndExtent(code, 0, code, code.childNodes.length);
  }
}

// Other text than JSON, and what is too long to indent, is shown as it is.
function pretty(observation: string): string {
  if (!isJson(observation)) return observation;
  const { lines, whole } = prettyLines(
    { text: observation, holes: [] },
    { lines: MOST_PRETTY_LINES, chars: Infinity, hole: ({ id }) => id, unfold: false },
  );
  return whole ? lines.join("\n") : observation;
}

/** Parts of JSON that are drawn in colour; what follows is drawn plain, so that a long text stays a few nodes. */
const MOST_TOKENS = 1_200;

// Colours JSON, shows inline base64 shortened, and makes buttons of references.
function parts(text: string, context: ResultContext | undefined): unknown[] {
  const all: unknown[] = [];
  let at = 0;
  let drawn = 0;
  for (const token of isJson(text) ? jsonTokens(text) : []) {
    if (drawn >= MOST_TOKENS) break;
    drawn += 1;
    if (token.begin > at) all.push(text.slice(at, token.begin));
    all.push(tokenPart(token, text.slice(token.begin, token.end), context));
    at = token.end;
  }
  all.push(...shortened(text.slice(at)));
  return all;
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

function tokenPart({ kind }: JsonToken, text: string, context: ResultContext | undefined): unknown {
  const said = kind === "s" && text.length < 400 ? text.slice(1, -1) : "";
  const id = readReference(said)?.id ?? said;
  const artifact = id === "" ? undefined : context?.artifacts.get(id);
  if (artifact === undefined) {
    // A line breaks between parts and, only where one is longer than a line, within it.
    return html`<span class=${kind}>${kind === "s" ? shortened(text) : text}</span><wbr />`;
  }
  const name = shownName(artifact.filename, "");
  return html`<span
      class="ref"
      role="button"
      tabindex="0"
      data-id=${id}
      data-name=${name}
      title=${`Preview: ${name || id}`}
      >${text}</span
    ><wbr />`;
}

function referenceOf(event: Event): string | null {
  const [target] = event.composedPath();
  return target instanceof HTMLElement ? (target.dataset["id"] ?? null) : null;
}

function shortened(text: string): unknown[] {
  const all: unknown[] = [];
  let at = 0;
  for (const { 0: run, index } of text.matchAll(RUN)) {
    all.push(text.slice(at, index), html`<span class="run">${run}</span>`);
    at = index + run.length;
  }
  all.push(text.slice(at));
  return all;
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-model": SluiceResultModel;
  }
}

/** What `::highlight()` calls them. */
const LIT = "sluice-counterpart";

/** The text nodes of an element and their offsets. */
class TextPlaces {
  readonly #nodes: Text[] = [];
  readonly #starts: number[] = [];
  #length = 0;

  constructor(root: Node) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() !== null) {
      const node = walker.currentNode as Text;
      this.#nodes.push(node);
      this.#starts.push(this.#length);
      this.#length += node.length;
    }
  }

  /** The range of a span; null if there is no text. */
  range({ begin, end }: Span): Range | null {
    const from = this.#place(Math.min(begin, this.#length));
    const to = this.#place(Math.min(end, this.#length));
    if (from === null || to === null) return null;
    const range = document.createRange();
    range.setStart(...from);
    range.setEnd(...to);
    return range;
  }

  /** The text offset of a position in a node; null for other nodes. */
  offset(node: Node, within: number): number | null {
    const index = this.#nodes.indexOf(node as Text);
    return index < 0 ? null : (this.#starts[index] ?? 0) + within;
  }

  #place(at: number): [Text, number] | null {
    let index = this.#starts.findIndex((start, place) => start + (this.#nodes[place]?.length ?? 0) >= at);
    if (index < 0) index = this.#nodes.length - 1;
    const node = this.#nodes.at(index);
    return node === undefined ? null : [node, at - (this.#starts[index] ?? 0)];
  }
}

/** The highlighted ranges of one element. All elements share one CSS highlight. */
class LitRanges {
  #ranges: readonly Range[] = [];

  /** Replaces the highlighted ranges. */
  set(ranges: readonly Range[]): void {
    const highlight = shared();
    for (const range of this.#ranges) highlight?.delete(range);
    for (const range of ranges) highlight?.add(range);
    this.#ranges = ranges;
  }
}

function shared(): Highlight | null {
  // Without the API there is no highlight; the focus still moves.
  if (!("highlights" in CSS)) return null;
  const known = CSS.highlights.get(LIT);
  if (known !== undefined) return known;
  const highlight = new Highlight();
  CSS.highlights.set(LIT, highlight);
  return highlight;
}

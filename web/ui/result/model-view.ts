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
    columns: { state: true },
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
      @container (max-width: 340px) {
        .tools .icon {
          display: none;
        }
        .tools button {
          padding-inline: 6px;
        }
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
        display: block;
        line-height: 1.65;
        overflow-wrap: anywhere;
        unicode-bidi: isolate;
        white-space: pre-wrap;
      }
      .whole {
        display: inline-block;
        max-inline-size: 100%;
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
  /** Characters that fit a line. */
  declare protected columns: number;
  declare protected isExact: boolean;
  declare protected shown: number;
  declare protected said: string;

  readonly #lit = new LitRanges();
  #isChosen = false;
  #text = "";
  #sections: readonly Section[] = [];
  /** The sections that are drawn in colour, the last seen at the end. */
  readonly #coloured = new Set<number>();
  #inView: IntersectionObserver | undefined;
  // In the next frame: changing the layout within the observer would notify it again.
  readonly #width = new ResizeObserver(() => requestAnimationFrame(() => this.#measure()));
  /** What is highlighted. */
  #pointed: Pointed | null = null;
  #counterparts = new Counterparts("");
  #places: TextPlaces | undefined;
  #forgetting: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.observation = "";
    this.clamped = "";
    this.heard = undefined;
    this.context = undefined;
    this.columns = 60;
    this.isExact = false;
    this.shown = SHOWN;
    this.said = "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#width.observe(this);
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#forgetting);
    this.#width.disconnect();
    this.#inView?.disconnect();
    this.#inView = undefined;
    this.#lit.set([]);
  }

  /** Highlights something and scrolls to its first range; null removes the highlight. */
  light(pointed: Pointed | null): void {
    this.#pointed = pointed;
    const first = this.#highlight().at(0);
    if (first !== undefined) this.#bringIntoView(first);
  }

  /** Focuses and selects something; false if the text does not show it. */
  async reveal(pointed: Pointed): Promise<boolean> {
    const first = this.#counterparts.of(pointed).at(0);
    if (first === undefined) return false;
    if (first.begin >= this.shown) this.shown = Math.ceil((first.end + 1) / SHOWN) * SHOWN;
    await this.updateComplete;
    this.#colour(this.#sections.flatMap(({ end }, at) => (end > first.begin ? [at] : [])).slice(0, 1));
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
    if (!["observation", "isExact", "shown"].some((name) => changed.has(name))) return;
    if (changed.has("shown") && !changed.has("observation") && !changed.has("isExact")) return this.#divide();
    this.#text = this.isExact ? this.observation : pretty(this.observation);
    this.#counterparts = new Counterparts(this.#text);
    this.shown = SHOWN;
    this.#coloured.clear();
    for (let at = 0; at < MOST_COLOURED; at += 1) this.#coloured.add(at);
    this.#divide();
  }

  #divide(): void {
    this.#sections = sectionsOf(this.#text.slice(0, this.shown));
  }

  protected override updated(changed: PropertyValues): void {
    this.#places = undefined;
    // The nodes of a highlight may be other ones now.
    if (this.#pointed !== null) this.#highlight();
    if (this.#inView === undefined || ["observation", "isExact", "shown"].some((name) => changed.has(name)))
      this.#watch();
  }

  #measure(): void {
    const code = this.renderRoot.querySelector("code");
    const context = document.createElement("canvas").getContext("2d");
    if (code === null || context === null || !this.isConnected) return;
    const { fontSize, fontFamily } = getComputedStyle(code);
    context.font = `${fontSize} ${fontFamily}`;
    this.columns = Math.max(1, Math.floor(code.getBoundingClientRect().width / context.measureText("0").width));
  }

  #highlight(): readonly Range[] {
    const ranges = this.#pointed === null ? [] : this.#rangesOf(this.#counterparts.of(this.#pointed));
    this.#lit.set(ranges);
    return ranges;
  }

  #watch(): void {
    this.#inView?.disconnect();
    this.#inView = undefined;
    if (!this.isConnected) return;
    const root = this.renderRoot.querySelector("pre");
    this.#inView = new IntersectionObserver(
      (entries) => {
        const seen = entries.filter(({ isIntersecting }) => isIntersecting);
        const sections = seen.map(({ target }) => Number((target as HTMLElement).dataset["at"]));
        if (sections.some((at) => !this.#coloured.has(at))) this.#colour(sections);
      },
      { root, rootMargin: "200px" },
    );
    for (const section of this.renderRoot.querySelectorAll(".section")) this.#inView.observe(section);
  }

  protected override render(): TemplateResult {
    const left = this.#text.length - this.shown;
    return html`<div class="tools">
        <button type="button" aria-label="Copy the model's view" @click=${this.#copy}>${icon(copy)} Copy</button>
        <button
          type="button"
          aria-pressed=${this.isExact}
          title="Without line breaks and indentation, as the model gets it"
          @click=${this.#choose}
        >
          Exact
        </button>
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
      ><code>${this.#sections.map((section, at) => this.#section(section, at))}</code></pre>
      ${
        left <= 0
          ? nothing
          : html`<button type="button" @click=${() => (this.shown += SHOWN)}>
              Show more (${left.toLocaleString("en")} characters left)
            </button>`
      }`;
  }

  #section(section: Section, at: number): TemplateResult {
    const isColoured = this.#coloured.has(at);
    const text = this.#text;
    return html`<span class="section" data-at=${at}
      >${isColoured ? coloured(text, section, this.context, this.columns) : shortened(text.slice(section.begin, section.end))}</span
    >`;
  }

  /** Colours what comes into view, in the place of what was seen longest ago. */
  #colour(sections: readonly number[]): void {
    // New nodes would lose what is selected.
    if (getSelection()?.isCollapsed === false && this.matches(":focus-within")) return;
    for (const at of sections) {
      this.#coloured.delete(at);
      this.#coloured.add(at);
    }
    for (const at of this.#coloured) {
      if (this.#coloured.size <= MOST_COLOURED) break;
      if (!sections.includes(at)) this.#coloured.delete(at);
    }
    this.requestUpdate();
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

/** Parts of JSON in a section, and sections that are drawn in colour at a time: a long text stays a few nodes. */
const SECTION = 300;
const MOST_COLOURED = 3;

/** A stretch of a text: drawn in colour while it is in view, plain otherwise. */
interface Section extends Span {
  readonly tokens: readonly JsonToken[];
}

/** JSON text in sections, which end where a token does; other text is one. */
function sectionsOf(text: string): readonly Section[] {
  const sections: Section[] = [];
  let tokens: JsonToken[] = [];
  let begin = 0;
  for (const token of isJson(text) ? jsonTokens(text) : []) {
    tokens.push(token);
    if (tokens.length < SECTION) continue;
    const end = behind(text, token.end);
    sections.push({ begin, end, tokens });
    tokens = [];
    begin = end;
  }
  if (begin < text.length || sections.length === 0) sections.push({ begin, end: text.length, tokens });
  return sections;
}

// A comma or a colon stays in the line of what it follows.
function behind(text: string, at: number): number {
  return /[,:]/.test(text.charAt(at)) ? at + 1 : at;
}

// Colours JSON, shows inline base64 shortened, and makes buttons of references.
function coloured(
  text: string,
  { begin, end, tokens }: Section,
  context: ResultContext | undefined,
  columns: number,
): unknown[] {
  const all: unknown[] = [];
  let at = begin;
  for (const token of tokens) {
    if (token.begin > at) all.push(text.slice(at, token.begin));
    at = behind(text, token.end);
    const part = tokenPart(token, text.slice(token.begin, token.end), context);
    const after = text.slice(token.end, at);
    // A line breaks between tokens and, only where one is longer than a line, within it.
    all.push(
      at - token.begin <= columns ? html`<span class="whole">${part}${after}</span>` : html`${part}${after}<wbr />`,
    );
  }
  all.push(...shortened(text.slice(at, end)));
  return all;
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

function tokenPart({ kind }: JsonToken, text: string, context: ResultContext | undefined): unknown {
  const said = kind === "s" && text.length < 400 ? text.slice(1, -1) : "";
  const id = readReference(said)?.id ?? said;
  const artifact = id === "" ? undefined : context?.artifacts.get(id);
  if (artifact === undefined) return html`<span class=${kind}>${kind === "s" ? shortened(text) : text}</span>`;
  const name = shownName(artifact.filename, "");
  return html`<span
    class="ref"
    role="button"
    tabindex="0"
    data-id=${id}
    data-name=${name}
    title=${`Preview: ${name || id}`}
    >${text}</span
  >`;
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

/**
 * `<sluice-result-model>`: the text that a model gets, indented or exact.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import copy from "lucide-static/icons/copy.svg?raw";
import { icon } from "../icons.js";
import { baseStyles, themeTokens } from "../theme.js";
import { Counterparts, type Pointed } from "./counterparts.js";
import { ColouredText, isJson, type TextLook } from "./coloured-text.js";
import { tokenStyles } from "./json-tokens.js";
import { LARGE } from "../pace.js";
import type { ResultContext } from "./chips.js";
import { prettyLines } from "./pretty.js";

/** Characters shown at once. */
const SHOWN = 200_000;
const MOST_PRETTY_LINES = 20_000;
/** Milliseconds that a confirmation is shown. */
const SAID = 4_000;

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
  #drawn: ColouredText | undefined;
  // In the next frame: changing the layout within the observer would notify it again.
  readonly #width = new ResizeObserver(() => requestAnimationFrame(() => this.#measure()));
  /** What is highlighted. */
  #pointed: Pointed | null = null;
  #counterparts = new Counterparts("");
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
    this.#drawn?.watch();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#forgetting);
    this.#width.disconnect();
    this.#drawn?.unwatch();
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
    this.#drawn?.show(first.begin);
    const range = this.#drawn?.ranges([first]).at(0);
    const area = this.renderRoot.querySelector("pre");
    if (range === undefined || area === null) return false;
    area.focus();
    this.light(pointed);
    getSelection()?.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
    return true;
  }

  protected override willUpdate(changed: PropertyValues): void {
    // A large text is indented only on request.
    if (changed.has("observation") && !this.#isChosen) this.isExact = this.observation.length > LARGE;
    if (!changed.has("observation") && !changed.has("isExact")) return;
    this.#text = this.isExact ? this.observation : pretty(this.observation);
    this.#counterparts = new Counterparts(this.#text);
    this.shown = SHOWN;
  }

  protected override firstUpdated(): void {
    const [area, code] = ["pre", "code"].map((name) => this.renderRoot.querySelector<HTMLElement>(name));
    if (area == null || code == null) return;
    this.#drawn = new ColouredText({
      area,
      code,
      // New nodes would lose what is selected.
      mayRedraw: () => getSelection()?.isCollapsed !== false || !this.matches(":focus-within"),
      // The nodes of a highlight may be other ones now.
      redrawn: () => void (this.#pointed !== null && this.#highlight()),
    });
  }

  protected override updated(changed: PropertyValues): void {
    const look: TextLook = { context: this.context, columns: this.columns };
    if (["observation", "isExact", "shown"].some((name) => changed.has(name)))
      this.#drawn?.draw(this.#text.slice(0, this.shown), look);
    else if (changed.has("context") || changed.has("columns")) this.#drawn?.redraw(look);
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
    const ranges = this.#pointed === null ? [] : (this.#drawn?.ranges(this.#counterparts.of(this.#pointed)) ?? []);
    this.#lit.set(ranges);
    return ranges;
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
      ><code></code></pre>
      ${
        left <= 0
          ? nothing
          : html`<button type="button" @click=${() => (this.shown += SHOWN)}>
              Show more (${left.toLocaleString("en")} characters left)
            </button>`
      }`;
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

  #focusin = (event: Event): void => this.heard?.(findReference(event));

  #open = (event: Event): void => {
    const artifact = this.context?.artifacts.get(findReference(event) ?? "");
    if (artifact !== undefined) this.context?.preview(artifact);
  };

  #keydown = (event: KeyboardEvent): void => {
    if (findReference(event) === null || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    this.#open(event);
  };

  #pointermove = (event: PointerEvent): void => {
    const { heard } = this;
    if (heard === undefined || !("caretPositionFromPoint" in document)) return;
    const options = { shadowRoots: [this.renderRoot as ShadowRoot] };
    const caret = document.caretPositionFromPoint(event.clientX, event.clientY, options);
    const place = caret === null ? null : (this.#drawn?.offset(caret.offsetNode, caret.offset) ?? null);
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

function findReference(event: Event): string | null {
  const [target] = event.composedPath();
  return target instanceof HTMLElement ? (target.dataset["id"] ?? null) : null;
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-model": SluiceResultModel;
  }
}

/** What `::highlight()` calls them. */
const LIT = "sluice-counterpart";

/** The highlighted ranges of one element. All elements share one CSS highlight. */
class LitRanges {
  #ranges: readonly Range[] = [];

  /** Replaces the highlighted ranges. */
  set(ranges: readonly Range[]): void {
    const highlight = findSharedHighlight();
    for (const range of this.#ranges) highlight?.delete(range);
    for (const range of ranges) highlight?.add(range);
    this.#ranges = ranges;
  }
}

function findSharedHighlight(): Highlight | null {
  // Without the API there is no highlight; the focus still moves.
  if (!("highlights" in CSS)) return null;
  const known = CSS.highlights.get(LIT);
  if (known !== undefined) return known;
  const highlight = new Highlight();
  CSS.highlights.set(LIT, highlight);
  return highlight;
}

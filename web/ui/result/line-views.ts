/**
 * The views made of lines: the differences and the raw bytes. Loaded when one of them is first chosen.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { humanSize, SluiceError } from "mcp-sluice";
import { LongList } from "../long-list.js";
import { defineElements } from "../registry.js";
import { baseStyles, themeTokens } from "../theme.js";
import { type DiffLine, diffLines, type DiffLines, MOST_LINES } from "./diff-lines.js";
import type { MarkedText } from "./marked-text.js";
import type { Artifacts } from "./labels.js";
import { RawBytes } from "./raw-bytes.js";

/** Of more lines, those in view are drawn. */
const FEW = 50;
/** The height of a line, in pixels. */
const HEIGHT = 20;

/** Lines of equal height. */
class SluiceResultLines extends LitElement {
  static override properties = {
    count: { attribute: false },
    line: { attribute: false },
    label: { attribute: false },
  };
  static override styles = [
    themeTokens,
    baseStyles,
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
        display: flow-root;
        inline-size: max-content;
        min-inline-size: 100%;
      }
      .line {
        block-size: ${HEIGHT}px;
        line-height: ${HEIGHT}px;
        padding-inline: 10px;
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
  /** The label of the area. */
  declare label: string;

  readonly #long = new LongList(this, { few: FEW, height: HEIGHT, beyond: 10 });

  constructor() {
    super();
    this.count = 0;
    this.line = () => "";
    this.label = "Lines";
  }

  protected override render(): TemplateResult {
    const items = this.#long.items(this.count);
    return html`<div class="area" role="region" tabindex="0" aria-label=${this.label}>
      <div class="all" .style=${this.#long.style}>
        ${repeat(
          items,
          ({ index }) => index,
          ({ index, style }) => html`<div class="line" data-index=${index} .style=${style}>${this.line(index)}</div>`,
        )}
      </div>
    </div>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-lines": SluiceResultLines;
  }
}

const SIGNS: Record<DiffLine["side"], string> = { both: " ", sent: "−", model: "+" };

/** The comparison of both sides. */
class SluiceResultDiff extends LitElement {
  static override properties = {
    sent: { attribute: false },
    observation: { attribute: false },
    artifacts: { attribute: false },
    compared: { state: true },
    isBroken: { state: true },
  };
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      :host {
        display: grid;
        gap: 8px;
      }
      p {
        margin: 0;
      }
    `,
  ];

  /** What was sent. */
  declare sent: MarkedText;
  /** What the model sees. */
  declare observation: string;
  /** Artifacts by their ids. */
  declare artifacts: Artifacts;
  declare protected compared: DiffLines | undefined;
  declare protected isBroken: boolean;

  constructor() {
    super();
    this.sent = { text: "", holes: [] };
    this.observation = "";
    this.artifacts = new Map();
    this.compared = undefined;
    this.isBroken = false;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (["sent", "observation", "artifacts"].some((name) => changed.has(name))) void this.#compare();
  }

  protected override render(): TemplateResult {
    if (this.isBroken)
      return html`<p role="alert">The comparison could not be loaded. Try again when you are online.</p>`;
    const { compared } = this;
    if (compared === undefined) return html`<p class="soft" role="status">Comparing…</p>`;
    const count = (side: DiffLine["side"]): number => compared.lines.filter((each) => each.side === side).length;
    return html`<p class="soft">
        <b>−</b> ${count("sent")} lines only the server sent, <b>+</b> ${count("model")} lines only the model sees.
        ${compared.whole ? nothing : `Only the first ${MOST_LINES.toLocaleString("en")} lines of each side are compared.`}
      </p>
      <sluice-result-lines
        .count=${compared.lines.length}
        .line=${(index: number) => line(compared.lines[index])}
        .label=${"Differences"}
      ></sluice-result-lines>`;
  }

  async #compare(): Promise<void> {
    const { sent, observation } = this;
    this.compared = undefined;
    this.isBroken = false;
    try {
      const compared = await diffLines(sent, observation, this.artifacts);
      if (sent === this.sent && observation === this.observation) this.compared = compared;
    } catch {
      this.isBroken = true;
    }
  }
}

function line(of: DiffLine | undefined): TemplateResult {
  if (of === undefined) return html``;
  const { side, text } = of;
  if (side === "sent") return html`<del class="sent"><b>${SIGNS.sent}</b>${text}</del>`;
  return side === "model"
    ? html`<ins class="model"><b>${SIGNS.model}</b>${text}</ins>`
    : html`<b>${SIGNS.both}</b>${text}`;
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-diff": SluiceResultDiff;
  }
}

/** Opens the original, restored. */
export type RawSource = () => Promise<ReadableStream<Uint8Array>>;

/** The original by lines of 120 bytes. */
class SluiceResultRaw extends LitElement {
  static override properties = {
    raw: { attribute: false },
    state: { state: true },
  };
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      :host {
        display: grid;
        gap: 8px;
      }
      p {
        margin: 0;
      }
    `,
  ];

  /** Opens the original. */
  declare raw: RawSource | undefined;
  declare protected state: "reading" | "read" | Error;

  #bytes = new RawBytes();
  #reading: AbortController | undefined;
  #frame = 0;

  constructor() {
    super();
    this.raw = undefined;
    this.state = "reading";
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#reading?.abort();
    cancelAnimationFrame(this.#frame);
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("raw") && this.raw !== undefined) void this.#read(this.raw);
  }

  protected override render(): TemplateResult {
    const { state } = this;
    if (this.raw === undefined) return html`<p class="soft">The original is not available.</p>`;
    if (state instanceof Error) return html`<p role="alert">${sentence(state)}</p>`;
    const bytes = this.#bytes;
    const said = `${humanSize(bytes.size)}${state === "reading" ? " read…" : ""}`;
    return html`<p class="soft" role="status">${bytes.more ? `The first ${humanSize(bytes.size)} are shown.` : said}</p>
      ${
        bytes.size === 0 && state === "reading"
          ? nothing
          : html`<sluice-result-lines
              .count=${bytes.lines}
              .line=${(index: number) => html`<span class="number">${index + 1}</span>${bytes.line(index)}`}
              .label=${"The original"}
            ></sluice-result-lines>`
      }`;
  }

  async #read(raw: RawSource): Promise<void> {
    this.#reading?.abort();
    const reading = (this.#reading = new AbortController());
    const bytes = (this.#bytes = new RawBytes());
    this.state = "reading";
    try {
      const stream = await raw();
      await bytes.read(stream, () => this.#soon(), reading.signal);
      if (!reading.signal.aborted) this.state = "read";
    } catch (error) {
      if (!reading.signal.aborted) this.state = error instanceof Error ? error : new Error("unknown");
    }
  }

  // Chunks come faster than a screen shows them.
  #soon(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.requestUpdate());
  }
}

// Messages of other errors may reveal internals.
function sentence(error: Error): string {
  return error instanceof SluiceError ? error.message : "The original could not be read.";
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-raw": SluiceResultRaw;
  }
}

/** Defines their elements. */
export function defineLineViews(): void {
  defineElements({
    "sluice-result-lines": SluiceResultLines,
    "sluice-result-diff": SluiceResultDiff,
    "sluice-result-raw": SluiceResultRaw,
  });
}

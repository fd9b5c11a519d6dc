/**
 * `<sluice-meter>`: what a server sent, and what a model sees of it.
 * @module
 */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { humanSize } from "mcp-sluice";
import { defineElements } from "./registry.js";
import { baseStyles, themeTokens } from "./theme.js";

/** How {@link estimateTokens} counts. */
export const TOKEN_ESTIMATOR: string = "bytes of JSON divided by 4";

/** Estimates the tokens of so many bytes of JSON: a quarter, rounded up. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/**
 * What a server sent and what a model reads of it: one sentence with a bar, then tokens, money and what was stored; how they are
 * counted is below that, to be opened.
 *
 * @element sluice-meter
 * @slot price - A choice of prices, in place of the price.
 * @slot estimator - Another way to count, below how it is counted.
 * @csspart sentence - The sentence.
 * @csspart bar - The bar.
 */
export class SluiceMeter extends LitElement {
  /** @hidden */
  static override properties = {
    sent: { type: Number },
    seen: { type: Number },
    decoded: { type: Number },
    unchanged: { type: Boolean },
    contentSent: { type: Number, attribute: "content-sent" },
    contentSeen: { type: Number, attribute: "content-seen" },
    tokensSent: { type: Number, attribute: "tokens-sent" },
    tokensSeen: { type: Number, attribute: "tokens-seen" },
    estimator: { type: String },
    price: { type: Number },
    sender: { type: String },
    file: { type: Boolean },
    failed: { type: Boolean },
    level: { type: Number },
    compact: { type: Boolean, reflect: true },
  };
  /** @hidden */
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      :host {
        display: block;
      }
      p,
      dl,
      dd {
        margin: 0;
      }
      .sentence {
        font-size: var(--size-display);
        font-weight: 600;
        letter-spacing: -0.022em;
        line-height: 1.15;
        margin-block-end: 12px;
        text-wrap: balance;
      }
      .sentence > span {
        display: block;
      }
      .sentence .sent {
        color: var(--sent);
      }
      .sentence .seen {
        color: var(--seen);
      }
      .line {
        color: var(--text-soft);
      }
      .line b {
        color: var(--text);
        font-weight: 600;
      }
      .part {
        white-space: nowrap;
      }
      .facts {
        display: flex;
        flex-wrap: wrap;
        gap: 12px 28px;
        margin-block: 16px 12px;
      }
      .facts > div {
        display: flex;
        flex-direction: column-reverse;
        justify-content: flex-end;
      }
      dt {
        color: var(--text-soft);
        font-size: var(--size-small);
      }
      dd {
        font-size: var(--size-title);
        font-weight: 600;
        white-space: nowrap;
      }
      @media (max-width: 640px) {
        .saved {
          order: 1;
        }
      }
      dd.stored {
        color: var(--stored);
      }
      summary {
        align-content: center;
        color: var(--text-soft);
        cursor: pointer;
        font-size: var(--size-small);
        inline-size: fit-content;
        min-block-size: var(--target);
      }
      details > * + * {
        margin-block-start: 4px;
      }
      .kept {
        color: var(--stored);
        font-weight: 600;
      }
      .grew {
        color: var(--warn);
        font-weight: 600;
      }
      .bar {
        background: var(--sent-soft);
        block-size: 10px;
        border-radius: 5px;
        margin-block: 16px;
        overflow: hidden;
        position: relative;
      }
      .fill {
        background: color-mix(in oklab, var(--sent) 30%, transparent);
        border-radius: 5px;
        inset: 0 auto 0 0;
        position: absolute;
      }
      .fill.something {
        min-inline-size: 4px;
      }
      .fill.model {
        background: var(--seen);
      }
      .bar.grew .fill {
        background: var(--sent);
        z-index: 1;
      }
      .bar.grew .fill.model {
        background: var(--warn);
        z-index: 0;
      }
      small {
        display: block;
        font-size: var(--size-small);
      }
      :host([compact]) {
        display: inline-block;
        max-inline-size: 100%;
        overflow: hidden;
        vertical-align: middle;
      }
      :host([compact]) p {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      @media (max-width: 640px) {
        :host([compact]) .tokens {
          display: none;
        }
      }
      @media (forced-colors: active) {
        .bar {
          border: 1px solid CanvasText;
        }
        .fill {
          background: GrayText;
          forced-color-adjust: none;
        }
        .fill.model {
          background: Highlight;
        }
      }
    `,
  ];

  /** Bytes of JSON that the server sent. Nothing is shown without it. */
  declare sent: number | undefined;
  /** Bytes of JSON that the model sees. */
  declare seen: number | undefined;
  /** Decoded bytes that are stored. */
  declare decoded: number | undefined;
  /** No content was removed: only the JSON around it may differ. */
  declare unchanged: boolean;
  /** Bytes of `sent` that are content, without the JSON around it. */
  declare contentSent: number | undefined;
  /** Bytes of `seen` that are content. */
  declare contentSeen: number | undefined;
  /** Tokens that the server sent. Defaults to an estimate. */
  declare tokensSent: number | undefined;
  /** Tokens that the model sees. Defaults to an estimate. */
  declare tokensSeen: number | undefined;
  /** How the tokens were counted. Defaults to "bytes of JSON divided by 4". */
  declare estimator: string | undefined;
  /** US dollars for a million tokens that a model reads. No money is shown without it. */
  declare price: number | undefined;
  /** Who sent it, as the sentence begins. Defaults to "Your server". */
  declare sender: string | undefined;
  /** It is a file that no server sent: the sentence tells what it would cost, in tokens. */
  declare file: boolean;
  /** The tool failed, and the model reads why. */
  declare failed: boolean;
  /** Makes the sentence a heading of this level, 1 to 6. Defaults to no heading. */
  declare level: number | undefined;
  /** One line without the sentence and the bar. */
  declare compact: boolean;

  constructor() {
    super();
    this.unchanged = false;
    this.file = false;
    this.failed = false;
    this.compact = false;
  }

  protected override render(): TemplateResult {
    const sent = amount(this.sent);
    const seen = amount(this.seen);
    if (sent === undefined || seen === undefined || sent + seen === 0) {
      return html`<p class="soft">No result yet.</p>`;
    }
    const change = compareSizes(sent, seen, this.unchanged);
    if (this.compact) return this.#line(sent, seen, change);
    return html`${this.#sentence(sent, seen, change)}${this.#bar(sent, seen, change)}${this.#facts(sent, seen, change)}
      <details>
        <summary>How this is counted</summary>
        ${this.#line(sent, seen, change)}${this.#notes(sent, seen)}
      </details>`;
  }

  #sentence(sent: number, seen: number, { kind }: Change): TemplateResult {
    const { before, after } = this.#tokens(sent, seen);
    const model = html`<span class="seen">${this.file ? roughly(after) : humanSize(seen)}</span>`;
    const said = this.failed
      ? html`<span>The tool failed.</span> <span>Your model reads why: ${model}.</span>`
      : kind === "unchanged"
        ? html`<span>Your model reads all of it: ${model}${this.file ? " tokens" : ""}.</span>`
        : this.file
          ? html`<span>This file would cost <span class="sent">${roughly(before)} tokens</span>.</span>
              <span>Your model reads ${model}.</span>`
          : html`<span>${this.sender ?? "Your server"} sent <span class="sent">${humanSize(sent)}</span>.</span>
              <span>Your model reads ${model}.</span>`;
    const isHeading = this.level !== undefined;
    return html`<p
      part="sentence"
      class="sentence"
      role=${isHeading ? "heading" : nothing}
      aria-level=${this.level ?? nothing}
    >
      ${said}
    </p>`;
  }

  /** What a person wants to know first: tokens, money, and that nothing is lost. */
  #facts(sent: number, seen: number, { kind }: Change): TemplateResult {
    const { before, after } = this.#tokens(sent, seen);
    const million = this.price ?? 0;
    const stored = amount(this.decoded) ?? 0;
    return html`<dl class="facts">
      <div>
        <dt>tokens</dt>
        <dd>${kind === "unchanged" ? nothing : `≈ ${roughly(before)} → `}≈ ${roughly(after)}</dd>
      </div>
      ${
        this.price === undefined || kind !== "kept"
          ? nothing
          : html`<div class="saved">
              <dt>a call at <slot name="price">$${this.price}</slot> per million</dt>
              <dd>≈ ${dollars((before * million) / 1e6)} → ${remainder(before, after, million)}</dd>
            </div>`
      }
      ${
        stored === 0
          ? nothing
          : html`<div>
              <dt>stored whole, nothing lost</dt>
              <dd class="stored">${humanSize(stored)}</dd>
            </div>`
      }
    </dl>`;
  }

  /** Its signs are not read aloud: the same is told in words, by the bar or where there is none by the line. */
  #line(sent: number, seen: number, change: Change): TemplateResult {
    const size = this.compact ? humanSize : exact;
    const { before, after } = this.#tokens(sent, seen);
    // Two sizes would say that something was taken out.
    const isWhole = change.kind === "unchanged";
    return html`<p
      class="line"
      role=${this.compact ? "img" : nothing}
      aria-label=${this.compact ? this.#describe(sent, seen, change) : nothing}
    >
      <span class="part" aria-hidden="true">${isWhole ? nothing : `${size(sent)} → `}<b>${size(seen)}</b></span>
      <span class="tokens" aria-hidden="true"
        >·
        <span class="part"
          >${isWhole ? nothing : `≈ ${roughly(before)} → `}≈ <b>${roughly(after)}</b> tokens</span
        ></span
      >
      <span aria-hidden="true">· <span class="part ${change.kind}">${change.words}</span></span>
    </p>`;
  }

  #tokens(sent: number, seen: number): { readonly before: number; readonly after: number } {
    return {
      before: amount(this.tokensSent) ?? estimateTokens(sent),
      after: amount(this.tokensSeen) ?? estimateTokens(seen),
    };
  }

  #describe(sent: number, seen: number, { kind, words }: Change): string {
    const { before, after } = this.#tokens(sent, seen);
    if (kind === "unchanged") return `The model sees ${exact(seen)}: ${words}. About ${roughly(after)} tokens.`;
    const tokens = `About ${roughly(before)} tokens became about ${roughly(after)}.`;
    return `The server sent ${exact(sent)}, the model sees ${exact(seen)}: ${words}. ${tokens}`;
  }

  #bar(sent: number, seen: number, change: Change): TemplateResult | typeof nothing {
    if (change.kind === "unchanged") return nothing;
    const most = Math.max(sent, seen);
    return html`<div part="bar" class="bar ${change.kind}" role="img" aria-label=${this.#describe(sent, seen, change)}>
      ${fill(sent / most, "")}${fill(seen / most, "model")}
    </div>`;
  }

  #notes(sent: number, seen: number): TemplateResult {
    const [decoded, contentSent, contentSeen] = [this.decoded, this.contentSent, this.contentSeen].map(amount);
    const counted = [this.tokensSent, this.tokensSeen].map(amount);
    const [before, after] = counted.map((count) => count?.toLocaleString("en"));
    const isCounted = before !== undefined && after !== undefined;
    return html`<small class="soft">
      ${
        decoded === undefined || decoded === 0
          ? nothing
          : html`<span class="decoded">Stored: ${exact(decoded)} decoded; the sizes above are bytes of JSON.</span>`
      }
      ${
        contentSent === undefined || contentSeen === undefined
          ? nothing
          : html`<span class="around"
              >The JSON around the content: ${exact(Math.max(0, sent - contentSent))} sent,
              ${exact(Math.max(0, seen - contentSeen))} seen.</span
            >`
      }
      <span class="estimator"
        >${isCounted ? `${before} tokens sent, ${after} seen` : "Tokens, estimated"}:
        ${this.estimator ?? TOKEN_ESTIMATOR}.</span
      >
      <slot name="estimator"></slot>
    </small>`;
  }
}

/** What became of the bytes of a result, and the words for it. */
export interface Change {
  readonly kind: "kept" | "unchanged" | "grew";
  readonly words: string;
}

/** Compares what a server sent with what a model sees, in bytes of JSON. Never overstates what was kept out. */
export function compareSizes(sent: number, seen: number, isUnchanged = false): Change {
  if (isUnchanged) return { kind: "unchanged", words: "unchanged" };
  if (seen > sent) return { kind: "grew", words: `grew by ${exact(seen - sent)}` };
  if (seen === sent) return { kind: "unchanged", words: "nothing kept out" };
  // Truncated, not rounded: 100 % only if nothing got through.
  const hundredths = Number((BigInt(sent - seen) * 10_000n) / BigInt(sent));
  const percent = hundredths === 0 ? "less than 0.01" : String(hundredths / 100);
  return { kind: "kept", words: `${percent} % kept out` };
}

function fill(share: number, kind: string): TemplateResult {
  // Set as a property: a content security policy may forbid the attribute.
  const width = `inline-size: ${(share * 100).toFixed(3)}%`;
  return html`<div class="fill ${kind} ${share > 0 ? "something" : ""}" .style=${width}></div>`;
}

/** Two digits that count: `$4.20`, `$0.043`, `$0.00008`. */
function dollars(sum: number): string {
  if (sum >= 1) return `$${sum.toFixed(2)}`;
  return `$${sum === 0 ? "0" : sum.toFixed(Math.min(8, 1 - Math.floor(Math.log10(sum))))}`;
}

/** What is left of a price: nothing, where it is less than a thousandth. */
function remainder(before: number, after: number, million: number): string {
  return after * 1000 < before ? "$0" : dollars((after * million) / 1e6);
}

const UNITS = ["", " k", " M", " G", " T"];

/** Two digits of a number, and tens below 100: `80`, `310`, `12 k`, `1.4 M`. */
function roughly(count: number): string {
  if (count < 10) return String(Math.ceil(count));
  if (count < 100) return String(Math.round(count / 10) * 10);
  const rounded = Number(count.toPrecision(2));
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log10(rounded) / 3));
  const value = rounded / 1000 ** unit;
  return `${unit > 0 && value < 10 ? value.toFixed(1) : String(value)}${UNITS[unit] ?? ""}`;
}

function exact(bytes: number): string {
  return `${bytes.toLocaleString("en")} B`;
}

function amount(value: number | undefined): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? value : undefined;
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-meter": SluiceMeter;
  }
}

defineElements({ "sluice-meter": SluiceMeter });

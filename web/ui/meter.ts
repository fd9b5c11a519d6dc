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
 * Bytes of JSON that came in, bytes that a model sees, and the same in tokens. Shows `5,592,990 B → 312 B · ≈ 1.4 M → ≈ 80 tokens ·
 * 99.99 % kept out`, with a bar for each.
 */
export class SluiceMeter extends LitElement {
  /** @hidden */
  static override properties = {
    sent: { type: Number },
    seen: { type: Number },
    decoded: { type: Number },
    tokensSent: { type: Number, attribute: "tokens-sent" },
    tokensSeen: { type: Number, attribute: "tokens-seen" },
    estimator: { type: String },
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
      p {
        margin: 0;
      }
      .part {
        white-space: nowrap;
      }
      .kept {
        color: var(--good);
        font-weight: 600;
      }
      .grew {
        color: var(--warn);
        font-weight: 600;
      }
      .bars {
        display: grid;
        gap: 4px 8px;
        grid-template-columns: auto minmax(0, 1fr);
        margin-block: 6px;
      }
      .track {
        align-self: center;
        background: var(--surface-sunken);
        block-size: 10px;
        border-radius: 5px;
        overflow: hidden;
      }
      .fill {
        background: var(--line-strong);
        block-size: 100%;
        border-radius: 5px;
      }
      .fill.something {
        min-inline-size: 2px;
      }
      .fill.model {
        background: var(--accent);
      }
      small {
        display: block;
        font-size: 0.9em;
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
        .track {
          border: 1px solid CanvasText;
        }
        .fill {
          background: CanvasText;
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
  /** Tokens that the server sent. Defaults to an estimate. */
  declare tokensSent: number | undefined;
  /** Tokens that the model sees. Defaults to an estimate. */
  declare tokensSeen: number | undefined;
  /** How the tokens were counted. Defaults to "bytes of JSON divided by 4". */
  declare estimator: string | undefined;
  /** One line without bars, for a top bar. */
  declare compact: boolean;

  constructor() {
    super();
    this.compact = false;
  }

  protected override render(): TemplateResult {
    const sent = amount(this.sent);
    const seen = amount(this.seen);
    if (sent === undefined || seen === undefined || sent + seen === 0) {
      return html`<p class="soft">No result yet.</p>`;
    }
    const change = changed(sent, seen);
    const size = this.compact ? humanSize : exact;
    const before = amount(this.tokensSent) ?? estimateTokens(sent);
    const after = amount(this.tokensSeen) ?? estimateTokens(seen);
    const line = html`<p class="line">
      <span class="part">${size(sent)} → ${size(seen)}</span>
      <span class="tokens">· <span class="part">≈ ${roughly(before)} → ≈ ${roughly(after)} tokens</span></span>
      · <span class="part ${change.isGrowth ? "grew" : "kept"}">${change.words}</span>
    </p>`;
    return this.compact ? line : html`${line}${this.#bars(sent, seen, change.words)}${this.#notes()}`;
  }

  #bars(sent: number, seen: number, words: string): TemplateResult {
    const most = Math.max(sent, seen);
    const sentence = `The server sent ${exact(sent)}, the model sees ${exact(seen)}: ${words}.`;
    return html`<div class="bars" role="img" aria-label=${sentence}>
      <span class="soft">Server sent</span>${bar(sent / most, "")}
      <span class="soft">Model sees</span>${bar(seen / most, "model")}
    </div>`;
  }

  #notes(): TemplateResult {
    const decoded = amount(this.decoded);
    return html`<small class="soft">
      ${
        decoded === undefined || decoded === 0
          ? nothing
          : html`<span class="decoded">Stored: ${exact(decoded)} decoded; the sizes above are bytes of JSON.</span>`
      }
      <span class="estimator">≈ tokens: ${this.estimator ?? TOKEN_ESTIMATOR}.</span>
    </small>`;
  }
}

function bar(share: number, kind: string): TemplateResult {
  // Set as a property: a content security policy may forbid the attribute.
  const width = `inline-size: ${(share * 100).toFixed(3)}%`;
  return html`<span class="track"
    ><div class="fill ${kind} ${share > 0 ? "something" : ""}" .style=${width}></div
  ></span>`;
}

/** How much was kept out, in words that never overstate it. */
function changed(sent: number, seen: number): { readonly words: string; readonly isGrowth: boolean } {
  if (seen > sent) return { words: `grew by ${exact(seen - sent)}`, isGrowth: true };
  if (seen === sent) return { words: "nothing kept out", isGrowth: false };
  // Truncated, not rounded: 100 % only if nothing got through.
  const hundredths = Number((BigInt(sent - seen) * 10_000n) / BigInt(sent));
  const percent = hundredths === 0 ? "less than 0.01" : String(hundredths / 100);
  return { words: `${percent} % kept out`, isGrowth: false };
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

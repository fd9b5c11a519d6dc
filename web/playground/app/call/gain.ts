/**
 * What a result saves: in the list of calls, above the result, and in money.
 * @module
 */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { type Change, compareSizes } from "../../../ui/meter.js";
import type { CountedTokens, Outcome, ShownResult } from "../../engine/messages.js";
import { remember, readRemembered } from "../browser.js";
import { AS_OF, PRICES } from "../prices.js";
import { countStoredBytes } from "../state.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

/** What became of the bytes of a result, in the words that every part of the page uses. */
export function measureGain(result: ShownResult): Change {
  return compareSizes(result.bytesIn, result.bytesOut, isUnchanged(result));
}

/** Whether nothing was taken out of a result: the model reads all of its content. */
function isUnchanged({ artifacts, clamped, failures }: ShownResult): boolean {
  return artifacts.length === 0 && !clamped && failures.length === 0;
}

/** Characters of JSON that are read to tell content from what is around it. */
const MAX_READ = 1_000_000;

/** Keys of a block whose values are content. */
const PAYLOADS: ReadonlySet<string> = new Set(["text", "data", "blob", "summary", "artifact"]);

/**
 * Bytes of a result, or of what a model sees of it, that are content: all but the JSON around it. Undefined if the text is too
 * long to tell. `bytes` are those of the whole.
 */
export function contentBytes(text: string, bytes: number): number | undefined {
  if (text.length > MAX_READ) return undefined;
  const result = parseJson(text);
  if (typeof result !== "object" || result === null || !("content" in result)) return bytes;
  const { _meta: _, structuredContent, content, ...rest } = result as Readonly<Record<string, unknown>>;
  const blocks = Array.isArray(content) ? content.map(emptyBlock) : "";
  const around = { content: blocks, ...rest, ...(structuredContent !== undefined && { structuredContent: "" }) };
  return Math.max(0, bytes - new TextEncoder().encode(JSON.stringify(around)).length);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function emptyBlock(block: unknown): unknown {
  if (typeof block !== "object" || block === null) return "";
  const around: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(block)) {
    around[key] = PAYLOADS.has(key) ? "" : key === "resource" ? emptyBlock(value) : value;
  }
  return around;
}

/** The price that is chosen first. */
const [{ dollars: USUAL }] = PRICES;

/** `<playground-gain>`: the meter of a result, with a price that the visitor may edit. */
class Gain extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    result: { attribute: false },
    server: { attribute: false },
    isHeadline: { attribute: false },
    price: { state: true },
    counted: { state: true },
    problem: { state: true },
    isCounting: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      .price {
        align-items: center;
        display: inline-flex;
        gap: 4px;
      }
      .price select,
      .price input {
        /* A line below the words, however high a finger needs the field to be. */
        background: repeating-linear-gradient(to right, var(--text-soft) 0 1px, transparent 1px 3px) 0
          calc(50% + 10px) / 100% 1px no-repeat;
        border: 0;
        border-radius: 0;
        field-sizing: content;
        inline-size: auto;
        max-inline-size: min(220px, 44vw);
        min-block-size: 24px;
        padding: 0 2px;
      }
      .price input {
        inline-size: 72px;
      }
      .count {
        background: none;
        border: 0;
        font-size: var(--size-small);
        min-block-size: 24px;
        padding: 0;
        text-decoration: underline dotted;
      }
      @media (pointer: coarse), (max-width: 640px) {
        .price select,
        .price input,
        .count {
          min-block-size: var(--target);
        }
      }
    `,
  ];

  declare result: ShownResult;
  /** The name of the server that sent it. */
  declare server: string;
  /** Whether its sentence is the heading of the view. */
  declare isHeadline: boolean;
  declare price: number;
  declare counted: CountedTokens | undefined;
  declare problem: string;
  declare isCounting: boolean;

  constructor() {
    super();
    this.isHeadline = false;
    this.counted = undefined;
    this.problem = "";
    this.isCounting = false;
    const known = readRemembered<number>("price");
    this.price = isPrice(known) ? known : USUAL;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("result")) return;
    this.counted = undefined;
    this.problem = "";
    this.isCounting = false;
    void this.#show(this.actions.counts.get(this.result));
  }

  override render(): TemplateResult {
    const { result, price, counted } = this;
    return html`<sluice-meter
      .sent=${result.bytesIn}
      .seen=${result.bytesOut}
      .decoded=${result.failures.length === 0 ? countStoredBytes(result) : undefined}
      .sender=${nameSender(this.server)}
      .file=${this.server === DROPPED}
      .failed=${result.isError}
      .level=${this.isHeadline ? 1 : undefined}
      .unchanged=${isUnchanged(result)}
      .contentSent=${contentBytes(result.reduced, result.bytesIn)}
      .contentSeen=${contentBytes(result.observation, result.bytesOut)}
      .price=${price}
      .tokensSent=${counted?.sent}
      .tokensSeen=${counted?.seen}
      .estimator=${counted?.by}
      >${measureGain(result).kind === "kept" ? this.#prices() : nothing}${counted === undefined ? this.#count() : nothing}</sluice-meter
    >`;
  }

  #count(): TemplateResult {
    return html`<span slot="estimator"
      ><button class="count" ?disabled=${this.isCounting} @click=${this.#countThem}>
        ${this.isCounting ? "Counting…" : "Count the tokens"}
      </button>
      <span role="status">${this.problem}</span></span
    >`;
  }

  #countThem(): void {
    const { result, actions } = this;
    const counting = actions.engine.tokens(result.id);
    actions.counts.set(result, counting);
    void this.#show(counting);
  }

  /** Shows what is counted of the result, at once or when it is known. */
  async #show(counting: Promise<Outcome<CountedTokens>> | undefined): Promise<void> {
    if (counting === undefined) return;
    const { result } = this;
    this.isCounting = true;
    const outcome = await counting;
    if (this.result !== result) return;
    this.isCounting = false;
    if (outcome.ok) this.counted = outcome.value;
    else this.problem = outcome.problem.message;
  }

  #prices(): TemplateResult {
    const isListed = PRICES.some(({ dollars }) => dollars === this.price);
    return html`<span class="price" slot="price"
      ><select
        aria-label="Price of a million tokens"
        @change=${(event: Event) => this.#choose((event.target as HTMLSelectElement).value)}
      >
        ${PRICES.map(
          ({ dollars, model }) =>
            html`<option value=${dollars} .selected=${dollars === this.price}>$${dollars} · ${model}</option>`,
        )}
        <option value="" .selected=${!isListed}>your price</option></select
      >${
        isListed
          ? nothing
          : html`<input
              type="number"
              min="0"
              step="any"
              aria-label="US dollars for a million tokens"
              .value=${String(this.price)}
              @change=${(event: Event) => this.#choose((event.target as HTMLInputElement).value)}
            />`
      }${isListed ? html`<span>(${AS_OF})</span>` : nothing}</span
    >`;
  }

  /** Takes a price; nothing in its place opens the field for another one. */
  #choose(value: string): void {
    const price = value === "" ? OWN : Number(value);
    if (!isPrice(price)) return this.requestUpdate();
    this.price = price;
    remember("price", price);
  }
}

/** The server of what was dropped. */
const DROPPED = "dropped";

/** How the sentence calls a server: the servers of the page itself are not the visitor's. */
function nameSender(server: string): string {
  return server === "demo" || server === "files" ? "The demo server" : "Your server";
}

/** What the field for another price begins with. */
const OWN = 2.5;

function isPrice(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= 10_000;
}

customElements.define("playground-gain", Gain);

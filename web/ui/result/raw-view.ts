/**
 * `<sluice-result-raw>`: the bytes that a server sent, as far as they are held.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { humanSize, SluiceError } from "mcp-sluice";
import { base, tokens } from "../theme.js";
import { RawBytes } from "./raw-bytes.js";

/** Opens the original, restored. */
export type RawSource = () => Promise<ReadableStream<Uint8Array>>;

/** The original by lines of 120 bytes. */
export class SluiceResultRaw extends LitElement {
  static override properties = {
    raw: { attribute: false },
    state: { state: true },
  };
  static override styles = [
    tokens,
    base,
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

  /** Where the original comes from; left out, there is none to show. */
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
    if (this.raw === undefined) return html`<p class="soft">The original is not at hand.</p>`;
    if (state instanceof Error) return html`<p role="alert">${sentence(state)}</p>`;
    const bytes = this.#bytes;
    const said = `${humanSize(bytes.size)}${state === "reading" ? " read…" : ""}`;
    return html`<p class="soft" role="status">${bytes.more ? `The first ${humanSize(bytes.size)} of it.` : said}</p>
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

// What other errors say may name places that are nobody's business.
function sentence(error: Error): string {
  return error instanceof SluiceError ? error.message : "The original could not be read.";
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-raw": SluiceResultRaw;
  }
}

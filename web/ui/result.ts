/**
 * `<sluice-result>`: what a server sent beside what the model sees of it.
 * @module
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { type Clamp, humanSize } from "mcp-sluice";
import { type Blocks, readLarge, rebuilt, type Rebuilt } from "./result/blocks.js";
import { findPointed, type ResultContext } from "./result/chips.js";
import { Counterparts, type Pointed, type Span } from "./result/counterparts.js";
import { namesPlace, splitSteps } from "./result/labels.js";
import type { MarkedText } from "./result/marked-text.js";
import { SluiceResultModel } from "./result/model-view.js";
import { LARGE } from "./pace.js";
import type { RawSource } from "./result/line-views.js";
import { resultStyles } from "./result/styles.js";
import { SluiceResultRule } from "./result/rule.js";
import { SluiceResultSent } from "./result/sent-view.js";
import { defineElements } from "./registry.js";
import type { ArtifactBytes, ShownArtifact } from "./shown.js";

/** Both sides, one of them, their differences, or the original's bytes. */
type ResultView = "split" | "sent" | "model" | "diff" | "raw";

/** Pixels below which only one side is shown. */
const NARROW = 560;

/**
 * A result in two columns. Pointing at a block, or focusing it, highlights its counterpart in the other column.
 *
 * @element sluice-result
 * @fires {CustomEvent<ShownArtifact>} sluice-preview - Show the preview of an artifact. Its cards dispatch the other events of `sluice-artifact`, too.
 * @fires {CustomEvent<ResultView>} sluice-view - Another view was chosen.
 * @csspart views - The choice of views.
 * @csspart sent - What the server sent.
 * @csspart model - What the model sees.
 */
export class SluiceResult extends LitElement {
  /** @hidden */
  static override properties = {
    reduced: { attribute: false },
    refs: { attribute: false },
    observation: { attribute: false },
    artifacts: { attribute: false },
    bytesIn: { attribute: false },
    bytesOut: { attribute: false },
    clamped: { attribute: false },
    fields: { attribute: false },
    raw: { attribute: false },
    bytes: { attribute: false },
    view: { type: String },
    isNarrow: { state: true },
    side: { state: true },
    lit: { state: true },
    said: { state: true },
  };
  /** @hidden */
  static override styles = resultStyles;

  /** The result in the `mcp` dialect, as JSON text. */
  declare reduced: string;
  /** Its list of edits as JSON text, for a result without `_meta`. */
  declare refs: string | undefined;
  /** The text that the model gets. */
  declare observation: string;
  /** The artifacts that were stored. */
  declare artifacts: readonly ShownArtifact[];
  /** Bytes of JSON that the server sent. */
  declare bytesIn: number | undefined;
  /** Bytes of JSON that the model gets. */
  declare bytesOut: number | undefined;
  /** What the guardrail cut. */
  declare clamped: ResultClamp;
  /** Paths that the configuration names for the tool (`tool_fields`). */
  declare fields: readonly string[];
  /** Opens the restored original for the raw view. */
  declare raw: RawSource | undefined;
  /** The bytes of an artifact, for its picture; without it, or where it gives none, there is an icon. */
  declare bytes: ((artifact: ShownArtifact) => ArtifactBytes | undefined) | undefined;
  /** The current view; `sent` and `model` show one side at any width. */
  declare view: ResultView;
  declare protected isNarrow: boolean;
  declare protected side: "sent" | "model";
  declare protected lit: string | null;
  declare protected said: string;

  #sent: MarkedText = { text: "", holes: [] };
  #blocks: Blocks | undefined;
  #building: Promise<void> = Promise.resolve();
  #reading: AbortController | undefined;
  #problem: string | null = null;
  #counterparts = new Counterparts("");
  #context: ResultContext | undefined;
  // In the next frame: changing the layout within the observer would notify it again.
  readonly #width = new ResizeObserver((entries) => {
    const width = entries.at(-1)?.contentRect.width ?? NARROW;
    requestAnimationFrame(() => (this.isNarrow = width < NARROW));
  });

  constructor() {
    super();
    this.reduced = "";
    this.refs = undefined;
    this.observation = "";
    this.artifacts = [];
    this.bytesIn = undefined;
    this.bytesOut = undefined;
    this.clamped = false;
    this.fields = [];
    this.raw = undefined;
    this.bytes = undefined;
    this.view = "split";
    this.isNarrow = false;
    this.side = "sent";
    this.lit = null;
    this.said = "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.isNarrow = this.clientWidth > 0 && this.clientWidth < NARROW;
    this.#width.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#width.disconnect();
  }

  protected override async getUpdateComplete(): Promise<boolean> {
    await super.getUpdateComplete();
    await this.#building;
    return super.getUpdateComplete();
  }

  protected override willUpdate(changed: PropertyValues): void {
    const has = (...names: string[]): boolean => names.some((name) => changed.has(name));
    if (has("reduced", "refs")) this.#rebuild();
    if (has("observation")) this.#counterparts = new Counterparts(this.observation);
    if (has("observation", "artifacts", "fields")) this.#context = this.#toContext();
    if (has("reduced", "observation")) this.lit = null;
    if (has("view") && (this.view === "sent" || this.view === "model")) this.side = this.view;
  }

  protected override render(): TemplateResult {
    const shown = this.#shown;
    const choices = this.#choices;
    return html`<div part="views" class="bar">
        ${renderSegments("view", "View", choices, shown, (view) => this.#choose(view))}
        <span class="unseen" role="status">${this.said}</span>
      </div>
      ${this.#problem === null ? nothing : html`<p class="problem" role="alert">${this.#problem}</p>`}
      ${shown === "diff" ? this.#diff() : shown === "raw" ? this.#raw() : this.#columns(shown)}`;
  }

  get #oneSided(): boolean {
    return this.isNarrow || this.view === "sent" || this.view === "model";
  }

  get #shown(): ResultView {
    return this.view === "diff" || this.view === "raw" || !this.#oneSided ? this.view : this.side;
  }

  get #choices(): readonly (readonly [ResultView, string])[] {
    const split = ["split", "Split"] as const;
    const sides = [["sent", "Server sent"] as const, ["model", "Model sees"] as const];
    const rest = [["diff", "Diff"] as const, ["raw", "Raw"] as const];
    if (this.isNarrow) return [...sides, ...rest];
    return this.#oneSided ? [split, ...sides, ...rest] : [split, ...rest];
  }

  #columns(shown: ResultView): TemplateResult {
    return html`<div class="columns ${shown}">
      ${shown === "model" ? nothing : this.#renderSentColumn()} ${shown === "sent" ? nothing : this.#modelColumn()}
    </div>`;
  }

  #renderSentColumn(): TemplateResult {
    return html`<section
      part="sent"
      aria-label="Server sent"
      @pointerover=${this.#point}
      @pointerleave=${this.#point}
      @focusin=${this.#point}
    >
      <h3>Server sent ${amountWords(this.bytesIn)}</h3>
      <div class="scroll" role="region" aria-label="Blocks" tabindex="0">
        ${
          this.#blocks === undefined
            ? html`<span class="soft" role="status">Reading…</span>`
            : html`<sluice-result-sent
                .blocks=${this.#blocks}
                .context=${this.#context}
                .lit=${this.lit}
              ></sluice-result-sent>`
        }
      </div>
    </section>`;
  }

  #modelColumn(): TemplateResult {
    return html`<section part="model" aria-label="Model sees">
      <h3>Model sees ${amountWords(this.bytesOut)}</h3>
      <sluice-result-model
        headed
        .context=${this.#context}
        .observation=${this.observation}
        .clamped=${clampWords(this.clamped)}
        .heard=${(id: string | null) => (this.lit = id)}
      ></sluice-result-model>
    </section>`;
  }

  #diff(): TemplateResult {
    loadLineViews();
    return html`<sluice-result-diff
      .sent=${this.#sent}
      .observation=${this.observation}
      .artifacts=${this.#context?.artifacts}
    ></sluice-result-diff>`;
  }

  #raw(): TemplateResult {
    loadLineViews();
    return html`<sluice-result-raw .raw=${this.raw}></sluice-result-raw>`;
  }

  #choose(view: ResultView): void {
    if (this.isNarrow && (view === "sent" || view === "model")) {
      this.side = view;
      this.view = "split";
    } else {
      this.view = view;
    }
    this.dispatchEvent(new CustomEvent("sluice-view", { detail: view, bubbles: true, composed: true }));
  }

  // A large result is read in parts, so that the page stays responsive.
  #rebuild(): void {
    const { reduced, refs } = this;
    this.#reading?.abort();
    this.#blocks = undefined;
    if (reduced.length <= LARGE) return this.#take(rebuilt(reduced, refs));
    const reading = (this.#reading = new AbortController());
    this.#building = readLarge(reduced, refs, reading.signal).then((read) => {
      if (read !== null) this.#take(read);
      return this.requestUpdate();
    });
  }

  #take({ sent, blocks, problem }: Rebuilt): void {
    this.#sent = sent;
    this.#blocks = blocks;
    this.#problem = problem;
  }

  #toContext(): ResultContext {
    const steps = this.fields.map(splitSteps);
    return {
      artifacts: new Map(this.artifacts.map((artifact) => [artifact.id, artifact])),
      bytes: (artifact) => this.bytes?.(artifact),
      configured: (path) => steps.some((field) => namesPlace(field, path)),
      whereabouts: (pointed) => placeWords(this.#counterparts.of(pointed)),
      reveal: (pointed) => void this.#reveal(pointed),
      point: (pointed) => this.#model?.light(pointed),
      preview: (detail) =>
        this.dispatchEvent(new CustomEvent("sluice-preview", { detail, bubbles: true, composed: true })),
    };
  }

  async #reveal(pointed: Pointed): Promise<void> {
    if (this.#oneSided) {
      this.side = "model";
      if (this.view === "sent") this.view = "model";
      await this.updateComplete;
    }
    const shown = (await this.#model?.reveal(pointed)) ?? false;
    this.said = shown ? `Shown at ${placeWords(this.#counterparts.of(pointed))}.` : "The model does not see it.";
  }

  get #model(): HTMLElementTagNameMap["sluice-result-model"] | null {
    return this.renderRoot.querySelector("sluice-result-model");
  }

  #point = (event: Event): void => {
    this.#model?.light(event.type === "pointerleave" ? null : findPointed(event));
  };
}

/** Loads the lazy views; existing elements are upgraded then. */
function loadLineViews(): void {
  void import("./result/line-views.js").then(({ defineLineViews }) => defineLineViews());
}

defineElements({
  "sluice-result-rule": SluiceResultRule,
  "sluice-result-sent": SluiceResultSent,
  "sluice-result-model": SluiceResultModel,
  "sluice-result": SluiceResult,
});

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result": SluiceResult;
  }
  interface HTMLElementEventMap {
    "sluice-view": CustomEvent<ResultView>;
  }
}

/** A segmented control of radio buttons. `name` must be unique in its tree. */
function renderSegments<T extends string>(
  name: string,
  label: string,
  choices: readonly (readonly [T, string])[],
  chosen: T,
  choose: (choice: T) => void,
): TemplateResult {
  return html`<div class="segmented" role="radiogroup" aria-label=${label}>
    ${choices.map(
      ([choice, words]) =>
        html`<label
          ><input
            type="radio"
            name=${name}
            value=${choice}
            .checked=${live(choice === chosen)}
            @change=${() => choose(choice)}
          /><span>${words}</span></label
        >`,
    )}
  </div>`;
}

/** What the guardrail cut: the lengths before and after in characters, or only that it did. */
type ResultClamp = boolean | Pick<Clamp, "originalChars" | "clampedChars">;

/** Where ranges are, for example `characters 12 to 80, and 1 more`; null if there are none. */
function placeWords(spans: readonly Span[]): string | null {
  const first = spans.at(0);
  if (first === undefined) return null;
  const others = spans.length === 1 ? "" : `, and ${spans.length - 1} more`;
  return `characters ${(first.begin + 1).toLocaleString("en")} to ${first.end.toLocaleString("en")}${others}`;
}

/** A size beside a heading; nothing if it is unknown. */
function amountWords(bytes: number | undefined): TemplateResult | typeof nothing {
  return bytes === undefined ? nothing : html`<span class="soft">${humanSize(bytes)}</span>`;
}

/** What the guardrail did; empty if nothing. */
function clampWords(clamped: ResultClamp): string {
  if (clamped === false) return "";
  if (clamped === true) return "The guardrail cut it.";
  const [before, after] = [clamped.originalChars, clamped.clampedChars].map((chars) => chars.toLocaleString("en"));
  return `The guardrail cut it from ${before} to ${after} characters.`;
}

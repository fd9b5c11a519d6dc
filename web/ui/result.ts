/**
 * `<sluice-result>`: what a server sent beside what the model sees of it.
 * @module
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { Blocks } from "./result/blocks.js";
import { pointedBy, type SentContext } from "./result/context.js";
import { Counterparts, type Pointed } from "./result/counterparts.js";
import { namesPlace, stepsOf } from "./result/fields.js";
import type { MarkedText } from "./result/marked-text.js";
import { SluiceResultModel } from "./result/model-view.js";
import { LARGE } from "./result/pause.js";
import { readLarge, rebuilt, type Rebuilt } from "./result/rebuilt.js";
import type { RawSource } from "./result/raw-view.js";
import { resultStyles } from "./result/result-styles.js";
import { segmented } from "./result/segmented.js";
import { SluiceResultSent } from "./result/sent-view.js";
import { amountWords, clampWords, placeWords, type ResultClamp } from "./result/captions.js";
import { SluiceResultTree } from "./result/tree.js";
import type { ShownArtifact } from "./shown.js";

/** Both sides, one of them, their differences, or the original's bytes. */
export type ResultView = "split" | "sent" | "model" | "diff" | "raw";

/** Narrower than this, in pixels, there is room for one side. */
const NARROW = 700;

/**
 * A result in two columns. Pointing at a block, or moving the focus there, lights where the model sees it, and the other way
 * round. Dispatches `sluice-preview` with the artifact when a chip's preview is asked for, and `sluice-view` with the view that
 * somebody chose.
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
  /** Its list of edits as JSON text, for a result that has no `_meta` to carry it. */
  declare refs: string | undefined;
  /** The text that the model gets. */
  declare observation: string;
  /** The artifacts that were taken out. */
  declare artifacts: readonly ShownArtifact[];
  /** Bytes of JSON that the server sent. */
  declare bytesIn: number | undefined;
  /** Bytes of JSON that the model gets. */
  declare bytesOut: number | undefined;
  /** What the guardrail cut. */
  declare clamped: ResultClamp;
  /** Paths that the configuration names for the tool (`tool_fields`). */
  declare fields: readonly string[];
  /** Opens the original, restored; without it there is nothing raw to show. */
  declare raw: RawSource | undefined;
  /** What is shown; `sent` and `model` prefer one side at any width. */
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
  #context: SentContext | undefined;
  // What is drawn for another width is of another size: not while sizes are being told.
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
    if (has("observation", "artifacts", "fields")) this.#context = this.#contextOf();
    if (has("reduced", "observation")) this.lit = null;
    if (has("view") && (this.view === "sent" || this.view === "model")) this.side = this.view;
  }

  protected override render(): TemplateResult {
    const shown = this.#shown;
    const choices = this.#choices;
    return html`<div class="bar">
        ${segmented("view", "View", choices, shown, (view) => this.#choose(view))}
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
      ${shown === "model" ? nothing : this.#sentColumn()} ${shown === "sent" ? nothing : this.#modelColumn()}
    </div>`;
  }

  #sentColumn(): TemplateResult {
    return html`<section
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
    return html`<section aria-label="Model sees">
      <h3>Model sees ${amountWords(this.bytesOut)}</h3>
      <sluice-result-model
        .observation=${this.observation}
        .clamped=${clampWords(this.clamped)}
        .heard=${(id: string | null) => (this.lit = id)}
      ></sluice-result-model>
    </section>`;
  }

  #diff(): TemplateResult {
    loadLater();
    return html`<sluice-result-diff
      .sent=${this.#sent}
      .observation=${this.observation}
      .artifacts=${this.#context?.artifacts}
    ></sluice-result-diff>`;
  }

  #raw(): TemplateResult {
    loadLater();
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

  // A small result is there at once; a large one is read in parts, between which the page answers.
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

  #contextOf(): SentContext {
    const steps = this.fields.map(stepsOf);
    return {
      artifacts: new Map(this.artifacts.map((artifact) => [artifact.id, artifact])),
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
    this.#model?.light(event.type === "pointerleave" ? null : pointedBy(event));
  };
}

/** Elements that stand there already become what they are when it has come. */
function loadLater(): void {
  void import("./result/later.js").then(({ defineLater }) => defineLater());
}

const ELEMENTS: readonly (readonly [string, CustomElementConstructor])[] = [
  ["sluice-result-tree", SluiceResultTree],
  ["sluice-result-sent", SluiceResultSent],
  ["sluice-result-model", SluiceResultModel],
  ["sluice-result", SluiceResult],
];
for (const [name, element] of ELEMENTS) {
  if (customElements.get(name) === undefined) customElements.define(name, element);
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result": SluiceResult;
  }
  interface HTMLElementEventMap {
    "sluice-view": CustomEvent<ResultView>;
  }
}

/**
 * Guardrails: the configuration as a form or as JSON, beside what a model sees of the result in view. A change applies at once.
 * @module
 */
import { jsonLanguage } from "@codemirror/lang-json";
import { humanSize, type SluiceConfig } from "mcp-sluice";
import { css, html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { Problem, ShownResult } from "../../engine/messages.js";
import { currentCall } from "../state.js";
import { resultSides } from "../call/result-parts.js";
import { viewStyles } from "../styles.js";
import { tabList, tabStyles, type Tab } from "../tabs.js";
import { ViewElement } from "../view-element.js";
import {
  type ConfigField,
  isChanged,
  isObject,
  describeBounds,
  fillIn,
  MAIN_FIELDS,
  MORE_FIELDS,
  PRESETS,
  schemaAt,
  formatValue,
  parseTyped,
  valueAt,
  withValue,
} from "./config-fields.js";
import "./json-editor.js";

/** Milliseconds after a key until what was typed applies. */
const PAUSE = 300;
/** From this width of the view on, the model's view stands beside the form. */
const WIDE = 640;

type Panel = "form" | "json" | "model";

const EDITORS: readonly Tab<Panel>[] = [
  ["form", "Form"],
  ["json", "JSON"],
];

/** The configuration as JSON text. */
function asText(config: SluiceConfig): string {
  return JSON.stringify(config, null, 2);
}

/** Parses JSON text. The core checks the configuration itself. */
export function parseConfig(text: string): { readonly config: SluiceConfig } | { readonly problem: Problem } {
  try {
    const value = JSON.parse(text === "" ? "{}" : text) as unknown;
    if (isObject(value)) return { config: value };
    return { problem: { code: "E_CONFIG_VALUE", message: "A configuration must be a JSON object: { … }." } };
  } catch (error) {
    return { problem: { code: "E_CONFIG_JSON", message: (error as Error).message, ...placeIn(text) } };
  }
}

/** The position of the first syntax error. JSON.parse does not always report it, so the editor's grammar finds it. */
function placeIn(text: string): { line?: number; column?: number } {
  let position: number | undefined;
  jsonLanguage.parser.parse(text).iterate({
    enter: ({ type, from }) => {
      if (type.isError) position ??= from;
    },
  });
  if (position === undefined) return {};
  const before = text.slice(0, position).split("\n");
  return { line: before.length, column: Array.from(before.at(-1) ?? "").length + 1 };
}

/** `<playground-guardrails>` */
class GuardrailsView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    text: { state: true },
    problem: { state: true },
    tried: { state: true },
    field: { state: true },
    panel: { state: true },
    isWide: { state: true },
    usual: { state: true },
  };
  static override styles = [
    viewStyles,
    tabStyles,
    css`
      :host {
        display: block;
        margin-inline: auto;
        max-inline-size: 1400px;
        padding: 24px 24px 64px;
      }
      header {
        margin-block-end: 24px;
      }
      h2.size {
        font-size: var(--size-display, 36px);
        letter-spacing: -0.02em;
        line-height: 1.15;
        margin-block: 4px 8px;
        text-wrap: balance;
      }
      .size b {
        color: var(--seen);
        font-weight: inherit;
        white-space: nowrap;
      }
      .size.usual b {
        color: inherit;
      }
      .sides.wide {
        align-items: start;
        display: grid;
        gap: 32px;
        grid-template-columns: minmax(280px, 5fr) minmax(0, 6fr);
      }
      .wide .model {
        inset-block-start: 16px;
        position: sticky;
      }
      .field {
        border-block-end: 1px solid var(--line);
        padding-block: 12px;
      }
      .field .line {
        align-items: center;
        display: flex;
        flex-wrap: wrap;
        gap: 4px 8px;
        min-block-size: var(--target);
      }
      .field .name {
        font-weight: 600;
      }
      .amount {
        align-items: center;
        display: inline-flex;
        gap: 8px;
      }
      .check {
        align-items: center;
        display: inline-flex;
        /* It begins where the other fields do, and its name stands beside it: a finger may touch either. */
        margin-inline-end: calc(14px - var(--target));
        min-block-size: var(--target);
        min-inline-size: var(--target);
      }
      .field .line input:not([type="checkbox"]) {
        inline-size: 108px;
        text-align: end;
      }
      .field .line input.text {
        flex: 1 1 200px;
        text-align: start;
      }
      .field .line select {
        inline-size: auto;
        max-inline-size: 100%;
      }
      .field .soft,
      .field .wrong {
        display: block;
        font-size: var(--size-small, 12px);
      }
      .field.changed {
        border-inline-start: 3px solid var(--accent);
        margin-inline-start: -12px;
        padding-inline-start: 9px;
      }
      .changed-mark {
        color: var(--accent);
        font-size: var(--size-small, 12px);
      }
      .reset {
        margin-inline-start: auto;
      }
      .wrong {
        color: var(--bad);
      }
      input[aria-invalid="true"] {
        border-color: var(--bad) !important;
      }
      .row.actions {
        margin-block-start: 12px;
      }
      /* Folded content has a slot of the browser as its parent, which passes none of our styles on. */
      summary,
      .field {
        box-sizing: border-box;
      }
      summary {
        border-block-end: 1px solid var(--line);
        cursor: pointer;
        font-weight: 600;
        min-block-size: max(44px, var(--target));
        padding-block: 10px;
      }
      details[open] {
        padding-block-end: 16px;
      }
      [role="tabpanel"] {
        min-inline-size: 0;
      }
      .holds {
        background: var(--surface-sunken);
        border-radius: var(--radius);
        margin: 8px 0 0;
        max-block-size: 360px;
        overflow: auto;
        padding: 12px;
      }
      .json {
        padding-block-start: 16px;
      }
      .valid {
        min-block-size: 1.5em;
      }
      .early {
        visibility: hidden;
      }
      .row.actions select {
        inline-size: auto;
        max-inline-size: 100%;
      }
      @media (max-width: 640px) {
        :host {
          padding: 16px 16px 64px;
        }
      }
    `,
  ];

  /** The editor's text, which may be invalid. */
  declare text: string | undefined;
  declare problem: Problem | undefined;
  /** The configuration that is being applied. */
  declare tried: SluiceConfig | undefined;
  /** The field that is being written in, and what stands in it. */
  declare field: { readonly path: string; readonly text: string } | undefined;
  declare panel: Panel;
  declare isWide: boolean;
  /** What a model reads of a result under the defaults, in bytes. */
  declare usual: { readonly result: string; readonly bytes: number } | undefined;
  #asked: string | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;
  // In the next frame: changing the layout within the observer would notify it again.
  readonly #width = new ResizeObserver((entries) => {
    const width = entries.at(-1)?.contentRect.width ?? WIDE;
    requestAnimationFrame(() => (this.isWide = width >= WIDE));
  });

  constructor() {
    super();
    this.panel = "form";
    this.isWide = true;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#width.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#width.disconnect();
    this.#applyNow();
  }

  override willUpdate(): void {
    const result = currentCall(this.state)?.result;
    if (result !== undefined) void this.#askUsual(result);
  }

  override render(): TemplateResult {
    const tabs = this.isWide ? EDITORS : [...EDITORS, ["model", "Model sees"] as const];
    const shown = this.isWide && this.panel === "model" ? "form" : this.panel;
    return html`
      <header>
        ${this.#head()}
        <div class="row actions">
          <select @change=${this.#preset} aria-label="Preset">
            <option value="">Rules for…</option>
            ${PRESETS.map(({ name }) => html`<option value=${name}>${name}</option>`)}
          </select>
          <button @click=${this.#export}>Export</button>
          ${
            Object.keys(this.state.config).length === 0
              ? nothing
              : html`<button class="plain" @click=${() => this.#take({})}>Reset all</button>`
          }
        </div>
      </header>
      <div class="sides ${this.isWide ? "wide" : ""}">
        <div>
          ${tabList("Guardrails", tabs, shown, (panel) => (this.panel = panel))}
          <div role="tabpanel" id="panel-form" aria-labelledby="tab-form" ?hidden=${shown !== "form"}>
            ${this.#form()}
          </div>
          <div role="tabpanel" id="panel-json" aria-labelledby="tab-json" ?hidden=${shown !== "json"}>
            ${this.#json()}
          </div>
          ${
            this.isWide
              ? nothing
              : html`<div role="tabpanel" id="panel-model" aria-labelledby="tab-model" ?hidden=${shown !== "model"}>
                  ${shown === "model" ? this.#model() : nothing}
                </div>`
          }
        </div>
        ${this.isWide ? html`<div class="model">${this.#model()}</div>` : nothing}
      </div>
    `;
  }

  #head(): TemplateResult {
    const call = currentCall(this.state);
    const result = call?.result;
    if (call === undefined || result === undefined) {
      return html`<p class="over">Guardrails</p>
        <h2 class="size usual">What may your model read?</h2>`;
    }
    const after = result.bytesOut;
    const before = this.#before(result);
    const now = html`<b>${humanSize(after)}</b>`;
    return html`<p class="over">Guardrails · ${call.title}</p>
      <h2 class="size ${before === after ? "usual" : ""}">Your model reads ${now}.</h2>
      <p class="soft" role="status">
        ${
          before === undefined
            ? "…"
            : before === after
              ? `As with the defaults: ${humanSize(before)}. The server sent ${humanSize(result.bytesIn)}.`
              : html`<span class="sizes"
                    >${humanSize(before)} with the defaults, ${humanSize(after)} with these rules</span
                  >. The server sent ${humanSize(result.bytesIn)}.`
        }
      </p>`;
  }

  #before(result: ShownResult): number | undefined {
    if (Object.keys(this.state.config).length === 0) return result.bytesOut;
    return this.usual?.result === result.id ? this.usual.bytes : undefined;
  }

  /** Gates a result under the defaults, once. */
  async #askUsual({ id, bytesOut }: ShownResult): Promise<void> {
    if (this.#asked === id) return;
    this.#asked = id;
    const usual = Object.keys(this.state.config).length === 0 ? undefined : await this.actions.engine.again(id, {});
    if (usual?.ok === false || this.#asked !== id) return;
    this.usual = { result: id, bytes: usual?.value.bytesOut ?? bytesOut };
  }

  #form(): TemplateResult {
    const config = this.#readChosen();
    return html`<section aria-label="Form">
      ${MAIN_FIELDS.map((field) => this.#field(field, config))}
      ${MORE_FIELDS.map(({ title, fields }) => {
        const changed = fields.filter(({ path }) => isChanged(config, path)).length;
        return html`<details ?open=${fields.some(({ path }) => path === this.problem?.path)}>
          <summary>
            ${title} ${changed === 0 ? nothing : html`<span class="changed-mark">${changed} changed</span>`}
          </summary>
          ${fields.map((field) => this.#field(field, config))}
        </details>`;
      })}
    </section>`;
  }

  #json(): TemplateResult {
    return html`<section class="stack json" aria-label="JSON">
      <playground-json
        label="Configuration as JSON"
        .value=${this.text ?? asText(this.state.config)}
        .problem=${this.problem?.message}
        @json-change=${({ detail }: CustomEvent<string>) => this.#onWrite(detail)}
      ></playground-json>
      ${
        this.problem === undefined
          ? html`<p class="soft valid ${this.tried === undefined ? "" : "early"}" role="status">Valid.</p>`
          : this.#renderRefusal(this.problem)
      }
      <details>
        <summary>What holds, with the defaults</summary>
        <pre class="holds" tabindex="0">${JSON.stringify(fillIn(this.state.config), null, 2)}</pre>
      </details>
    </section>`;
  }

  #model(): TemplateResult {
    const call = currentCall(this.state);
    const result = call?.result;
    if (result === undefined) {
      return html`<div class="empty">
        <p>${call?.state === "running" ? `${call.title} is running.` : "There is no result to try the rules on."}</p>
        <button class="primary" @click=${this.#toTools}>Choose a tool</button>
      </div>`;
    }
    return resultSides(this.actions, result, "model");
  }

  #renderRefusal({ path, message, line, column }: Problem): TemplateResult {
    const where = line === undefined ? path : `line ${line}, column ${column ?? 1}`;
    return html`<p class="problem" role="alert">
      ${where === undefined ? nothing : html`<strong>${where}: </strong>`}${message}
    </p>`;
  }

  #field(field: ConfigField, config: SluiceConfig): TemplateResult {
    const { path, label, unit, hint } = field;
    const id = path.replaceAll(".", "-");
    const changed = isChanged(config, path);
    const wrong = this.problem?.path === path ? (describeBounds(path) ?? this.problem.message) : undefined;
    const isSwitch = schemaAt(path).type === "boolean";
    const name = html`<label class="name" id="${id}-name" for=${id}>${label}</label>`;
    const control = this.#control(field, config, wrong !== undefined);
    const amount =
      unit === undefined ? control : html`<span class="amount">${control} <span id="${id}-unit">${unit}</span></span>`;
    return html`<div class="field ${changed ? "changed" : ""}">
      <div class="line">
        ${isSwitch ? html`${control} ${name}` : html`${name} ${amount}`}
        ${
          changed
            ? html`<span class="changed-mark reset">changed</span>
                <button class="plain" aria-label="Reset: ${label}" @click=${() => this.#reset(path)}>Reset</button>`
            : nothing
        }
      </div>
      <span class="soft" id="${id}-hint">${hint}</span>
      ${wrong === undefined ? nothing : html`<span class="wrong" role="alert" id="${id}-wrong">${wrong}</span>`}
    </div>`;
  }

  #control({ path, unit, choices }: ConfigField, config: SluiceConfig, isWrong: boolean): TemplateResult {
    const id = path.replaceAll(".", "-");
    const value = valueAt(config, path);
    const named = unit === undefined ? `${id}-name` : `${id}-name ${id}-unit`;
    const told = isWrong ? `${id}-wrong` : `${id}-hint`;
    const { type, enum: words } = schemaAt(path);
    if (type === "boolean") {
      // The label around it is what a finger touches.
      return html`<label class="check"
        ><input
          type="checkbox"
          id=${id}
          aria-labelledby=${named}
          aria-describedby=${told}
          .checked=${live(value === true)}
          @change=${(event: Event) => this.#set(path, (event.target as HTMLInputElement).checked)}
      /></label>`;
    }
    const offered = choices ?? words?.map((word) => [word, word] as const);
    if (offered !== undefined) {
      const chosen = offered.findIndex(([each]) => (isObject(each) ? isObject(value) : each === value));
      return html`<select
        id=${id}
        aria-describedby=${told}
        @change=${(event: Event) => this.#set(path, offered[(event.target as HTMLSelectElement).selectedIndex]?.[0])}
      >
        ${offered.map(([, said], at) => html`<option .selected=${live(at === chosen)}>${said}</option>`)}
      </select>`;
    }
    const isNumber = type === "integer" || type === "number";
    return html`<input
      id=${id}
      class=${isNumber ? "" : "text"}
      inputmode=${isNumber ? "numeric" : "text"}
      autocomplete="off"
      spellcheck="false"
      aria-labelledby=${named}
      aria-describedby=${told}
      aria-invalid=${isWrong}
      .value=${live(this.field?.path === path ? this.field.text : formatValue(value))}
      @input=${(event: Event) => this.#typing(path, (event.target as HTMLInputElement).value)}
      @change=${() => this.#applyNow()}
    />`;
  }

  /** Applies what is typed after a moment, so that half a number is seldom refused. */
  #typing(path: string, text: string): void {
    if (this.field?.path !== path) this.#applyNow();
    this.field = { path, text };
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#applyNow(), PAUSE);
  }

  #applyNow(): void {
    if (this.#pause === undefined || this.field === undefined) return;
    clearTimeout(this.#pause);
    this.#pause = undefined;
    const { path, text } = this.field;
    this.#set(path, parseTyped(path, text), this.field);
  }

  #set(path: string, value: unknown, field?: { readonly path: string; readonly text: string }): void {
    void this.#take(withValue(this.#readChosen(), path, value), undefined, field);
  }

  /** What the form shows: also what is still being applied, so that a switch does not go back for a moment. */
  #readChosen(): SluiceConfig {
    return this.tried ?? this.state.config;
  }

  #reset(path: string): void {
    // The button goes away with the change: the field is what it belonged to.
    this.renderRoot.querySelector<HTMLElement>(`#${path.replaceAll(".", "-")}`)?.focus();
    this.#set(path, schemaAt(path).default);
  }

  #preset(event: Event): void {
    const chosen = event.target as HTMLSelectElement;
    const preset = PRESETS.find(({ name }) => name === chosen.value);
    chosen.value = "";
    if (preset !== undefined) void this.#take(preset.config);
  }

  #onWrite(text: string): void {
    this.text = text;
    const read = parseConfig(text);
    if ("problem" in read) this.problem = read.problem;
    else void this.#take(read.config, text);
  }

  /** Applies a configuration, or shows why it was refused and keeps the previous one. */
  async #take(
    config: SluiceConfig,
    text = asText(config),
    field?: { readonly path: string; readonly text: string },
  ): Promise<void> {
    this.text = text;
    this.tried = config;
    if (field === undefined) this.field = undefined;
    try {
      const problem = await this.actions.configure(config);
      if (this.text !== text) return;
      this.problem = problem;
      // A refused value stays where it can be mended; digits are grouped once the field is left.
      const isWritten = this.renderRoot instanceof ShadowRoot && this.renderRoot.activeElement?.localName === "input";
      if (problem === undefined && this.field === field && !isWritten) this.field = undefined;
    } finally {
      if (this.tried === config) this.tried = undefined;
    }
  }

  #toTools(): void {
    this.dispatchEvent(
      new CustomEvent("playground-show", { detail: { view: "tools" }, bubbles: true, composed: true }),
    );
  }

  #export(): void {
    const url = URL.createObjectURL(new Blob([asText(this.state.config)], { type: "application/json" }));
    const link = Object.assign(document.createElement("a"), { href: url, download: "sluice.config.json" });
    link.click();
    URL.revokeObjectURL(url);
  }
}

customElements.define("playground-guardrails", GuardrailsView);

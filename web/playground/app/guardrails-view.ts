/**
 * Guardrails: the configuration as a form and as JSON, side by side; what is chosen gates the result in view anew.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { SluiceConfig } from "mcp-sluice";
import type { Problem } from "../engine/contract.js";
import { asText, configOf, FIELDS, PRESETS, valueAt, withValue, type ConfigField } from "./guardrail-fields.js";
import "./json-editor.js";
import "./call-card.js";
import { viewStyles } from "./shared-styles.js";
import { currentCall } from "./state.js";
import { ViewElement } from "./view.js";

/** `<playground-guardrails>` */
export class GuardrailsView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    text: { state: true },
    problem: { state: true },
    tried: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        padding: 16px;
      }
      .sides {
        display: grid;
        gap: 16px;
        grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr));
      }
      .check {
        align-items: center;
        display: flex;
        gap: 8px;
        min-block-size: var(--target);
      }
      .early {
        visibility: hidden;
      }
      .wrong {
        color: var(--bad);
        display: block;
      }
    `,
  ];

  /** What the editor shows, which may be wrong. */
  declare text: string | undefined;
  declare problem: Problem | undefined;
  /** What was chosen last, as long as it is tried. */
  declare tried: SluiceConfig | undefined;

  constructor() {
    super();
    this.text = undefined;
    this.problem = undefined;
    this.tried = undefined;
  }

  override render(): TemplateResult {
    const { store, actions } = this;
    const { config } = this.state;
    const call = currentCall(this.state);
    return html`<div class="stack">
      <div class="row">
        <h2 class="grow">Guardrails</h2>
        <div>
          <select @change=${this.#preset} aria-label="Preset">
            <option value="">Choose a preset…</option>
            ${Object.keys(PRESETS).map((name) => html`<option value=${name}>${name}</option>`)}
          </select>
        </div>
        <button @click=${this.#export}>Export</button>
      </div>
      <p class="soft">What you change here decides at once what a model sees of the result below.</p>
      <div class="sides">
        <section class="panel stack" aria-label="Form">${FIELDS.map((field) => this.#field(field, config))}</section>
        <section class="panel stack" aria-label="JSON">
          <playground-json
            label="Configuration as JSON"
            .value=${this.text ?? asText(config)}
            .problem=${this.problem?.message}
            @json-change=${({ detail }: CustomEvent<string>) => this.#written(detail)}
          ></playground-json>
          ${this.problem === undefined ? html`<p class="soft ${this.tried === undefined ? "" : "early"}" role="status">This holds.</p>` : this.#refused(this.problem)}
        </section>
      </div>
      ${
        call === undefined
          ? html`<p class="soft">There is no result to try it on: run a tool first.</p>`
          : html`<playground-call .store=${store} .actions=${actions} .call=${call}></playground-call>`
      }
    </div>`;
  }

  #refused({ path, message, line, column }: Problem): TemplateResult {
    const where = line === undefined ? path : `line ${line}, column ${column ?? 1}`;
    return html`<p class="problem" role="alert">
      ${where === undefined ? nothing : html`<strong>${where}: </strong>`}${message}
    </p>`;
  }

  #field(field: ConfigField, config: SluiceConfig): TemplateResult {
    const { path, label, hint, kind } = field;
    const value = valueAt(config, path) ?? field.default;
    const wrong = this.problem?.path === path ? html`<span class="wrong">${this.problem.message}</span>` : nothing;
    const told = html`<span class="soft">${hint}</span>${wrong}`;
    if (kind === "boolean") {
      return html`<label
        ><span class="check">
          <input
            type="checkbox"
            .checked=${value === true}
            @change=${(event: Event) => this.#set(path, (event.target as HTMLInputElement).checked)}
          />
          <strong>${label}</strong></span
        >${told}</label
      >`;
    }
    if (kind === "choice") {
      return html`<label
        ><span class="label">${label}</span>
        <select @change=${(event: Event) => this.#set(path, (event.target as HTMLSelectElement).value)}>
          ${field.choices.map((choice) => html`<option ?selected=${choice === value}>${choice}</option>`)}</select
        >${told}</label
      >`;
    }
    return html`<label
      ><span class="label">${label}</span>
      <input
        inputmode="numeric"
        .value=${typeof value === "string" ? value : JSON.stringify(value)}
        @change=${(event: Event) => this.#set(path, numberOr((event.target as HTMLInputElement).value))}
      />${told}</label
    >`;
  }

  #set(path: string, value: unknown): void {
    void this.#take(withValue(this.tried ?? this.state.config, path, value));
  }

  #preset(event: Event): void {
    const chosen = event.target as HTMLSelectElement;
    const preset = PRESETS[chosen.value];
    chosen.value = "";
    if (preset !== undefined) void this.#take(preset);
  }

  #written(text: string): void {
    this.text = text;
    const read = configOf(text);
    if ("problem" in read) this.problem = read.problem;
    else void this.#take(read.config, text);
  }

  /** Takes a configuration over, or says what is wrong with it; then the one before stays. */
  async #take(config: SluiceConfig, text = asText(config)): Promise<void> {
    this.text = text;
    this.tried = config;
    try {
      const problem = await this.actions.configure(config);
      if (this.text === text) this.problem = problem;
    } finally {
      if (this.tried === config) this.tried = undefined;
    }
  }

  #export(): void {
    const url = URL.createObjectURL(new Blob([asText(this.state.config)], { type: "application/json" }));
    const link = Object.assign(document.createElement("a"), { href: url, download: "sluice.config.json" });
    link.click();
    URL.revokeObjectURL(url);
  }
}

/** What is no number is handed on as it is: whoever checks it says so. */
function numberOr(written: string): unknown {
  const number = Number(written);
  return written.trim() === "" || Number.isNaN(number) ? written : number;
}

customElements.define("playground-guardrails", GuardrailsView);

/**
 * Guardrails: the configuration as a form and as JSON, side by side. A change applies to the current result at once.
 * @module
 */
import { jsonLanguage } from "@codemirror/lang-json";
import type { SluiceConfig } from "mcp-sluice";
import schema from "mcp-sluice/config.schema.json" with { type: "json" };
import { css, html, nothing, type TemplateResult } from "lit";
import type { Problem } from "../../engine/messages.js";
import "../call/call-card.js";
import { viewStyles } from "../styles.js";
import { currentCall } from "../state.js";
import { ViewElement } from "../view-element.js";
import "./json-editor.js";

/** A field of the form. What it takes and what it is unless it is set, the schema says. */
interface ConfigField {
  /** Configuration keys, joined by dots. */
  readonly path: string;
  readonly label: string;
  readonly hint: string;
}

/** The most common keys; all others are edited as JSON. */
const FIELDS: readonly ConfigField[] = [
  { path: "max_inline_size", label: "Longest text in place", hint: "Strings with more characters are stored." },
  {
    path: "guardrail.max_observation_chars",
    label: "Longest observation",
    hint: "Most characters that a model gets.",
  },
  {
    path: "guardrail.max_field_chars",
    label: "Longest field when cut",
    hint: "Single strings are cut to this many characters first.",
  },
  {
    path: "guardrail.preserve_structure",
    label: "Keep the structure when cut",
    hint: "Objects and arrays stay objects and arrays.",
  },
  {
    path: "binary_detection.min_size_for_detection",
    label: "Shortest encoded text",
    hint: "Encoded text with fewer characters stays in place.",
  },
  {
    path: "binary_detection.enabled",
    label: "Find bytes in strings",
    hint: "If off, only typed blocks count as bytes.",
  },
  {
    path: "auto_artifact_large_content",
    label: "Store large texts",
    hint: "Stores long texts and large documents even if they have no bytes.",
  },
  { path: "prefer", label: "When a server sends both", hint: "structuredContent, or the blocks." },
];

/** What the configuration's schema says of a key. */
interface KeySchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, KeySchema>>;
}

const ROOT: KeySchema = schema;

/** The schema of the key at a path. */
function schemaAt(path: string): KeySchema {
  return path.split(".").reduce((section, key) => section.properties?.[key] ?? {}, ROOT);
}

/** Presets by name. */
const PRESETS: Readonly<Record<string, SluiceConfig>> = {
  Defaults: {},
  "Small context": { max_inline_size: 2000, guardrail: { max_observation_chars: 8000, max_field_chars: 1000 } },
  "Large context": { max_inline_size: 50_000, guardrail: { max_observation_chars: 200_000, max_field_chars: 50_000 } },
  "Bytes only": { auto_artifact_large_content: false },
  "Everything that decodes": { binary_detection: { require_magic_bytes: false, min_size_for_detection: 64 } },
};

/** The value at a path; undefined if it is not set. */
function valueAt(config: SluiceConfig, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), config as unknown);
}

/** The configuration with one value changed. */
function withValue(config: SluiceConfig, path: string, value: unknown): SluiceConfig {
  const [key = "", ...rest] = path.split(".");
  const object = config as Readonly<Record<string, unknown>>;
  if (rest.length === 0) return { ...object, [key]: value };
  const inner = isObject(object[key]) ? (object[key] as SluiceConfig) : {};
  return { ...object, [key]: withValue(inner, rest.join("."), value) };
}

/** The configuration as JSON text. */
function asText(config: SluiceConfig): string {
  return JSON.stringify(config, null, 2);
}

/** Parses JSON text. The core checks the configuration itself. */
function configOf(text: string): { readonly config: SluiceConfig } | { readonly problem: Problem } {
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `<playground-guardrails>` */
class GuardrailsView extends ViewElement {
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

  /** The editor's text, which may be invalid. */
  declare text: string | undefined;
  declare problem: Problem | undefined;
  /** The configuration that is being applied. */
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
      <p class="soft">Changes here apply at once to the result below.</p>
      <div class="sides">
        <section class="panel stack" aria-label="Form">${FIELDS.map((field) => this.#field(field, config))}</section>
        <section class="panel stack" aria-label="JSON">
          <playground-json
            label="Configuration as JSON"
            .value=${this.text ?? asText(config)}
            .problem=${this.problem?.message}
            @json-change=${({ detail }: CustomEvent<string>) => this.#written(detail)}
          ></playground-json>
          ${this.problem === undefined ? html`<p class="soft ${this.tried === undefined ? "" : "early"}" role="status">The configuration is valid.</p>` : this.#refused(this.problem)}
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
    const { path, label, hint } = field;
    const { type, enum: choices, default: usual } = schemaAt(path);
    const value = valueAt(config, path) ?? usual;
    const wrong = this.problem?.path === path ? html`<span class="wrong">${this.problem.message}</span>` : nothing;
    const told = html`<span class="soft">${hint}</span>${wrong}`;
    if (type === "boolean") {
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
    if (choices !== undefined) {
      return html`<label
        ><span class="label">${label}</span>
        <select @change=${(event: Event) => this.#set(path, (event.target as HTMLSelectElement).value)}>
          ${choices.map((choice) => html`<option ?selected=${choice === value}>${choice}</option>`)}</select
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

  /** Applies a configuration, or shows why it was refused and keeps the previous one. */
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

/** Anything but a number is passed on as text: the core reports it. */
function numberOr(written: string): unknown {
  const number = Number(written);
  return written.trim() === "" || Number.isNaN(number) ? written : number;
}

customElements.define("playground-guardrails", GuardrailsView);

/**
 * A form for a JSON Schema of flat arguments; what is not flat is written as JSON.
 * @module
 */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { fieldsOf, valueOf, type Field } from "./schema-fields.js";
import { viewStyles } from "./shared-styles.js";

/** Files that a choice has at most; any other can be written. */
const MAX_FILES = 500;

/** `<playground-arguments>` */
export class ArgumentsForm extends LitElement {
  static override properties = { schema: { attribute: false }, files: { attribute: false }, problems: { state: true } };
  static override styles = [
    viewStyles,
    css`
      form {
        display: grid;
        gap: 12px;
        grid-template-columns: repeat(auto-fill, minmax(min(260px, 100%), 1fr));
      }
      .wide {
        grid-column: 1 / -1;
      }
      .wrong {
        color: var(--bad);
      }
      .tick {
        align-items: center;
        display: flex;
        gap: 8px;
        min-block-size: var(--target);
      }
    `,
  ];

  declare schema: unknown;
  /** Names of files that `filename` and `filenames` may be; undefined where these are arguments like any others. */
  declare files: readonly string[] | undefined;
  declare problems: Readonly<Record<string, string>>;

  constructor() {
    super();
    this.schema = {};
    this.files = undefined;
    this.problems = {};
  }

  /** The arguments as they are written; undefined, and what is wrong said, where they cannot be read. */
  read(): Readonly<Record<string, unknown>> | undefined {
    const values: Record<string, unknown> = {};
    const problems: Record<string, string> = {};
    for (const field of this.#fields()) {
      const control = this.#control(field.name);
      const read = valueOf(
        field,
        field.kind === "boolean" ? String(control?.checked === true) : (control?.value ?? ""),
      );
      if (!read.ok) problems[field.name] = read.problem;
      else if (read.value !== undefined) values[field.name] = read.value;
    }
    this.problems = problems;
    const [first] = Object.keys(problems);
    if (first === undefined) return values;
    this.#control(first)?.focus();
    return undefined;
  }

  override render(): TemplateResult {
    const fields = this.#fields();
    if (fields.length === 0) return html`<p class="soft">It takes no arguments.</p>`;
    return html`<form @submit=${this.#submitted} @keydown=${this.#key}>
      ${
        // What was written for one tool is not meant for another.
        keyed(
          this.schema,
          fields.map((field) => this.#field(field)),
        )
      }<button hidden></button>
    </form>`;
  }

  #field(field: Field): TemplateResult {
    const { name, title, description, isRequired, kind } = field;
    const problem = this.problems[name];
    const label = html`<span class="label"
      >${title}${isRequired ? html` <span class="soft">(needed)</span>` : nothing}</span
    >`;
    const told = html`${description === "" ? nothing : html`<span class="soft">${description}</span>`}
    ${problem === undefined ? nothing : html`<span class="wrong" role="alert">${problem}</span>`}`;
    if (kind === "boolean") {
      return html`<label
        ><span class="tick">
          <input type="checkbox" name=${name} .checked=${field.initial === "true"} /> <strong>${title}</strong></span
        >${told}</label
      >`;
    }
    if (this.#takes(field)) {
      // The choice has a name of its own, so it stands beside the label and not in it.
      return html`<div class=${kind === "names" ? "wide" : ""}>
        <label>${label}${this.#input(field)}${told}</label>${this.#choice(field)}
      </div>`;
    }
    return html`<label class=${kind === "json" || kind === "names" ? "wide" : ""}
      >${label}${this.#input(field)}${told}</label
    >`;
  }

  #input(field: Field): TemplateResult {
    const { name, kind, initial, choices } = field;
    // A file may be long, its name is not.
    const isLong = field.isLong && !this.#takes(field);
    if (choices.length > 0) {
      return html`<select name=${name}>
        ${choices.map((choice) => html`<option value=${choice} ?selected=${choice === initial}>${choice === "" ? "(left out)" : choice}</option>`)}
      </select>`;
    }
    if (kind === "json" || kind === "names" || isLong)
      return html`<textarea name=${name} rows="4" spellcheck="false" .value=${initial}></textarea>`;
    const isNumber = kind === "number" || kind === "integer";
    return html`<input
      name=${name}
      type="text"
      inputmode=${isNumber ? "decimal" : "text"}
      .value=${initial}
      autocomplete="off"
    />`;
  }

  #fields(): readonly Field[] {
    return fieldsOf(this.schema, this.files !== undefined);
  }

  #takes({ name, kind }: Field): boolean {
    return this.files !== undefined && (kind === "names" || (name === "filename" && kind === "string"));
  }

  /** A choice of the files that there are, beside what may be written. */
  #choice({ name, kind, title }: Field): TemplateResult {
    const { files = [] } = this;
    if (files.length === 0) return html`<p class="soft">My Files is empty: add a file there.</p>`;
    const first = kind === "names" ? "Add one of My Files…" : "Take one of My Files…";
    return html`<select
      aria-label="${title}: My Files"
      @change=${(event: Event) => this.#choose(name, kind, event.target as HTMLSelectElement)}
    >
      <option value="" selected>${first}</option>
      ${files.slice(0, MAX_FILES).map((file) => html`<option value=${file}>${file}</option>`)}
    </select>`;
  }

  #choose(name: string, kind: Field["kind"], choice: HTMLSelectElement): void {
    const control = this.#control(name);
    if (control === undefined || choice.value === "") return;
    const isMore = kind === "names" && control.value.trim() !== "";
    control.value = isMore ? `${control.value.trimEnd()}\n${choice.value}` : choice.value;
    choice.value = "";
  }

  #submitted(event: Event): void {
    event.preventDefault();
    this.dispatchEvent(new CustomEvent("arguments-submit", { bubbles: true, composed: true }));
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) this.#submitted(event);
  }

  #control(name: string): HTMLInputElement | undefined {
    const control = this.renderRoot.querySelector("form")?.elements.namedItem(name);
    return control instanceof HTMLElement ? (control as HTMLInputElement) : undefined;
  }
}

customElements.define("playground-arguments", ArgumentsForm);

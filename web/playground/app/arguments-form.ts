/**
 * A form for a JSON Schema of flat arguments; what is not flat is written as JSON.
 * @module
 */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { fieldsOf, valueOf, type Field } from "./schema-fields.js";
import { viewStyles } from "./shared-styles.js";

/** `<playground-arguments>` */
export class ArgumentsForm extends LitElement {
  static override properties = { schema: { attribute: false }, problems: { state: true } };
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
  declare problems: Readonly<Record<string, string>>;

  constructor() {
    super();
    this.schema = {};
    this.problems = {};
  }

  /** The arguments as they are written; undefined, and what is wrong said, where they cannot be read. */
  read(): Readonly<Record<string, unknown>> | undefined {
    const values: Record<string, unknown> = {};
    const problems: Record<string, string> = {};
    for (const field of fieldsOf(this.schema)) {
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
    const fields = fieldsOf(this.schema);
    if (fields.length === 0) return html`<p class="soft">It takes no arguments.</p>`;
    return html`<form @submit=${this.#submitted} @keydown=${this.#key}>
      ${fields.map((field) => this.#field(field))}<button hidden></button>
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
    return html`<label class=${kind === "json" ? "wide" : ""}>${label}${this.#input(field)}${told}</label>`;
  }

  #input({ name, kind, initial, choices, isLong }: Field): TemplateResult {
    if (choices.length > 0) {
      return html`<select name=${name}>
        ${choices.map((choice) => html`<option value=${choice} ?selected=${choice === initial}>${choice === "" ? "(left out)" : choice}</option>`)}
      </select>`;
    }
    if (kind === "json" || isLong)
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

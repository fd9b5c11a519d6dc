/**
 * A form for a JSON Schema of flat arguments. Nested values are written as JSON. The schema comes from a server: it is bounded and not trusted.
 * @module
 */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { viewStyles } from "../styles.js";

/** Files offered in a select; others can be typed. */
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
  /** File names offered for `filename` and `filenames`; undefined treats these as ordinary arguments. */
  declare files: readonly string[] | undefined;
  declare problems: Readonly<Record<string, string>>;

  constructor() {
    super();
    this.schema = {};
    this.files = undefined;
    this.problems = {};
  }

  /** The arguments; undefined if a field is invalid, which is then marked. */
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
    if (fields.length === 0) return html`<p class="soft">This tool takes no arguments.</p>`;
    return html`<form @submit=${this.#submitted} @keydown=${this.#key}>
      ${
        // A new schema resets the fields.
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
      >${title}${isRequired ? html` <span class="soft">(required)</span>` : nothing}</span
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
      // The select has its own label, so it is beside the other label and not in it.
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
    // `isLong` describes the file, not its name.
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

  /** A select that fills the field with the name of a file. */
  #choice({ name, kind, title }: Field): TemplateResult {
    const { files = [] } = this;
    if (files.length === 0) return html`<p class="soft">My Files is empty: add a file there.</p>`;
    const first = kind === "names" ? "Add one of My Files…" : "Choose one of My Files…";
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

/** Fields of a form. */
const MAX_FIELDS = 100;
/** Choices of a field. */
const MAX_CHOICES = 200;
/** Characters of a title or description. */
const MAX_TEXT = 400;

type Kind = "string" | "number" | "integer" | "boolean" | "json" | "names";

/** One argument. */
interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** The initial text. */
  readonly initial: string;
  /** Allowed values; empty allows any. */
  readonly choices: readonly string[];
  /** Whether the text may have several lines. */
  readonly isLong: boolean;
}

/** The value of a field, or why it is invalid. */
type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The fields for the properties of an object schema. With `takesFiles`, `filenames` is a list of file names. */
function fieldsOf(schema: unknown, takesFiles = false): readonly Field[] {
  const { properties, required } = objectOf(schema);
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(objectOf(properties))
    .slice(0, MAX_FIELDS)
    .map(([name, said]) => fieldOf(name, objectOf(said), needed.has(name)))
    .map((field) => (takesFiles && field.name === "filenames" ? { ...field, kind: "names" } : field));
}

/** Parses the text of a field. An empty optional field has no value. */
function valueOf({ kind, isRequired, title }: Field, written: string): Read {
  if (kind === "boolean") return { ok: true, value: written === "true" };
  if (written === "" && !isRequired) return { ok: true, value: undefined };
  if (written === "" && kind !== "string") return { ok: false, problem: `${title} is required.` };
  if (kind === "string") return { ok: true, value: written };
  if (kind === "names") return { ok: true, value: written.split("\n").filter((line) => line.trim() !== "") };
  if (kind === "json") return json(written);
  const number = Number(written);
  if (!Number.isFinite(number)) return { ok: false, problem: `${title} must be a number.` };
  if (kind === "integer" && !Number.isInteger(number))
    return { ok: false, problem: `${title} must be a whole number.` };
  return { ok: true, value: number };
}

function fieldOf(name: string, said: Readonly<Record<string, unknown>>, isRequired: boolean): Field {
  const { type, enum: values, title, description, default: initial, format, maxLength } = said;
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === "string").slice(0, MAX_CHOICES) : [];
  const kind = kindOf(type);
  const choices =
    kind === "string" && texts.length > 0 && !isRequired && initial === undefined ? ["", ...texts] : texts;
  return {
    name,
    kind,
    title: typeof title === "string" && title !== "" ? title.slice(0, MAX_TEXT) : name,
    description: typeof description === "string" ? description.slice(0, MAX_TEXT) : "",
    isRequired,
    initial: initialOf(initial, kind) || (isRequired ? (texts[0] ?? "") : ""),
    choices: kind === "string" ? choices : [],
    isLong: format === "textarea" || (typeof maxLength === "number" && maxLength > 200),
  };
}

function kindOf(type: unknown): Kind {
  const [first] = Array.isArray(type) ? type.filter((each) => each !== "null") : [type];
  return first === "string" || first === "number" || first === "integer" || first === "boolean" ? first : "json";
}

function initialOf(value: unknown, kind: Kind): string {
  if (value === undefined) return "";
  return typeof value === "string" && kind !== "json" ? value : JSON.stringify(value);
}

function json(written: string): Read {
  try {
    return { ok: true, value: JSON.parse(written) as unknown };
  } catch (error) {
    return { ok: false, problem: `This is not JSON: ${(error as Error).message}` };
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

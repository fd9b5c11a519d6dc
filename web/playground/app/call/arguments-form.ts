/**
 * A form for a JSON Schema of arguments, with objects, lists and alternatives; or the same arguments as JSON.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { repeat } from "lit/directives/repeat.js";
import { viewStyles } from "../styles.js";
import { countProblem, type Field, listFields, json, toObject, same, toFieldText, parseField } from "./schema.js";

/** Files offered in a select; others can be typed. */
const MAX_FILES = 500;

/** Items of a list. */
const MAX_ITEMS = 100;

/** An item of a list: where its fields are, and what it begins with. */
interface Item {
  readonly path: string;
  readonly initial: unknown;
}

/** `<playground-arguments>`; what is done with the arguments is slotted below them. */
export class ArgumentsForm extends LitElement {
  static override properties = {
    schema: { attribute: false },
    files: { attribute: false },
    initial: { attribute: false },
    subject: { attribute: false },
    problems: { state: true },
    isJson: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      form,
      .fields {
        display: grid;
        gap: 12px;
        grid-template-columns: repeat(auto-fill, minmax(min(260px, 100%), 1fr));
      }
      .wide {
        grid-column: 1 / -1;
      }
      .wrong {
        color: var(--bad);
        display: block;
      }
      .tick {
        align-items: center;
        display: flex;
        gap: 8px;
        min-block-size: var(--target);
      }
      fieldset {
        border: 1px solid var(--line);
        border-radius: var(--radius);
        margin: 0;
        min-inline-size: 0;
        padding: 8px 12px 12px;
      }
      legend {
        font-weight: 600;
        padding-inline: 4px;
      }
      .item {
        border-block-end: 1px solid var(--line);
        padding-block: 8px;
      }
      .item > .fields {
        margin-block-end: 8px;
      }
      .end {
        justify-content: space-between;
        margin-block-start: 16px;
      }
    `,
  ];

  declare schema: unknown;
  /** File names offered for `filename` and `filenames`; undefined treats these as ordinary arguments. */
  declare files: readonly string[] | undefined;
  /** Values to begin with, in the place of the schema's. */
  declare initial: Readonly<Record<string, unknown>> | undefined;
  /** What takes the arguments. */
  declare subject: string;
  declare problems: Readonly<Record<string, string>>;
  /** The arguments are written as JSON. */
  declare isJson: boolean;
  /** What the fields begin with: the arguments that were written as JSON. */
  #given: Readonly<Record<string, unknown>> | undefined;
  /** The JSON text to begin with. */
  #text = "{}";
  /** Counts up when the fields are made again. */
  #round = 0;
  #number = 0;
  readonly #items = new Map<string, readonly Item[]>();
  readonly #chosen = new Map<string, number>();

  constructor() {
    super();
    this.schema = {};
    this.files = undefined;
    this.initial = undefined;
    this.subject = "tool";
    this.problems = {};
    this.isJson = false;
  }

  override willUpdate(changed: PropertyValues): void {
    const isSame = same(changed.get("schema"), this.schema) || !changed.has("schema");
    if (isSame && !changed.has("initial")) return;
    this.isJson = false;
    this.#begin(this.initial);
  }

  /** The arguments; undefined if a field is invalid, which is then marked. */
  read(): Readonly<Record<string, unknown>> | undefined {
    const problems: Record<string, string> = {};
    const values = this.isJson ? this.#readJson(problems) : this.#readFields(this.#fields(), "", problems);
    this.problems = problems;
    const [first] = Object.keys(problems);
    if (first === undefined) return values;
    const control =
      this.#control(first) ?? this.renderRoot.querySelector<HTMLElement>(`[data-path="${CSS.escape(first)}"]`);
    control?.focus();
    return undefined;
  }

  override render(): TemplateResult {
    const fields = this.#fields();
    const isEmpty = fields.length === 0;
    return html`${isEmpty && !this.isJson ? html`<p class="soft">This ${this.subject} takes no arguments.</p>` : nothing}
      <form ?hidden=${isEmpty} novalidate @submit=${this.#onSubmit} @keydown=${this.#key}>
        ${
          // A new schema resets the fields.
          keyed(
            this.#round,
            this.isJson
              ? this.#json()
              : fields.map((field) => this.#field(field, field.name, this.#given?.[field.name])),
          )
        }<button hidden></button>
      </form>
      <div class="row end">
        <div class="row"><slot></slot></div>
        ${isEmpty ? nothing : html`<button class="plain" aria-label="As JSON" aria-pressed=${this.isJson} @click=${this.#toggle}>JSON</button>`}
      </div>`;
  }

  #json(): TemplateResult {
    return html`<label class="wide"
      ><span class="label" id="name:${JSON_NAME}">Arguments as JSON</span>
      <textarea
        name=${JSON_NAME}
        aria-labelledby="name:${JSON_NAME}"
        aria-describedby="wrong:${JSON_NAME}"
        rows="12"
        spellcheck="false"
        .value=${this.#text}
      ></textarea
      >${this.#problem(JSON_NAME)}</label
    >`;
  }

  /** A field at a path; `given` is the value to begin with, if it is not the schema's. */
  #field(field: Field, path: string, given: unknown): TemplateResult {
    const { title, description, isRequired, isNullable, kind } = field;
    const initial = given === undefined ? field.initial : given;
    const label = html`<span class="label" id="name:${toFieldId(path)}"
      >${isRequired ? html`${`${title} `}<span class="soft">(required)</span>` : title}</span
    >`;
    const note = isNullable && isRequired ? " Empty means null." : "";
    const told = html`${description + note === "" ? nothing : html`<span class="soft" id="hint:${toFieldId(path)}">${description}${note}</span>`}${this.#problem(path)}`;
    switch (kind) {
      case "object":
        return this.#group(field, told, html`<div class="fields">${this.#parts(field.fields, path, initial)}</div>`);
      case "either":
        return this.#group(field, told, this.#either(field, path, initial));
      case "list":
        return this.#group(field, told, this.#list(field, path, initial));
      case "several":
        return this.#group(field, told, this.#several(field, path, initial));
      case "const":
        return html`<div>${label}<code>${field.choices[0]?.title}</code> ${told}</div>`;
      case "boolean":
        if (isRequired || !path.includes("/") || field.initial !== undefined) {
          return html`<label
            ><span class="tick">
              <input
                type="checkbox"
                name=${path}
                aria-labelledby="name:${toFieldId(path)}"
                aria-describedby="hint:${toFieldId(path)} wrong:${toFieldId(path)}"
                data-initial=${String(field.initial === true)}
                .checked=${initial === true}
              />
              <strong id="name:${toFieldId(path)}">${title}</strong></span
            >${told}</label
          >`;
        }
        return html`<label>${label}${this.#select(path, CHOICES, toFieldText(field, initial), true)}${told}</label>`;
      default:
    }
    if (this.#takes(field, path)) {
      // The select has its own label, so it is beside the other label and not in it.
      return html`<div class=${kind === "names" ? "wide" : ""}>
        <label>${label}${this.#input(field, path, initial)}${told}</label>${this.#choice(field)}
      </div>`;
    }
    return html`<label class=${kind === "json" || kind === "names" ? "wide" : ""}
      >${label}${this.#input(field, path, initial)}${told}</label
    >`;
  }

  #group({ title, isRequired }: Field, told: TemplateResult, parts: TemplateResult): TemplateResult {
    return html`<fieldset class="wide">
      <legend>${title}${isRequired ? html` <span class="soft">(required)</span>` : nothing}</legend>
      ${told}${parts}
    </fieldset>`;
  }

  #parts(fields: readonly Field[], path: string, initial: unknown): readonly TemplateResult[] {
    return fields.map((field) => this.#field(field, `${path}/${field.name}`, toObject(initial)[field.name]));
  }

  /** A choice among alternatives, and the fields of the chosen one. */
  #either(field: Field, path: string, initial: unknown): TemplateResult {
    const chosen = this.#findChosen(field, path, initial);
    const one = field.fields[chosen];
    return html`<label
        ><span class="label">Which</span>
        <select @change=${(event: Event) => this.#choose(path, Number((event.target as HTMLSelectElement).value))}>
          ${field.isRequired ? nothing : html`<option value="-1" ?selected=${chosen === -1}>(left out)</option>`}
          ${field.fields.map(({ title }, index) => html`<option value=${index} ?selected=${index === chosen}>${title}</option>`)}
        </select></label
      >
      ${one === undefined ? nothing : keyed(chosen, this.#alternative(one, `${path}/${chosen}`, initial))}`;
  }

  #alternative(one: Field, path: string, initial: unknown): TemplateResult {
    if (one.kind === "object") return html`<div class="fields">${this.#parts(one.fields, path, initial)}</div>`;
    return html`<div class="fields">${this.#field(one, path, initial)}</div>`;
  }

  #findChosen({ fields, isRequired }: Field, path: string, initial: unknown): number {
    const known = this.#chosen.get(path);
    if (known !== undefined) return known;
    const fit = initial === undefined ? -1 : fields.findIndex((each) => fits(each, initial));
    const chosen = fit === -1 && isRequired ? 0 : fit;
    this.#chosen.set(path, chosen);
    return chosen;
  }

  #choose(path: string, chosen: number): void {
    this.#chosen.set(path, chosen);
    this.requestUpdate();
  }

  #list(field: Field, path: string, initial: unknown): TemplateResult {
    const items = this.#listItems(path, initial);
    const item = field.item?.();
    if (item === undefined) return html``;
    return html`${repeat(
        items,
        (each) => each.path,
        (each, index) =>
          html`<div class="item" role="group" aria-label="${field.title} ${index + 1}">
            <div class="fields">
              ${this.#field({ ...item, title: `${field.title} ${index + 1}` }, each.path, each.initial)}
            </div>
            <button type="button" @click=${() => this.#remove(path, each)}>
              Remove<span class="unseen"> ${field.title} ${index + 1}</span>
            </button>
          </div>`,
      )}
      <button type="button" data-path=${path} ?disabled=${items.length >= MAX_ITEMS} @click=${() => this.#add(path)}>
        Add<span class="unseen"> to ${field.title}</span>
      </button>`;
  }

  #listItems(path: string, initial: unknown): readonly Item[] {
    const known = this.#items.get(path);
    if (known !== undefined) return known;
    const values: readonly unknown[] = Array.isArray(initial) ? initial.slice(0, MAX_ITEMS) : [];
    const items = values.map((value) => ({ path: this.#newPath(path), initial: value }));
    this.#items.set(path, items);
    return items;
  }

  #newPath(path: string): string {
    this.#number += 1;
    return `${path}/${this.#number}`;
  }

  #add(path: string): void {
    const item = { path: this.#newPath(path), initial: undefined };
    this.#items.set(path, [...(this.#items.get(path) ?? []), item]);
    this.requestUpdate();
    void this.updateComplete.then(() => this.#within(item.path)[0]?.focus());
  }

  /** The focus moves to the button that adds, as the pressed one disappears. */
  #remove(path: string, item: Item): void {
    this.#items.set(
      path,
      (this.#items.get(path) ?? []).filter((each) => each !== item),
    );
    this.requestUpdate();
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)?.focus(),
    );
  }

  #several(field: Field, path: string, initial: unknown): TemplateResult {
    const values: readonly unknown[] = Array.isArray(initial) ? initial : [];
    const own: readonly unknown[] = Array.isArray(field.initial) ? field.initial : [];
    return html`<div class="row" data-path=${path} tabindex="-1">
      ${field.choices.map(
        ({ title, value }, index) =>
          html`<label class="tick"
            ><input
              type="checkbox"
              name="${path}/${index}"
              data-initial=${String(own.some((each) => same(each, value)))}
              .checked=${values.some((each) => same(each, value))}
            />${title}</label
          >`,
      )}
    </div>`;
  }

  #input(field: Field, path: string, initial: unknown): TemplateResult {
    const { kind, choices, isRequired } = field;
    const text = toFieldText(field, initial);
    // `isLong` describes the file, not its name.
    const isLong = field.isLong && !this.#takes(field, path);
    if (kind === "enum") return this.#select(path, choices, text, !isRequired && field.initial === undefined);
    const own = toFieldText(field, field.initial);
    const isWrong = this.problems[path] !== undefined;
    if (kind === "json" || kind === "names" || isLong)
      return html`<textarea
        name=${path}
        aria-labelledby="name:${toFieldId(path)}"
        aria-describedby="hint:${toFieldId(path)} wrong:${toFieldId(path)}"
        rows="4"
        spellcheck="false"
        data-initial=${own}
        aria-invalid=${isWrong}
        .value=${text}
      ></textarea>`;
    const isNumber = kind === "number" || kind === "integer";
    return html`<input
      name=${path}
      aria-labelledby="name:${toFieldId(path)}"
      aria-describedby="hint:${toFieldId(path)} wrong:${toFieldId(path)}"
      type=${field.schema["format"] === "date" ? "date" : "text"}
      inputmode=${isNumber ? "decimal" : "text"}
      data-initial=${own}
      aria-invalid=${isWrong}
      .value=${text}
      autocomplete="off"
    />`;
  }

  #select(path: string, choices: Field["choices"], text: string, isOptional: boolean): TemplateResult {
    return html`<select
      name=${path}
      aria-labelledby="name:${toFieldId(path)}"
      aria-describedby="hint:${toFieldId(path)} wrong:${toFieldId(path)}"
      data-initial=${text}
    >
      ${isOptional ? html`<option value="" ?selected=${text === ""}>(left out)</option>` : nothing}
      ${choices.map((choice) => html`<option value=${choice.text} ?selected=${choice.text === text}>${choice.title}</option>`)}
    </select>`;
  }

  #problem(path: string): TemplateResult | typeof nothing {
    const problem = this.problems[path];
    return problem === undefined
      ? nothing
      : html`<span class="wrong" role="alert" id="wrong:${toFieldId(path)}">${problem}</span>`;
  }

  #fields(): readonly Field[] {
    return listFields(this.schema, this.files !== undefined);
  }

  #readFields(fields: readonly Field[], path: string, problems: Record<string, string>): Record<string, unknown> {
    const values: Record<string, unknown> = path === "" ? this.#unknown(fields) : {};
    for (const field of fields) {
      const value = this.#read(field, path === "" ? field.name : `${path}/${field.name}`, problems);
      if (value !== undefined) values[field.name] = value;
    }
    return values;
  }

  /** Arguments that were written as JSON and have no field. */
  #unknown(fields: readonly Field[]): Record<string, unknown> {
    const known = new Set(fields.map(({ name }) => name));
    return Object.fromEntries(Object.entries(this.#given ?? {}).filter(([name]) => !known.has(name)));
  }

  #read(field: Field, path: string, problems: Record<string, string>): unknown {
    switch (field.kind) {
      case "const":
        return field.choices[0]?.value;
      case "object":
        // An optional object that was not touched is left out, whatever it would require.
        return !field.isRequired && this.#isBlank(path) ? undefined : this.#readFields(field.fields, path, problems);
      case "either": {
        const chosen = this.#chosen.get(path) ?? -1;
        const one = field.fields[chosen];
        return one === undefined
          ? field.isRequired && field.isNullable
            ? null
            : undefined
          : this.#read(one, `${path}/${chosen}`, problems);
      }
      case "list": {
        const items = this.#items.get(path) ?? [];
        const item = field.item?.();
        const problem = countProblem(field, items.length);
        if (problem !== undefined) problems[path] = problem;
        if (item === undefined || (items.length === 0 && !field.isRequired)) return undefined;
        return items.map((each, index) =>
          this.#read({ ...item, title: `${field.title} ${index + 1}` }, each.path, problems),
        );
      }
      case "several": {
        const values = field.choices
          .filter((_, index) => this.#control(`${path}/${index}`)?.checked === true)
          .map(({ value }) => value);
        const problem = countProblem(field, values.length);
        if (problem !== undefined) problems[path] = problem;
        return values.length === 0 && !field.isRequired ? undefined : values;
      }
      default: {
        const read = parseField(field, this.#readWritten(path));
        if (read.ok) return read.value;
        problems[path] = read.problem;
        return undefined;
      }
    }
  }

  #readJson(problems: Record<string, string>): Readonly<Record<string, unknown>> | undefined {
    const read = json(this.#readWritten(JSON_NAME));
    if (!read.ok) problems[JSON_NAME] = read.problem;
    else if (typeof read.value !== "object" || read.value === null || Array.isArray(read.value))
      problems[JSON_NAME] = 'Arguments are an object, such as {"name": "value"}.';
    else return read.value as Record<string, unknown>;
    return undefined;
  }

  /** Shows the arguments as JSON, or in fields. What is wrong in fields is left out of the JSON. */
  #toggle(): void {
    const problems: Record<string, string> = {};
    if (this.isJson) {
      const values = this.#readJson(problems);
      this.problems = problems;
      if (values === undefined) return this.#control(JSON_NAME)?.focus();
      this.isJson = false;
      return this.#begin(values);
    }
    this.#text = JSON.stringify(this.#readFields(this.#fields(), "", problems), null, 2);
    this.problems = {};
    this.isJson = true;
    this.#round += 1;
  }

  #begin(given: Readonly<Record<string, unknown>> | undefined): void {
    this.#given = given;
    this.#items.clear();
    this.#chosen.clear();
    this.problems = {};
    this.#round += 1;
    this.requestUpdate();
  }

  #within(path: string): readonly HTMLInputElement[] {
    const controls = [...(this.renderRoot.querySelector("form")?.elements ?? [])] as HTMLInputElement[];
    return controls.filter(({ name }) => name === path || name.startsWith(`${path}/`));
  }

  #isBlank(path: string): boolean {
    return (
      this.#within(path).every((each) => this.#textIn(each) === (each.dataset["initial"] ?? "")) &&
      [...this.#items].every(([at, items]) => items.length === 0 || !at.startsWith(`${path}/`)) &&
      toObject(this.#given)[path] === undefined
    );
  }

  #readWritten(path: string): string {
    const control = this.#control(path);
    return control === undefined ? "" : this.#textIn(control);
  }

  #textIn(control: HTMLInputElement): string {
    return control.type === "checkbox" ? String(control.checked) : control.value;
  }

  #takes({ name, kind }: Field, path: string): boolean {
    return (
      this.files !== undefined && (kind === "names" || (path === "filename" && name === path && kind === "string"))
    );
  }

  /** A select that fills the field with the name of a file. */
  #choice({ name, kind, title }: Field): TemplateResult {
    const { files = [] } = this;
    if (files.length === 0) return html`<p class="soft">My Files is empty: add a file there.</p>`;
    const first = kind === "names" ? "Add one of My Files…" : "Choose one of My Files…";
    return html`<select
      aria-label="${title}: My Files"
      @change=${(event: Event) => this.#fill(name, kind, event.target as HTMLSelectElement)}
    >
      <option value="" selected>${first}</option>
      ${files.slice(0, MAX_FILES).map((file) => html`<option value=${file}>${file}</option>`)}
    </select>`;
  }

  #fill(name: string, kind: Field["kind"], choice: HTMLSelectElement): void {
    const control = this.#control(name);
    if (control === undefined || choice.value === "") return;
    const isMore = kind === "names" && control.value.trim() !== "";
    control.value = isMore ? `${control.value.trimEnd()}\n${choice.value}` : choice.value;
    choice.value = "";
  }

  #onSubmit(event: Event): void {
    event.preventDefault();
    this.dispatchEvent(new CustomEvent("arguments-submit", { bubbles: true, composed: true }));
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) this.#onSubmit(event);
  }

  #control(name: string): HTMLInputElement | undefined {
    const control = this.renderRoot.querySelector("form")?.elements.namedItem(name);
    return control instanceof HTMLElement ? (control as HTMLInputElement) : undefined;
  }
}

/** The name of the field for JSON; no argument of a tool is empty. */
const JSON_NAME = " json";

/** The choices of an optional boolean. */
const CHOICES: Field["choices"] = [
  { text: "true", title: "yes", value: true },
  { text: "false", title: "no", value: false },
];

/** Whether a value can be one of this alternative, as far as its type and its constants tell. */
function fits({ kind, fields }: Field, value: unknown): boolean {
  if (kind === "list" || kind === "several") return Array.isArray(value);
  if (kind === "integer" || kind === "number") return typeof value === "number";
  if (kind !== "object") return kind === "json" || kind === "enum" || typeof value === kind;
  const object = toObject(value);
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    fields.every((each) => each.kind !== "const" || same(object[each.name], each.choices[0]?.value))
  );
}

/** What ids of a field begin with a word and end with. No id has a space. */
function toFieldId(path: string): string {
  return encodeURIComponent(path);
}

customElements.define("playground-arguments", ArgumentsForm);

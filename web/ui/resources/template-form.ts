/**
 * A template with a field for each of its variables.
 * @module
 */
import { html, type LitElement, nothing, type TemplateResult } from "lit";
import { isPlain, plainText } from "../plain-text.js";
import { panel, type PanelDeps } from "./panel.js";
import { type ResourceReader, describeError, type TemplateVariable } from "./reader.js";

/** Fields of a template. */
const MAX_FIELDS = 64;

/** What a form is wired with. */
interface TemplateFormDeps {
  readonly host: LitElement;
  /** Unique within the element. */
  readonly id: string;
  readonly template: string;
  readonly reader: ResourceReader;
  readonly announce: (sentence: string) => void;
}

/** The form of a template. It keeps its values and contents while it is collapsed. */
export class TemplateForm {
  readonly #deps: TemplateFormDeps;
  #fields: ReadonlyMap<string, CompletionField> | undefined;
  #problem = "";
  #uri: string | undefined;

  /** Requests the variables. */
  constructor(deps: TemplateFormDeps) {
    this.#deps = deps;
    void this.#prepare();
  }

  /** The form and the contents of the expanded URI. */
  render(deps: PanelDeps): TemplateResult {
    const fields = this.#fields;
    const problem = this.#problem === "" ? nothing : html`<p class="problem" role="alert">${this.#problem}</p>`;
    if (fields === undefined) return html`${problem}`;
    const onSubmit = (event: Event): void => {
      event.preventDefault();
      void this.#read(deps);
    };
    return html`<form @submit=${onSubmit}>
        ${[...fields.values()].map((field) => field.render())}
        <button type="submit" class="primary">Read</button>
      </form>
      ${problem}
      ${
        this.#uri === undefined
          ? nothing
          : html`<p class="uri soft"><bdi>${plainText(this.#uri, 1_000)}</bdi></p>
              ${panel(this.#uri, plainText(this.#uri, 100), deps)}`
      }`;
  }

  async #prepare(): Promise<void> {
    const { host, reader, template } = this.#deps;
    try {
      const variables = (await reader.variables(template)).slice(0, MAX_FIELDS);
      this.#fields = new Map(variables.map((variable, at) => [variable.name, this.#field(variable, at)]));
    } catch (error) {
      this.#problem = describeError(error, "This is not a URI template.");
    }
    host.requestUpdate();
  }

  #field({ name, isRequired }: TemplateVariable, at: number): CompletionField {
    const { host, id, reader, template, announce } = this.#deps;
    return new CompletionField({
      host,
      id: `${id}-${at}`,
      label: plainText(name, 100),
      isRequired,
      announce,
      ...(reader.supports.complete && {
        complete: (written: string, signal: AbortSignal) => reader.complete(template, name, written, signal),
      }),
    });
  }

  async #read({ cache }: PanelDeps): Promise<void> {
    const { host, reader, template } = this.#deps;
    const written = Array.from(this.#fields ?? [], ([name, field]) => {
      field.close();
      return [name, field.value] as const;
    });
    this.#problem = "";
    try {
      this.#uri = await reader.expand(template, Object.fromEntries(written.filter(([, value]) => value !== "")));
      void cache.read(this.#uri);
    } catch (error) {
      this.#problem = describeError(error, "No URI can be made of these values.");
    }
    host.requestUpdate();
  }
}

/** Milliseconds after a keystroke before completions are requested. */
const PAUSE = 150;
/** Completions on offer. */
const MOST = 100;
const MAX_VALUE = 1_000;

/** Requests completions of a text. */
type Complete = (written: string, signal: AbortSignal) => Promise<readonly string[]>;

/** What a field is wired with. */
interface FieldDeps {
  readonly host: LitElement;
  /** Unique within the element. */
  readonly id: string;
  readonly label: string;
  readonly isRequired: boolean;
  /** Without it, a plain text field. */
  readonly complete?: Complete;
  readonly announce: (sentence: string) => void;
}

/** One field. */
class CompletionField {
  readonly #deps: FieldDeps;
  #value = "";
  #offered: readonly string[] = [];
  #active = -1;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | undefined;

  /** Starts empty. */
  constructor(deps: FieldDeps) {
    this.#deps = deps;
  }

  /** The text of the field. */
  get value(): string {
    return this.#value;
  }

  /** The label, the field and its list. */
  render(): TemplateResult {
    const { id, label, isRequired, complete } = this.#deps;
    return html`<div class="field">
      <label for=${id}>${label}${isRequired ? nothing : html`<span class="soft"> (optional)</span>`}</label>
      ${
        complete === undefined
          ? html`<input
              id=${id}
              autocomplete="off"
              ?required=${isRequired}
              .value=${this.#value}
              @input=${this.#onInput}
            />`
          : this.#combobox(id, label, isRequired)
      }
    </div>`;
  }

  /** Closes the list and drops pending completions. */
  readonly close = (): void => {
    clearTimeout(this.#pause);
    this.#asking?.abort();
    if (this.#offered.length > 0) this.#offer([]);
  };

  #combobox(id: string, label: string, isRequired: boolean): TemplateResult {
    const isOpen = this.#offered.length > 0;
    return html`<div class="combobox">
      <input
        id=${id}
        role="combobox"
        autocomplete="off"
        spellcheck="false"
        aria-autocomplete="list"
        aria-expanded=${isOpen}
        aria-controls=${`${id}-list`}
        aria-activedescendant=${this.#active < 0 ? nothing : `${id}-${this.#active}`}
        ?required=${isRequired}
        .value=${this.#value}
        @input=${this.#onInput}
        @keydown=${this.#onKey}
        @blur=${this.close}
      />
      <ul id=${`${id}-list`} role="listbox" aria-label=${`Values for ${label}`} ?hidden=${!isOpen}>
        ${this.#offered.map((value, at) => this.#option(value, at))}
      </ul>
    </div>`;
  }

  #option(value: string, at: number): TemplateResult {
    return html`<li
      id=${`${this.#deps.id}-${at}`}
      role="option"
      aria-selected=${at === this.#active}
      @mousedown=${keep}
      @click=${() => this.#choose(value)}
    >
      <bdi>${plainText(value)}</bdi>
    </li>`;
  }

  readonly #onInput = (event: Event): void => {
    this.#value = (event.target as HTMLInputElement).value;
    if (this.#deps.complete === undefined) return;
    // Drop completions of an older text.
    this.#asking?.abort();
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => void this.#ask(), PAUSE);
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const count = this.#offered.length;
    const { key } = event;
    if (key === "ArrowDown" && count === 0) void this.#ask();
    else if (count === 0) return;
    else if (key === "Escape") {
      event.stopPropagation();
      this.close();
    } else if (key === "Enter" && this.#active >= 0) this.#choose(this.#offered[this.#active] ?? "");
    // -1 is the field itself.
    else if (key === "ArrowDown") this.#activate(this.#active + 1 < count ? this.#active + 1 : -1);
    else if (key === "ArrowUp") this.#activate(this.#active < 0 ? count - 1 : this.#active - 1);
    else return;
    event.preventDefault();
  };

  async #ask(): Promise<void> {
    clearTimeout(this.#pause);
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    const values = (await this.#values(asking.signal)).filter(isFit).slice(0, MOST);
    if (asking.signal.aborted) return;
    // Do not offer only what is already written.
    const isNews = values.some((value) => value !== this.#value);
    this.#offer(isNews ? values : []);
    this.#deps.announce(isNews ? countFields(values.length) : values.length === 0 ? "No values." : "No other values.");
  }

  /** The completions; none if the request fails. */
  async #values(signal: AbortSignal): Promise<readonly string[]> {
    try {
      return (await this.#deps.complete?.(this.#value, signal)) ?? [];
    } catch {
      return [];
    }
  }

  /** Shows completions and keeps the active one if it is still among them. */
  #offer(values: readonly string[]): void {
    const active = this.#offered[this.#active];
    this.#offered = values;
    this.#activate(active === undefined ? -1 : values.indexOf(active));
  }

  #activate(at: number): void {
    this.#active = at;
    void this.#show(at);
  }

  async #show(at: number): Promise<void> {
    const { host, id } = this.#deps;
    host.requestUpdate();
    await host.updateComplete;
    host.renderRoot.querySelector(`#${CSS.escape(`${id}-${at}`)}`)?.scrollIntoView({ block: "nearest" });
  }

  #choose(value: string): void {
    this.#value = value;
    this.close();
  }
}

function countFields(count: number): string {
  return count === 1 ? "1 value." : `${count} values.`;
}

/** The field keeps the focus. */
function keep(event: Event): void {
  event.preventDefault();
}

/** Whether a completion is shown exactly as it is. */
function isFit(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_VALUE && isPlain(value);
}

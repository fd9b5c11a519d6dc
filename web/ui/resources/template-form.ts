/**
 * A template with a field for each of its variables.
 * @module
 */
import { html, type LitElement, nothing, type TemplateResult } from "lit";
import { plainText } from "../plain-text.js";
import { CompletionField } from "./completion.js";
import { panel, type PanelTerms } from "./panel.js";
import type { ResourceReader, TemplateVariable } from "./reader.js";
import { sentenceOf } from "./sentence.js";

/** Most fields of one template. */
const MAX_FIELDS = 64;

/** What a form is made for. */
export interface TemplateFormTerms {
  readonly host: LitElement;
  /** Unique within the element. */
  readonly id: string;
  readonly template: string;
  readonly reader: ResourceReader;
  readonly announce: (sentence: string) => void;
}

/** The form of one template, which keeps what was written and read while it is folded away. */
export class TemplateForm {
  readonly #terms: TemplateFormTerms;
  #fields: ReadonlyMap<string, CompletionField> | undefined;
  #problem = "";
  #uri: string | undefined;

  /** Finds out which variables there are. */
  constructor(terms: TemplateFormTerms) {
    this.#terms = terms;
    void this.#prepare();
  }

  /** The form, and what was read of the URI that it made. */
  render(terms: PanelTerms): TemplateResult {
    const fields = this.#fields;
    const problem = this.#problem === "" ? nothing : html`<p class="problem" role="alert">${this.#problem}</p>`;
    if (fields === undefined) return html`${problem}`;
    const onSubmit = (event: Event): void => {
      event.preventDefault();
      void this.#read(terms);
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
              ${panel(this.#uri, plainText(this.#uri, 100), terms)}`
      }`;
  }

  async #prepare(): Promise<void> {
    const { host, reader, template } = this.#terms;
    try {
      const variables = (await reader.variables(template)).slice(0, MAX_FIELDS);
      this.#fields = new Map(variables.map((variable, at) => [variable.name, this.#field(variable, at)]));
    } catch (error) {
      this.#problem = sentenceOf(error, "This is no template of a URI.");
    }
    host.requestUpdate();
  }

  #field({ name, isRequired }: TemplateVariable, at: number): CompletionField {
    const { host, id, reader, template, announce } = this.#terms;
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

  async #read({ shelf }: PanelTerms): Promise<void> {
    const { host, reader, template } = this.#terms;
    const written = Array.from(this.#fields ?? [], ([name, field]) => {
      field.close();
      return [name, field.value] as const;
    });
    this.#problem = "";
    try {
      this.#uri = await reader.expand(template, Object.fromEntries(written.filter(([, value]) => value !== "")));
      void shelf.read(this.#uri);
    } catch (error) {
      this.#problem = sentenceOf(error, "No URI can be made of these values.");
    }
    host.requestUpdate();
  }
}

/**
 * A text field that offers values (ARIA practices "Combobox" with a listbox popup).
 * @module
 */
import { html, type LitElement, nothing, type TemplateResult } from "lit";
import { isPlain, plainText } from "../plain-text.js";

/** Milliseconds without a key before values are asked for. */
const PAUSE = 150;
/** Most values that are offered. */
const MOST = 100;
const MAX_VALUE = 1_000;

/** Gives values for what is written. */
export type Completing = (written: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Who renders a field, and what it has to say. */
export interface FieldTerms {
  readonly host: LitElement;
  /** Unique within the element. */
  readonly id: string;
  readonly label: string;
  readonly isRequired: boolean;
  /** Left out, it is a plain text field. */
  readonly complete?: Completing;
  readonly announce: (sentence: string) => void;
}

/** One field. */
export class CompletionField {
  readonly #terms: FieldTerms;
  #value = "";
  #offered: readonly string[] = [];
  #active = -1;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | undefined;

  /** Begins empty. */
  constructor(terms: FieldTerms) {
    this.#terms = terms;
  }

  /** What is written in it. */
  get value(): string {
    return this.#value;
  }

  /** The label, the field and its list. */
  render(): TemplateResult {
    const { id, label, isRequired, complete } = this.#terms;
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

  /** Closes the list, and forgets what was asked. */
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
      id=${`${this.#terms.id}-${at}`}
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
    if (this.#terms.complete === undefined) return;
    // An answer to what was written before is of no use any more.
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
    // The place before the first is the field itself.
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
    // What is written already is no news, and its list would only cover what comes next.
    const isNews = values.some((value) => value !== this.#value);
    this.#offer(isNews ? values : []);
    this.#terms.announce(isNews ? counted(values.length) : values.length === 0 ? "No values." : "No other values.");
  }

  /** Whoever fails to complete offers nothing: the field works without. */
  async #values(signal: AbortSignal): Promise<readonly string[]> {
    try {
      return (await this.#terms.complete?.(this.#value, signal)) ?? [];
    } catch {
      return [];
    }
  }

  /** What somebody walked to stays where it is offered again: an answer may come while they walk. */
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
    const { host, id } = this.#terms;
    host.requestUpdate();
    await host.updateComplete;
    host.renderRoot.querySelector(`#${CSS.escape(`${id}-${at}`)}`)?.scrollIntoView({ block: "nearest" });
  }

  #choose(value: string): void {
    this.#value = value;
    this.close();
  }
}

function counted(count: number): string {
  return count === 1 ? "1 value." : `${count} values.`;
}

/** The field keeps the focus. */
function keep(event: Event): void {
  event.preventDefault();
}

/** What is chosen must be what is seen. */
function isFit(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_VALUE && isPlain(value);
}

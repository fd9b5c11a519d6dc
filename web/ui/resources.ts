/**
 * `<sluice-resources>`: what a server has to read, and what was read of it.
 * @module
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import search from "lucide-static/icons/search.svg?raw";
import type { ListedResource, ListedTemplate } from "mcp-sluice/tools";
import { icon } from "./icons.js";
import { Announcer } from "./resources/announcer.js";
import { empty, unmatched } from "./resources/empty.js";
import { item } from "./resources/item.js";
import { countsOf, type Lists, listsOf } from "./resources/lists.js";
import { panel, type PanelTerms } from "./resources/panel.js";
import type { ResourceReader } from "./resources/reader.js";
import { found, rowsOf, type Row } from "./resources/rows.js";
import { type Shelf, type ShelfChange, shelfOf } from "./resources/shelf.js";
import { styles } from "./resources/styles.js";
import { type ResourceTab, tablist } from "./resources/tabs.js";
import { TemplateForm } from "./resources/template-form.js";
import { sentenceOfChange, UpdateMarks } from "./resources/updates.js";
import { base, tokens } from "./theme.js";

export { resourceUpdated } from "./resources/shelf.js";
export type { ResourceReader, ShownReading, TemplateVariable } from "./resources/reader.js";
export type { ResourceTab } from "./resources/tabs.js";

/** Rows that are shown at a time. */
const PAGE = 100;

/**
 * The resources and templates of one server: searched, read on click, completed, subscribed to. What was read stays with the reader,
 * also where another element shows it later.
 */
export class SluiceResources extends LitElement {
  /** @hidden */
  static override properties = {
    resources: { attribute: false },
    templates: { attribute: false },
    reader: { attribute: false },
    updates: { attribute: false },
    tab: { reflect: true },
  };
  /** @hidden */
  static override styles = [tokens, base, styles];

  /** What the server lists. */
  declare resources: readonly ListedResource[];
  /** Its templates. */
  declare templates: readonly ListedTemplate[];
  /** Who reads; without one the lists are only shown. */
  declare reader: ResourceReader | undefined;
  /** Those that changed since they were read, where the page keeps count; else `resourceUpdated` tells of each. */
  declare updates: ReadonlySet<string>;
  /** Which list is shown. */
  declare tab: ResourceTab;

  readonly #announcer: Announcer = new Announcer(this);
  readonly #open = new Set<string>();
  readonly #forms = new Map<string, TemplateForm>();
  readonly #unfolded = new Map<string, number>();
  readonly #marks = new UpdateMarks();
  #listed: readonly Row[] = [];
  #patterns: readonly Row[] = [];
  #query = "";
  #pages = 1;
  #shelf: Shelf | undefined;

  constructor() {
    super();
    this.resources = [];
    this.templates = [];
    this.reader = undefined;
    this.updates = new Set();
    this.tab = "resources";
  }

  /** Looks at the reader's shelf again. */
  override connectedCallback(): void {
    super.connectedCallback();
    this.#shelf?.addEventListener("change", this.#onChange);
    this.requestUpdate();
  }

  /** What is under way goes on; nobody looks. */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#shelf?.removeEventListener("change", this.#onChange);
  }

  /** Puts the focus into the search field. */
  override focus(options?: FocusOptions): void {
    this.renderRoot.querySelector<HTMLElement>("input[type=search]")?.focus(options);
  }

  /** Tells that a resource changed: it gets a dot and "Refresh". As the function of this name, for the reader that there is. */
  resourceUpdated(uri: string): void {
    this.#shelf?.updated(uri);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("resources")) this.#listed = rowsOf(this.resources);
    if (changed.has("templates")) this.#patterns = rowsOf(this.templates);
    if (changed.has("reader")) this.#look();
    const isNews = changed.has("reader") || changed.has("updates") || changed.has("resources");
    if (isNews && this.#shelf !== undefined) this.#marks.mark(this.updates, this.#shelf, this.#listed);
    if (changed.has("tab")) this.#pages = 1;
  }

  protected override render(): TemplateResult {
    const lists = this.#lists();
    const counts = countsOf(lists);
    const tab = Object.hasOwn(lists, this.tab) ? this.tab : "resources";
    const rows = found(lists[tab], this.#query);
    return html`<div class="search">
        ${icon(search)}
        <input
          type="search"
          aria-label="Search resources"
          placeholder="Search"
          autocomplete="off"
          .value=${this.#query}
          @input=${this.#onSearch}
        />
      </div>
      ${tablist(tab, counts, (chosen) => this.#choose(chosen))}
      <div role="tabpanel" id="list" aria-labelledby=${`tab-${tab}`}>
        ${rows.length === 0 ? this.#nothing(tab, lists) : this.#rows(rows)}
      </div>
      ${this.#announcer.render()}`;
  }

  #rows(rows: readonly Row[]): TemplateResult {
    const shown = rows.slice(0, PAGE * this.#pages);
    const left = rows.length - shown.length;
    return html`<ul>
        ${repeat(
          shown,
          ({ uri }) => uri,
          (row, at) => this.#item(row, at),
        )}
      </ul>
      ${
        left === 0
          ? nothing
          : html`<p class="empty">
              ${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}
              <button type="button" id="more" @click=${this.#onMore}>Show ${Math.min(PAGE, left)} more</button>
            </p>`
      }`;
  }

  #item(row: Row, at: number): TemplateResult {
    const { reader } = this;
    const shelf = this.#shelf;
    return item(row, {
      id: `panel-${at}`,
      held: row.isTemplate ? undefined : shelf?.get(row.uri),
      isOpen: this.#open.has(row.uri) && shelf !== undefined,
      isReadable: shelf !== undefined,
      toggle: () => this.#toggle(row),
      refresh: () => void shelf?.read(row.uri),
      panel: () => {
        if (reader === undefined || shelf === undefined) return html``;
        const terms: PanelTerms = { reader, shelf, unfolded: this.#unfolded, unfold: (key) => this.#unfold(key) };
        return row.isTemplate ? this.#form(row, at, reader).render(terms) : panel(row.uri, row.name, terms);
      },
    });
  }

  #form(row: Row, at: number, reader: ResourceReader): TemplateForm {
    const announce = (sentence: string): void => this.#announcer.say(sentence);
    const terms = { host: this, id: `field-${at}`, template: row.uri, reader, announce };
    const form = this.#forms.get(row.uri) ?? new TemplateForm(terms);
    this.#forms.set(row.uri, form);
    return form;
  }

  #nothing(tab: ResourceTab, lists: Lists): TemplateResult {
    if (lists[tab].length > 0) return unmatched(() => this.#search(""));
    return empty(tab, lists, (other) => this.#choose(other));
  }

  #lists(): Lists {
    return listsOf(this.#listed, this.#patterns, this.#shelf?.all ?? []);
  }

  #toggle(row: Row): void {
    const isOpening = !this.#open.delete(row.uri);
    if (isOpening) this.#open.add(row.uri);
    const held = this.#shelf?.get(row.uri);
    const isKnown = held?.reading !== undefined || held?.problem !== undefined;
    if (isOpening && !row.isTemplate && !isKnown) void this.#shelf?.read(row.uri);
    this.requestUpdate();
  }

  #choose(tab: ResourceTab): void {
    this.tab = tab;
    void this.#focusNext(`#tab-${tab}`, 0);
  }

  readonly #onSearch = (event: Event): void => this.#search((event.target as HTMLInputElement).value);

  #search(query: string): void {
    this.#query = query;
    this.#pages = 1;
    this.requestUpdate();
    const count = found(this.#lists()[this.tab], query).length;
    this.#announcer.say(count === 1 ? "1 match." : `${count} matches.`);
    if (query === "") this.focus();
  }

  /** Focus goes to the first of those that came. */
  readonly #onMore = (): void => {
    const before = PAGE * this.#pages;
    this.#pages += 1;
    void this.#focusNext(".opener", before);
  };

  async #focusNext(selector: string, at: number): Promise<void> {
    this.requestUpdate();
    await this.updateComplete;
    this.renderRoot.querySelectorAll<HTMLElement>(selector)[at]?.focus();
  }

  #unfold(key: string): void {
    this.#unfolded.set(key, (this.#unfolded.get(key) ?? 0) + 1);
    this.requestUpdate();
  }

  #look(): void {
    const shelf = this.reader && shelfOf(this.reader);
    if (shelf === this.#shelf) return;
    this.#shelf?.removeEventListener("change", this.#onChange);
    if (this.isConnected) shelf?.addEventListener("change", this.#onChange);
    this.#shelf = shelf;
    this.#forms.clear();
    this.#open.clear();
    this.#unfolded.clear();
    this.#marks.forget();
  }

  readonly #onChange = (event: Event): void => {
    const told = sentenceOfChange((event as CustomEvent<ShelfChange>).detail, this.#listed);
    if (told !== undefined) this.#announcer.say(told);
    this.requestUpdate();
  };
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-resources": SluiceResources;
  }
}

if (customElements.get("sluice-resources") === undefined) customElements.define("sluice-resources", SluiceResources);

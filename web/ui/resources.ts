/**
 * `<sluice-resources>`: the resources of a server and their contents.
 * @module
 */
import { html, LitElement, nothing, type PropertyValues, type ReactiveController, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import search from "lucide-static/icons/search.svg?raw";
import type { ListedResource, ListedTemplate } from "mcp-sluice/tools";
import { icon } from "./icons.js";
import {
  countRows,
  empty,
  findRows,
  item,
  type Lists,
  makeLists,
  renderOpened,
  type ResourceTab,
  type Row,
  toRows,
  tablist,
  renderUnmatched,
} from "./resources/list.js";
import { panel, type PanelDeps } from "./resources/panel.js";
import type { ResourceReader } from "./resources/reader.js";
import { sentenceOfChange, type ResourceCache, type CacheChange, findCache, UpdateTracker } from "./resources/cache.js";
import { styles } from "./resources/styles.js";
import { TemplateForm } from "./resources/template-form.js";
import { defineElements } from "./registry.js";
import { baseStyles, themeTokens } from "./theme.js";
import { Wide } from "./wide.js";

export { resourceUpdated } from "./resources/cache.js";
export type { ResourceReader, ShownReading, TemplateVariable } from "./resources/reader.js";
export type { ResourceTab } from "./resources/list.js";

/** Rows shown at a time. */
const PAGE = 100;

/**
 * The resources and templates of a server, with search, reading on click, completion and subscriptions. Contents are kept with
 * the reader, also for other elements.
 *
 * @element sluice-resources
 * @fires {CustomEvent<string | null>} sluice-select - The URI that a person opened; null when it was closed.
 * @csspart search - The search field.
 * @csspart list - The rows of the open tab.
 */
export class SluiceResources extends LitElement {
  /** @hidden */
  static override properties = {
    resources: { attribute: false },
    templates: { attribute: false },
    reader: { attribute: false },
    updates: { attribute: false },
    tab: { reflect: true },
    selected: { attribute: false },
  };
  /** @hidden */
  static override styles = [themeTokens, baseStyles, styles];

  /** The listed resources. */
  declare resources: readonly ListedResource[];
  /** The listed templates. */
  declare templates: readonly ListedTemplate[];
  /** Reads resources. Without it the lists are only shown. */
  declare reader: ResourceReader | undefined;
  /** URIs of resources that changed since they were read, if the page tracks them. Otherwise call `resourceUpdated`. */
  declare updates: ReadonlySet<string>;
  /** The open tab. */
  declare tab: ResourceTab;
  /** The URI or the template that was opened last. Set it to open one, as soon as it is listed; undefined closes it. */
  declare selected: string | undefined;

  readonly #wide: Wide = new Wide(this);
  readonly #announcer: Announcer = new Announcer(this);
  readonly #open = new Set<string>();
  readonly #forms = new Map<string, TemplateForm>();
  readonly #unfolded = new Map<string, number>();
  readonly #marks = new UpdateTracker();
  #listed: readonly Row[] = [];
  #patterns: readonly Row[] = [];
  #query = "";
  #pages = 1;
  #cache: ResourceCache | undefined;

  constructor() {
    super();
    this.resources = [];
    this.templates = [];
    this.reader = undefined;
    this.updates = new Set();
    this.tab = "resources";
    this.selected = undefined;
  }

  /** Observes the reader's cache. */
  override connectedCallback(): void {
    super.connectedCallback();
    this.#cache?.addEventListener("change", this.#onChange);
    this.requestUpdate();
  }

  /** Stops observing. Running reads continue. */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#cache?.removeEventListener("change", this.#onChange);
  }

  /** Focuses the search field. */
  override focus(options?: FocusOptions): void {
    this.renderRoot.querySelector<HTMLElement>("input[type=search]")?.focus(options);
  }

  /** Marks a resource of the current reader as changed. */
  resourceUpdated(uri: string): void {
    this.#cache?.updated(uri);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("resources")) this.#listed = toRows(this.resources);
    if (changed.has("templates")) this.#patterns = toRows(this.templates);
    if (changed.has("reader")) this.#look();
    const before = changed.get("selected");
    if (changed.has("selected") && before !== undefined && this.selected === undefined) this.#open.delete(before);
    const isListed = changed.has("resources") || changed.has("templates") || changed.has("reader");
    if (isListed || changed.has("selected")) this.#reach();
    const isNews = changed.has("reader") || changed.has("updates") || changed.has("resources");
    if (isNews && this.#cache !== undefined) this.#marks.mark(this.updates, this.#cache, this.#listed);
    if (changed.has("tab")) this.#pages = 1;
  }

  protected override render(): TemplateResult {
    const lists = this.#lists();
    const counts = countRows(lists);
    const tab = Object.hasOwn(lists, this.tab) ? this.tab : "resources";
    const rows = findRows(lists[tab], this.#query);
    return html`<div part="search" class="search">
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
      <div
        part="list"
        role="tabpanel"
        id="list"
        class=${this.#wide.isWide ? "wide" : ""}
        aria-labelledby=${`tab-${tab}`}
      >
        ${rows.length === 0 ? this.#nothing(tab, lists) : this.#rows(rows)}
      </div>
      ${this.#announcer.render()}`;
  }

  #rows(rows: readonly Row[]): TemplateResult {
    const shown = rows.slice(0, PAGE * this.#pages);
    const left = rows.length - shown.length;
    return html`<div class="rows">
        <ul>
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
        }
      </div>
      ${this.#wide.isWide ? this.#work(shown) : nothing}`;
  }

  /** What is open, beside the list. */
  #work(rows: readonly Row[]): TemplateResult {
    const at = rows.findIndex(({ uri }) => this.#open.has(uri));
    const row = rows[at];
    if (row === undefined) return html`<p class="empty work">Choose a resource to read it.</p>`;
    return html`<section class="work" aria-label=${row.name}>
      ${renderOpened(row, this.#panel(row, at), `panel-${at}`)}
    </section>`;
  }

  #panel(row: Row, at: number): TemplateResult {
    const { reader } = this;
    const cache = this.#cache;
    if (reader === undefined || cache === undefined) return html``;
    const deps: PanelDeps = { reader, cache, unfolded: this.#unfolded, unfold: (key) => this.#unfold(key) };
    return row.isTemplate ? this.#form(row, at, reader).render(deps) : panel(row.uri, row.name, deps);
  }

  #item(row: Row, at: number): TemplateResult {
    const cache = this.#cache;
    return item(row, {
      id: `panel-${at}`,
      held: row.isTemplate ? undefined : cache?.get(row.uri),
      isOpen: this.#open.has(row.uri) && cache !== undefined,
      isReadable: cache !== undefined,
      toggle: () => this.#toggle(row),
      refresh: () => void cache?.read(row.uri),
      ...(!this.#wide.isWide && { panel: () => this.#panel(row, at) }),
    });
  }

  #form(row: Row, at: number, reader: ResourceReader): TemplateForm {
    const announce = (sentence: string): void => this.#announcer.say(sentence);
    const deps = { host: this, id: `field-${at}`, template: row.uri, reader, announce };
    const form = this.#forms.get(row.uri) ?? new TemplateForm(deps);
    this.#forms.set(row.uri, form);
    return form;
  }

  #nothing(tab: ResourceTab, lists: Lists): TemplateResult {
    if (lists[tab].length > 0) return renderUnmatched(() => this.#search(""));
    return empty(tab, lists, (other) => this.#choose(other));
  }

  #lists(): Lists {
    return makeLists(this.#listed, this.#patterns, this.#cache?.all ?? []);
  }

  #toggle(row: Row): void {
    if (!this.#open.delete(row.uri)) this.#unfoldRow(row);
    this.selected = this.#open.has(row.uri) ? row.uri : [...this.#open].at(-1);
    const detail = this.selected ?? null;
    this.dispatchEvent(new CustomEvent("sluice-select", { detail, bubbles: true, composed: true }));
    this.requestUpdate();
  }

  #unfoldRow({ uri, isTemplate }: Row): void {
    // Beside the list there is room for one.
    if (this.#wide.isWide) this.#open.clear();
    this.#open.add(uri);
    const held = this.#cache?.get(uri);
    const isKnown = held?.reading !== undefined || held?.problem !== undefined;
    if (!isTemplate && !isKnown) void this.#cache?.read(uri);
  }

  /** Opens what is selected, once it is listed, and shows the page of the list that it is on. */
  #reach(): void {
    const { selected } = this;
    if (selected === undefined || this.#cache === undefined || this.#open.has(selected)) return;
    const lists = this.#lists();
    const tab = (["resources", "templates", "cached"] as const).find((each) =>
      lists[each].some(({ uri }) => uri === selected),
    );
    if (tab === undefined) return;
    const at = lists[tab].findIndex(({ uri }) => uri === selected);
    const row = lists[tab][at];
    if (row === undefined) return;
    if (!lists[this.tab].some(({ uri }) => uri === selected)) this.tab = tab;
    this.#query = "";
    this.#pages = Math.max(this.#pages, Math.ceil((at + 1) / PAGE));
    this.#unfoldRow(row);
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
    const count = findRows(this.#lists()[this.tab], query).length;
    this.#announcer.say(count === 1 ? "1 match." : `${count} matches.`);
    if (query === "") this.focus();
  }

  /** Shows more rows and focuses the first of them. */
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
    const cache = this.reader && findCache(this.reader);
    if (cache === this.#cache) return;
    this.#cache?.removeEventListener("change", this.#onChange);
    if (this.isConnected) cache?.addEventListener("change", this.#onChange);
    this.#cache = cache;
    this.#forms.clear();
    this.#open.clear();
    this.#unfolded.clear();
    this.#marks.forget();
  }

  readonly #onChange = (event: Event): void => {
    const told = sentenceOfChange((event as CustomEvent<CacheChange>).detail, this.#listed);
    if (told !== undefined) this.#announcer.say(told);
    this.requestUpdate();
  };
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-resources": SluiceResources;
  }
  interface HTMLElementEventMap {
    "sluice-select": CustomEvent<string | null>;
  }
}

defineElements({ "sluice-resources": SluiceResources });

/** Milliseconds between two announcements. */
const PAUSE = 1_000;
/** Sentences announced at once; more are only counted. */
const MOST = 2;

/** The live region of one element. */
class Announcer implements ReactiveController {
  readonly #host: LitElement;
  #said = "";
  #waiting: string[] = [];
  #pause: ReturnType<typeof setTimeout> | undefined;

  /** Adds itself to the element, which renders it. */
  constructor(host: LitElement) {
    this.#host = host;
    host.addController(this);
  }

  /** Stops announcements when the element is removed. */
  hostDisconnected(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#waiting = [];
  }

  /** Announces a sentence, at once or after the pause. */
  say(sentence: string): void {
    this.#waiting.push(sentence);
    if (this.#pause === undefined) this.#speak();
  }

  /** The visually hidden live region. */
  render(): TemplateResult {
    return html`<p class="unseen" role="status">${this.#said}</p>`;
  }

  readonly #speak = (): void => {
    const sentences = [...new Set(this.#waiting)];
    this.#waiting = [];
    this.#pause = sentences.length === 0 ? undefined : setTimeout(this.#speak, PAUSE);
    if (sentences.length === 0) return;
    this.#said = sentences.length > MOST ? `${sentences.length} changes.` : sentences.join(" ");
    this.#host.requestUpdate();
  };
}

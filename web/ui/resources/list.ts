/**
 * The lists of resources and templates, behind tabs.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import { humanSize } from "mcp-sluice";
import type { ListedResource, ListedTemplate } from "mcp-sluice/tools";
import bell from "lucide-static/icons/bell.svg?raw";
import braces from "lucide-static/icons/braces.svg?raw";
import cachedIcon from "lucide-static/icons/check.svg?raw";
import chevron from "lucide-static/icons/chevron-right.svg?raw";
import { plainText } from "../plain-text.js";
import { icon, chooseIcon } from "../icons.js";
import type { CachedResource } from "./cache.js";

/** One of the lists. */
export type ResourceTab = "resources" | "templates" | "subscribed" | "cached";

/** Names of the tabs, in order. */
const TABS: Readonly<Record<ResourceTab, string>> = {
  resources: "Resources",
  templates: "Templates",
  subscribed: "Subscribed",
  cached: "Cached",
};

const ORDER = Object.keys(TABS) as readonly ResourceTab[];

/** The tabs with counts. `choose` is called with the selected one. */
export function tablist(
  open: ResourceTab,
  counts: Readonly<Record<ResourceTab, number>>,
  choose: (tab: ResourceTab) => void,
): TemplateResult {
  const onKey = (event: KeyboardEvent): void => {
    const at = ORDER.indexOf(open);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const tab = to === undefined ? undefined : ORDER.at(to % ORDER.length);
    if (tab === undefined) return;
    event.preventDefault();
    choose(tab);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`#tab-${tab}`)?.focus();
  };
  return html`<div role="tablist" aria-label="Lists" @keydown=${onKey}>
    ${ORDER.map(
      (tab) =>
        html`<button
          type="button"
          class="plain"
          role="tab"
          id=${`tab-${tab}`}
          aria-controls="list"
          aria-selected=${tab === open}
          tabindex=${tab === open ? 0 : -1}
          @click=${() => choose(tab)}
        >
          ${TABS[tab]} <span class="count">${counts[tab].toLocaleString("en")}</span>
        </button>`,
    )}
  </div>`;
}

/** A row for a resource or a template. */
export interface Row {
  /** The URI or the URI template. */
  readonly uri: string;
  /** Its display name. */
  readonly name: string;
  /** Type and size. */
  readonly facts: string;
  readonly description: string;
  readonly mimeType: string | null;
  readonly isTemplate: boolean;
  /** The text to search, in lower case. */
  readonly searched: string;
}

/** Rows of a list, which the page may give in any number. */
const MAX_ROWS = 20_000;

/** Rows of listed resources, the first for each URI. */
export function toRows(listed: readonly (ListedResource | ListedTemplate)[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const each of listed.slice(0, MAX_ROWS)) {
    const row = toRow(each);
    if (!rows.has(row.uri)) rows.set(row.uri, row);
  }
  return [...rows.values()];
}

/** Rows of cached resources, with their listed names. */
function rowsOfCached(held: readonly CachedResource[], listed: readonly Row[]): readonly Row[] {
  const names = new Map(listed.map((row) => [row.uri, row]));
  return held.map(({ uri }) => names.get(uri) ?? toRow({ uri, name: "" }));
}

/** The rows that contain all words of a query. */
export function findRows(rows: readonly Row[], query: string): readonly Row[] {
  const words = query.slice(0, 200).toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? rows : rows.filter(({ searched }) => words.every((word) => searched.includes(word)));
}

function toRow(listed: ListedResource | ListedTemplate): Row {
  const isTemplate = "uri_template" in listed;
  const uri = isTemplate ? listed.uri_template : listed.uri;
  const name = plainText(listed.title, 200) || plainText(listed.name, 200) || plainText(uri, 200);
  const description = plainText(listed.description, 500);
  const type = plainText(listed.mime_type, 100);
  const facts = [type, isTemplate ? "" : formatSize(listed.size_bytes)].filter((fact) => fact !== "").join(" · ");
  const searched = `${name} ${plainText(listed.name)} ${uri.slice(0, 4_096)} ${description} ${type}`.toLowerCase();
  return { uri, name, facts, description, mimeType: listed.mime_type ?? null, isTemplate, searched };
}

function formatSize(bytes: number | undefined): string {
  return bytes !== undefined && Number.isFinite(bytes) && bytes >= 0 ? humanSize(bytes) : "";
}

/** The rows of every tab. */
export type Lists = Readonly<Record<ResourceTab, readonly Row[]>>;

/** The rows of every tab, from the lists and the cache. */
export function makeLists(
  resources: readonly Row[],
  templates: readonly Row[],
  held: readonly CachedResource[],
): Lists {
  return {
    resources,
    templates,
    subscribed: rowsOfCached(
      held.filter(({ isSubscribed }) => isSubscribed),
      resources,
    ),
    cached: rowsOfCached(
      held.filter(({ reading }) => reading !== undefined),
      resources,
    ),
  };
}

/** The number of rows in each tab. */
export function countRows({ resources, templates, subscribed, cached }: Lists): Readonly<Record<ResourceTab, number>> {
  return {
    resources: resources.length,
    templates: templates.length,
    subscribed: subscribed.length,
    cached: cached.length,
  };
}

/** Options for a row. */
interface ItemOptions {
  /** Unique within the list. */
  readonly id: string;
  readonly held: CachedResource | undefined;
  readonly isOpen: boolean;
  /** Whether there is a reader. */
  readonly isReadable: boolean;
  toggle(): void;
  refresh(): void;
  /** The panel below an open row; without it, it is shown elsewhere. */
  panel?(): TemplateResult;
}

/** A row. Its resource is read when the row is opened. */
export function item(row: Row, deps: ItemOptions): TemplateResult {
  const { id, held, isOpen, isReadable } = deps;
  const uri = plainText(row.uri, 1_000);
  return html`<li>
    <div class="top">
      <button
        type="button"
        class="plain opener"
        aria-expanded=${isOpen}
        aria-controls=${deps.panel === undefined && !isOpen ? nothing : id}
        ?disabled=${!isReadable}
        @click=${() => deps.toggle()}
      >
        <span class="chevron">${icon(chevron)}</span>
        ${row.isTemplate ? icon(braces) : chooseIcon(row.mimeType)}
        <span class="words">
          <bdi class="name">${row.name}</bdi>
          ${uri === row.name ? nothing : html`<bdi class="uri soft">${uri}</bdi>`}
          ${row.facts === "" ? nothing : html`<span class="soft">${row.facts}</span>`}
        </span>
      </button>
      ${held === undefined ? nothing : badges(row, held, deps)}
    </div>
    ${deps.panel === undefined ? nothing : isOpen ? renderOpened(row, deps.panel(), id) : html`<div class="panel" id=${id} hidden></div>`}
  </li>`;
}

/** What is open of a row: its description, and the panel. */
export function renderOpened(row: Row, panel: TemplateResult, id: string): TemplateResult {
  return html`<div class="panel" id=${id}>
    ${row.description === "" ? nothing : html`<p><bdi>${row.description}</bdi></p>`} ${panel}
  </div>`;
}

function badges(row: Row, held: CachedResource, deps: ItemOptions): TemplateResult {
  return html`<span class="badges">
    ${held.isSubscribed ? html`<span class="badge">${icon(bell)}Subscribed</span>` : nothing}
    ${held.reading === undefined ? nothing : html`<span class="badge">${icon(cachedIcon)}Cached</span>`}
    ${
      held.isUpdated
        ? html`<span class="badge updated"><span class="dot"></span>Updated</span>${
              deps.isOpen
                ? nothing
                : html`<button type="button" aria-label=${`Refresh ${row.name}`} @click=${() => deps.refresh()}>
                    Refresh
                  </button>`
            }`
        : nothing
    }
  </span>`;
}

const SENTENCES: Readonly<Record<ResourceTab, string>> = {
  resources: "The server lists no resources.",
  templates: "The server has no templates.",
  subscribed: "There are no subscriptions.",
  cached: "Nothing has been read yet.",
};

/** The message for an empty list. */
export function empty(tab: ResourceTab, lists: Lists, choose: (tab: ResourceTab) => void): TemplateResult {
  const other = (["resources", "templates"] as const).find((each) => lists[each].length > 0);
  return html`<p class="empty">
    ${SENTENCES[tab]}
    ${
      other === undefined
        ? nothing
        : html`<button type="button" @click=${() => choose(other)}>Show the ${other}</button>`
    }
  </p>`;
}

/** The message for a search without results. */
export function renderUnmatched(clear: () => void): TemplateResult {
  return html`<p class="empty">Nothing matches. <button type="button" @click=${clear}>Clear the search</button></p>`;
}

/**
 * Which of its lists the element shows (ARIA practices "Tabs").
 * @module
 */
import { html, type TemplateResult } from "lit";

/** One of the lists. */
export type ResourceTab = "resources" | "templates" | "subscribed" | "cached";

/** What the tabs are called, in their order. */
export const TABS: Readonly<Record<ResourceTab, string>> = {
  resources: "Resources",
  templates: "Templates",
  subscribed: "Subscribed",
  cached: "Cached",
};

const ORDER = Object.keys(TABS) as readonly ResourceTab[];

/** The tabs with how much is in each; `choose` is told which one is wanted. */
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

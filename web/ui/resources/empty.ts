/**
 * What stands in the place of an empty list: one sentence, and one way on.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import type { Lists } from "./lists.js";
import type { ResourceTab } from "./tabs.js";

const SENTENCES: Readonly<Record<ResourceTab, string>> = {
  resources: "The server lists no resources.",
  templates: "The server has no templates.",
  subscribed: "Nothing is subscribed to.",
  cached: "Nothing was read yet.",
};

/** Nothing is in a list. */
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

/** Nothing in a list is what was searched for. */
export function unmatched(clear: () => void): TemplateResult {
  return html`<p class="empty">Nothing matches. <button type="button" @click=${clear}>Clear the search</button></p>`;
}

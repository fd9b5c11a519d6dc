/**
 * A row of tabs, by mouse and by arrow keys.
 * @module
 */
import { css, html, type CSSResult, type TemplateResult } from "lit";

/** A tab: its id and its label. */
export type Tab<T extends string> = readonly [id: T, label: string];

/** Tabs of panels whose ids are `panel-{id}`; `choose` is called with the id of the chosen one. */
export function tabList<T extends string>(
  label: string,
  tabs: readonly Tab<T>[],
  chosen: T,
  choose: (id: T) => void,
): TemplateResult {
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(([id]) => id === chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    choose(next[0]);
    const list = event.currentTarget as HTMLElement;
    list.querySelector<HTMLElement>(`#tab-${next[0]}`)?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} @keydown=${move}>
    ${tabs.map(
      ([id, words]) =>
        html`<button
          role="tab"
          id="tab-${id}"
          aria-controls="panel-${id}"
          aria-selected=${id === chosen}
          tabindex=${id === chosen ? 0 : -1}
          @click=${() => choose(id)}
        >
          ${words}
        </button>`,
    )}
  </div>`;
}

/** Tabs over a hairline; the chosen one is underlined. */
export const tabStyles: CSSResult = css`
  .tabs {
    border-block-end: 1px solid var(--line);
    display: flex;
    flex-wrap: wrap;
    gap: 4px;
  }
  .tabs button {
    background: none;
    border: 0;
    border-block-end: 2px solid transparent;
    border-radius: 0;
    color: var(--text-soft);
    font-weight: 600;
    margin-block-end: -1px;
    min-block-size: max(40px, var(--target));
    padding-inline: 12px;
  }
  .tabs button[aria-selected="true"] {
    background: none;
    border-block-end-color: var(--accent);
    color: var(--text);
  }
  @media (forced-colors: active) {
    .tabs button {
      border-block-end: 0;
    }
    .tabs button[aria-selected="true"] {
      border-block-end: 4px solid Highlight;
    }
  }
`;

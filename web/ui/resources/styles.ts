/**
 * The styles of the resource browser.
 * @module
 */
import { css, type CSSResult } from "lit";

/** Styles of `<sluice-resources>`. */
export const styles: CSSResult = css`
  :host {
    /* In a box that is taller, its rows stay as high as they are. */
    align-content: start;
    display: grid;
    gap: 8px;
    grid-template-columns: minmax(0, 1fr);
  }
  .search {
    align-items: center;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
  }
  .search > .icon {
    color: var(--text-soft);
    grid-area: 1 / 1;
    margin-inline-start: 10px;
    pointer-events: none;
    z-index: 1;
  }
  .search > input {
    grid-area: 1 / 1;
    padding-inline-start: 32px;
  }
  input {
    background: var(--surface);
    border: 1px solid var(--line-strong);
    border-radius: calc(var(--radius) - 2px);
    inline-size: 100%;
    min-block-size: var(--target);
    padding-inline: 10px;
  }
  [role="tablist"] {
    container-type: inline-size;
    display: flex;
    gap: 2px;
    overflow-x: auto;
    scrollbar-width: thin;
  }
  [role="tab"] {
    border-radius: 999px;
    flex: none;
  }
  [role="tab"]:focus-visible {
    outline-offset: -2px;
  }
  .count {
    color: var(--text-soft);
    font-size: 0.9em;
  }
  [role="tab"][aria-selected="true"] .count {
    color: inherit;
  }
  @container (max-width: 36em) {
    [role="tab"] {
      border-radius: var(--radius);
      flex: 1 0 auto;
      flex-direction: column;
      gap: 0;
      line-height: 1.25;
      padding-inline: 4px;
    }
  }
  .wide {
    align-items: start;
    display: grid;
    gap: 32px;
    grid-template-columns: 320px minmax(0, 1fr);
  }
  .wide .opener[aria-expanded="true"] {
    background: var(--accent-soft);
  }
  .wide .chevron {
    display: none;
  }
  .wide .opener {
    padding: 8px;
  }
  .wide li {
    border: 0;
  }
  .work {
    min-inline-size: 0;
  }
  section.work > .panel {
    padding: 0;
  }
  ul {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  li {
    border-block-end: 1px solid var(--line);
  }
  .top {
    align-items: center;
    display: flex;
    flex-wrap: wrap;
    gap: 4px;
  }
  .opener {
    flex: 1 1 200px;
    justify-content: flex-start;
    min-inline-size: 0;
    padding: 6px 4px;
    text-align: start;
    white-space: normal;
  }
  .chevron {
    display: inline-flex;
    transition: rotate 0.12s;
  }
  .opener[aria-expanded="true"] .chevron {
    rotate: 90deg;
  }
  .words {
    display: grid;
    min-inline-size: 0;
  }
  .name {
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  .uri {
    font-family: var(--font-code);
    font-size: 0.9em;
    overflow-wrap: anywhere;
  }
  .badges,
  .row {
    align-items: center;
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
  }
  .badge {
    align-items: center;
    color: var(--text-soft);
    display: inline-flex;
    font-size: 0.9em;
    gap: 4px;
  }
  .updated {
    color: var(--accent);
    font-weight: 600;
  }
  .dot {
    background: currentColor;
    block-size: 8px;
    border-radius: 50%;
    forced-color-adjust: none;
    inline-size: 8px;
  }
  .panel {
    display: grid;
    gap: 8px;
    grid-template-columns: minmax(0, 1fr);
    padding: 2px 4px 12px 30px;
  }
  .panel p,
  figure {
    margin: 0;
  }
  .panel p {
    overflow-wrap: anywhere;
  }
  form {
    display: grid;
    gap: 8px;
    justify-items: start;
  }
  .field {
    display: grid;
    gap: 2px;
    inline-size: 100%;
  }
  .combobox {
    position: relative;
  }
  [role="listbox"] {
    background: var(--surface);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius);
    box-shadow: 0 6px 20px rgb(0 0 0 / 20%);
    inset-block-start: calc(100% + 2px);
    inset-inline: 0;
    max-block-size: 240px;
    overflow: auto;
    padding: 4px;
    position: absolute;
    z-index: 2;
  }
  [role="option"] {
    align-items: center;
    border: 0;
    border-radius: calc(var(--radius) - 4px);
    cursor: pointer;
    display: flex;
    min-block-size: var(--target);
    overflow-wrap: anywhere;
    padding-inline: 8px;
  }
  [role="option"]:hover {
    background: var(--surface-sunken);
  }
  [role="option"][aria-selected="true"] {
    background: var(--accent-soft);
    outline: 2px solid var(--accent);
    outline-offset: -2px;
  }
  pre {
    background: var(--surface-sunken);
    border-radius: var(--radius);
    margin: 4px 0;
    max-block-size: 320px;
    overflow: auto;
    overflow-wrap: anywhere;
    padding: 8px 10px;
    white-space: pre-wrap;
  }
  .problem {
    border-inline-start: 3px solid currentColor;
    color: var(--bad);
    padding-inline-start: 8px;
  }
  .empty {
    align-items: center;
    color: var(--text-soft);
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    margin: 8px 4px;
  }
  @media (forced-colors: active) {
    .wide .opener[aria-expanded="true"] {
      border-color: Highlight;
      outline: 2px solid Highlight;
      outline-offset: -2px;
    }
  }
`;

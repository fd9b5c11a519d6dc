/**
 * What the views have in common.
 * @module
 */
import { css, type CSSResult, type CSSResultArray } from "lit";
import { baseStyles, themeTokens } from "../../ui/theme.js";

/** Headings, panels, chips, fields, lists and empty places. */
const shared: CSSResult = css`
  h1,
  h2,
  h3 {
    font-size: var(--size);
    font-weight: 600;
    line-height: 1.3;
    margin: 0;
  }
  h1,
  .title {
    font-size: var(--size-title);
    letter-spacing: -0.01em;
  }
  .over {
    color: var(--text-soft);
    font-size: var(--size-small);
    font-weight: 600;
  }
  p {
    margin: 0;
  }
  ul {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  .row {
    align-items: center;
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
  }
  .stack {
    display: flex;
    flex-direction: column;
    gap: var(--gap);
    min-inline-size: 0;
  }
  .grow {
    flex: 1;
    min-inline-size: 0;
  }
  h2.grow:not(.cut) {
    min-inline-size: max-content;
  }
  .panel {
    background: var(--surface-raised);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    padding: 12px;
  }
  .chip {
    border: 1px solid var(--line);
    border-radius: 999px;
    color: var(--text-soft);
    display: inline-flex;
    font-size: var(--size-small);
    gap: 6px;
    padding: 0 8px;
    white-space: nowrap;
  }
  .chip.warn {
    background: var(--warn-soft);
    border-color: var(--warn);
    color: var(--warn);
  }
  .chip.bad {
    background: var(--bad-soft);
    border-color: var(--bad);
    color: var(--bad);
  }
  .problem {
    background: var(--bad-soft);
    border: 1px solid var(--bad);
    border-radius: var(--radius);
    color: var(--text);
    overflow-wrap: anywhere;
    padding: 10px 12px;
  }
  .cut {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  /* Names of servers have up to 120 characters or so, and no spaces. */
  h2,
  legend,
  .label,
  .list button {
    overflow-wrap: anywhere;
  }
  label {
    display: block;
  }
  label > .label {
    display: block;
    font-weight: 600;
    margin-block-end: 2px;
  }
  input:not([type="checkbox"], [type="radio"], [type="file"]),
  select,
  textarea {
    background: var(--surface);
    border: 1px solid var(--line-strong);
    border-radius: calc(var(--radius) - 2px);
    inline-size: 100%;
    min-block-size: var(--target);
    padding: 4px 8px;
  }
  textarea {
    font-family: var(--font-code);
    resize: vertical;
  }
  .list {
    display: flow-root;
  }
  .list button:where(:not(.opened *)) {
    background: none;
    border-color: transparent;
    display: block;
    inline-size: 100%;
    padding: 8px;
    text-align: start;
    white-space: normal;
  }
  .list button[aria-current="true"] {
    background: var(--accent-soft);
  }
  @media (forced-colors: active) {
    .list button[aria-current="true"] {
      background: Highlight;
      border-color: Highlight;
      color: HighlightText;
      forced-color-adjust: none;
    }
    .list button[aria-current="true"] * {
      color: HighlightText;
    }
  }
  .empty {
    align-items: center;
    color: var(--text-soft);
    display: flex;
    flex-direction: column;
    gap: 12px;
    justify-content: center;
    min-block-size: 160px;
    padding: 24px;
    text-align: center;
  }
`;

/** What every view begins with. */
export const viewStyles: CSSResultArray = [themeTokens, baseStyles, shared];

/** A list beside what is chosen of it; above it, or left out, where the window is narrow. */
export const twoPanes: CSSResult = css`
  :host {
    block-size: 100%;
    display: grid;
    grid-template-columns: var(--list, 300px) minmax(0, 1fr);
  }
  aside {
    border-inline-end: 1px solid var(--line);
    overflow: auto;
    padding: 16px 8px;
  }
  .work {
    overflow: auto;
    padding: 24px 32px 48px;
  }
  @media (max-width: 1099px) {
    :host {
      block-size: auto;
      display: block;
    }
    .work {
      padding: 16px;
    }
  }
`;

/** Cards of artifacts, as many beside each other as fit. */
export const cards: CSSResult = css`
  .cards {
    display: grid;
    gap: 16px;
    grid-template-columns: repeat(auto-fill, minmax(min(260px, 100%), 1fr));
    margin-block-start: 8px;
  }
`;

/** A dialog over the page; it sets how wide it wants to be as `--wide`. */
export const dialogStyles: CSSResult = css`
  dialog {
    background: var(--surface);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius);
    color: var(--text);
    inline-size: min(var(--wide, 460px), calc(100vw - 24px));
    max-block-size: 90dvh;
    overflow: auto;
    padding: 16px;
  }
  dialog::backdrop {
    background: #0007;
  }
`;

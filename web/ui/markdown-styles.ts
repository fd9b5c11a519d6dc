/**
 * How formatted Markdown looks, in an element of the class `formatted`.
 * @module
 */
import { css, type CSSResult } from "lit";

/** The styles of formatted Markdown. */
export const markdownStyles: CSSResult = css`
  .formatted {
    overflow-wrap: anywhere;
  }
  .formatted > * {
    margin-block: 0 8px;
  }
  .formatted :is(ul, ol) {
    padding-inline-start: 24px;
  }
  .formatted ul {
    list-style: disc;
  }
  .formatted :is(pre, table) {
    background: var(--surface-sunken);
    border-radius: calc(var(--radius) - 2px);
    display: block;
    max-inline-size: 100%;
    overflow: auto;
    padding: 8px;
  }
  .formatted table {
    border-collapse: collapse;
    inline-size: fit-content;
    padding: 0;
  }
  .formatted :is(th, td) {
    border-block-end: 1px solid var(--line);
    overflow-wrap: normal;
    padding: 6px 16px;
    text-align: start;
    vertical-align: top;
  }
  .formatted blockquote {
    border-inline-start: 3px solid var(--line);
    color: var(--text-soft);
    margin-inline: 0;
    padding-inline-start: 12px;
  }
`;

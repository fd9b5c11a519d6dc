/**
 * The styles of a result and its parts.
 * @module
 */
import { css, type CSSResult, type CSSResultGroup } from "lit";
import { baseStyles, themeTokens } from "../theme.js";

/** Chips, badges and small buttons. */
export const chipStyles: CSSResult = css`
  .chip {
    align-items: center;
    background: var(--stored-soft);
    border-radius: var(--radius);
    display: inline-flex;
    flex-wrap: wrap;
    font-family: var(--font);
    gap: 2px 8px;
    max-inline-size: 100%;
    padding: 2px 8px;
    vertical-align: middle;
    white-space: normal;
  }
  .chip > sluice-thumbnail {
    block-size: 22px;
    border-radius: 4px;
    inline-size: 22px;
  }
  .chip .what {
    font-variant-numeric: tabular-nums;
    min-inline-size: 0;
    overflow-wrap: anywhere;
  }
  .chip .file {
    font-weight: 600;
  }
  .chip .file + .facts {
    color: var(--text-soft);
    font-size: var(--size-small);
  }
  .chip .tools {
    align-items: center;
    display: inline-flex;
    flex-wrap: wrap;
    gap: 4px;
  }
  .chip.alone {
    align-items: start;
    display: grid;
    gap: 2px 16px;
    grid-template-columns: 92px minmax(0, 1fr);
    grid-template-rows: auto auto 1fr;
    padding: 10px;
  }
  .alone > sluice-thumbnail {
    background: var(--surface-raised);
    block-size: 92px;
    border-radius: 6px;
    grid-row: 1 / span 3;
    inline-size: 92px;
  }
  .alone .file {
    display: block;
  }
  .alone > .soft:not(.why),
  .alone > .chip {
    grid-column: 2;
  }
  .alone .why {
    font-size: var(--size-small);
    overflow-wrap: anywhere;
  }
  .alone > .tools {
    align-self: end;
    margin-block-start: 6px;
  }
  @container (max-width: 380px) {
    .chip.alone {
      column-gap: 10px;
      grid-template-columns: 40px minmax(0, 1fr);
    }
    .alone > sluice-thumbnail {
      block-size: 40px;
      grid-row: auto;
      inline-size: 40px;
    }
    .chip.alone > :is(.why, .tools) {
      grid-column: 1 / -1;
    }
  }
  .lit,
  .chip:hover {
    background: var(--accent-soft);
    outline: 1px solid var(--accent);
  }
  button.small {
    font-size: 12px;
    min-block-size: min(var(--target), 28px);
    min-inline-size: 0;
    padding: 0 8px;
  }
  @media (pointer: coarse), (max-width: 640px) {
    button.small {
      min-block-size: var(--target);
      min-inline-size: var(--target);
    }
  }
  .text {
    overflow-wrap: anywhere;
    unicode-bidi: isolate;
    white-space: pre-wrap;
  }
  @media (forced-colors: active) {
    .chip {
      border: 1px solid CanvasText;
    }
    .lit {
      outline: 2px solid Highlight;
    }
  }
`;

/** The segmented control. */
const segmentedStyles: CSSResult = css`
  .segmented {
    border: 1px solid var(--line-strong);
    border-radius: var(--radius);
    display: inline-flex;
    margin: 0;
    min-inline-size: 0;
    overflow: hidden;
    padding: 0;
  }
  .segmented label {
    align-items: center;
    cursor: pointer;
    display: inline-flex;
    justify-content: center;
    min-block-size: var(--target);
    min-inline-size: var(--target);
    padding: 2px 12px;
    position: relative;
    white-space: nowrap;
  }
  .segmented label + label {
    border-inline-start: 1px solid var(--line);
  }
  .segmented label:hover {
    background: var(--surface-sunken);
  }
  .segmented input {
    appearance: none;
    cursor: pointer;
    inset: 0;
    margin: 0;
    position: absolute;
  }
  .segmented input:focus-visible {
    outline-offset: -3px;
  }
  .segmented label:has(:checked) {
    background: var(--accent-soft);
    box-shadow: inset 0 -2px var(--accent);
    font-weight: 600;
  }
  @media (forced-colors: active) {
    .segmented label:has(:checked) {
      forced-color-adjust: none;
      background: Highlight;
      color: HighlightText;
    }
  }
`;

/** The styles of `<sluice-result>`. */
export const resultStyles: CSSResultGroup = [
  themeTokens,
  baseStyles,
  segmentedStyles,
  css`
    :host {
      display: grid;
      gap: var(--gap);
      grid-template-columns: minmax(0, 1fr);
      min-inline-size: 0;
    }
    .bar {
      align-items: center;
      display: flex;
      flex-wrap: wrap;
      gap: 8px;
      position: relative;
    }
    .problem {
      background: var(--bad-soft);
      border-radius: 4px;
      color: var(--bad);
      margin: 0;
      padding: 4px 8px;
    }
    .columns {
      display: grid;
      gap: var(--gap);
      grid-template-columns: minmax(0, 1fr);
    }
    .columns.split {
      grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
    }
    section {
      background: var(--surface);
      border: 1px solid var(--line);
      border-radius: 14px;
      container-type: inline-size;
      display: flex;
      flex-direction: column;
      min-inline-size: 0;
      overflow: hidden;
      position: relative;
    }
    h3 {
      align-items: center;
      block-size: 48px;
      border-block-end: 1px solid var(--line);
      display: flex;
      flex: none;
      font-size: 1em;
      gap: 8px;
      margin: 0;
      padding-inline: 16px;
    }
    h3 .soft {
      font-weight: 400;
    }
    .scroll {
      max-block-size: calc(var(--sluice-result-height, 60vh) + 40px);
      overflow: auto;
    }
    @media (max-width: 480px) {
      .segmented label {
        padding-inline: 8px;
      }
    }
  `,
];

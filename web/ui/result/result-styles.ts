/**
 * What a result looks like around its parts.
 * @module
 */
import { css, type CSSResultGroup } from "lit";
import { base, tokens } from "../theme.js";
import { segmentedStyles } from "./styles.js";

/** The styles of `<sluice-result>`. */
export const resultStyles: CSSResultGroup = [
  tokens,
  base,
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
      display: flex;
      flex-direction: column;
      gap: 8px;
      min-inline-size: 0;
    }
    h3 {
      font-size: 1em;
      margin: 0;
    }
    h3 .soft {
      font-weight: 400;
    }
    .scroll {
      background: var(--surface-raised);
      border: 1px solid var(--line);
      border-radius: var(--radius);
      max-block-size: calc(var(--sluice-result-height, 60vh) + 40px);
      overflow: auto;
      padding: 8px;
    }
    @media (max-width: 480px) {
      .segmented label {
        padding-inline: 8px;
      }
    }
  `,
];

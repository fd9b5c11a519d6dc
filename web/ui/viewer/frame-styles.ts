/**
 * How the frame around previews looks.
 * @module
 */
import { css, type CSSResult } from "lit";

/** The frame around previews: name, tabs, what is in the way. */
export const frameStyles: CSSResult = css`
  :host {
    background: var(--surface);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    container-type: inline-size;
    display: flex;
    flex-direction: column;
    max-block-size: var(--sluice-viewer-height, 80vh);
    min-block-size: 240px;
    min-inline-size: 0;
    overflow: hidden;
  }
  header {
    align-items: center;
    display: flex;
    flex: none;
    gap: 8px;
    padding: 8px var(--gap) 0;
  }
  header .name {
    flex: 1;
    min-inline-size: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    unicode-bidi: isolate;
    white-space: nowrap;
  }
  [role="tablist"] {
    border-block-end: 1px solid var(--line);
    display: flex;
    flex: none;
    gap: 4px;
    padding: 6px var(--gap) 0;
  }
  [role="tab"] {
    background: none;
    border: 0;
    border-block-end: 3px solid transparent;
    border-radius: 0;
  }
  [role="tab"][aria-selected="true"] {
    background: none;
    border-block-end-color: var(--accent);
    font-weight: 600;
  }
  [role="tab"]:focus-visible {
    outline-offset: -2px;
  }
  [role="tabpanel"] {
    display: flex;
    flex: 1;
    flex-direction: column;
    min-block-size: 0;
    overflow: auto;
  }
  [role="tabpanel"]:focus-visible {
    outline-offset: -2px;
  }
  .host,
  .host > div {
    display: flex;
    flex: 1 1 auto;
    flex-direction: column;
    min-block-size: 0;
    min-inline-size: 0;
  }
  .notice {
    align-items: center;
    background: var(--surface-raised);
    border-block-end: 1px solid var(--line);
    display: flex;
    flex: none;
    flex-wrap: wrap;
    gap: 8px;
    margin: 0;
    padding: 6px var(--gap);
  }
  .notice.problem {
    border-inline-start: 4px solid var(--warn);
  }
  .notice progress {
    accent-color: var(--accent);
    flex: 1;
    min-inline-size: 80px;
  }
  .info {
    display: grid;
    gap: 8px;
    margin: 0;
    padding: var(--gap);
  }
  .info div {
    display: grid;
    gap: 2px 12px;
    grid-template-columns: 96px minmax(0, 1fr);
  }
  .info dt {
    color: var(--text-soft);
  }
  .info dd {
    align-items: center;
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    margin: 0;
    overflow-wrap: anywhere;
    unicode-bidi: isolate;
    white-space: pre-line;
  }
  @container (max-width: 480px) {
    .info div {
      grid-template-columns: minmax(0, 1fr);
    }
    header .facts {
      display: none;
    }
  }
  @media (forced-colors: active) {
    [role="tab"][aria-selected="true"] {
      border-block-end-color: Highlight;
    }
  }
`;

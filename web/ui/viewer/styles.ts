/**
 * The styles of the viewer and of its previews.
 * @module
 */
import { css, type CSSResult } from "lit";

/** The frame around previews: name, tabs and messages. */
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
  header .name,
  .entry .path {
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

/** The previews. Row heights must match those in the code. */
export const previewStyles: CSSResult = css`
  .bar {
    align-items: center;
    border-block-end: 1px solid var(--line);
    display: flex;
    flex: none;
    flex-wrap: wrap;
    gap: 6px;
    margin: 0;
    padding: 4px var(--gap);
  }
  .bar .bar {
    border: 0;
    padding: 0;
  }
  .bar input {
    flex: none;
    background: var(--surface);
    border: 1px solid var(--line-strong);
    border-radius: calc(var(--radius) - 2px);
    inline-size: 5em;
    min-block-size: var(--target);
    padding-inline: 6px;
  }
  .empty {
    margin: 0;
    padding: var(--gap);
  }
  .frame,
  .text,
  .table,
  .hex,
  .pdf {
    contain: content;
    flex: 1 1 auto;
    min-block-size: 120px;
    overflow: auto;
    position: relative;
  }
  .frame:focus-visible,
  .text:focus-visible,
  .table:focus-visible,
  .hex:focus-visible,
  .pdf:focus-visible {
    outline-offset: -2px;
  }
  .sheets {
    border-block-end: 1px solid var(--line);
    display: flex;
    flex: none;
    flex-wrap: wrap;
    gap: 4px;
    padding: 8px var(--gap);
  }
  .sheet {
    display: flex;
    flex: 1 1 auto;
    flex-direction: column;
    min-block-size: 200px;
  }
  .slide {
    border: 1px solid var(--line);
    border-radius: var(--radius);
    margin: var(--gap) var(--gap) 0;
  }
  .slide > h3 {
    font-size: var(--size-small);
    margin: 8px var(--gap) 0;
  }
  .slide > .page-of-text {
    min-block-size: 0;
  }
  .page-of-text {
    contain: content;
    flex: 1 1 auto;
    min-block-size: 120px;
    overflow: auto;
    padding: var(--gap);
  }
  .page-of-text:focus-visible {
    outline-offset: -2px;
  }
  .page-of-text > .formatted {
    margin-inline: auto;
    max-inline-size: 80ch;
  }
  .page-of-text :is(h1, h2, h3, h4, h5, h6) {
    font-size: var(--size);
    line-height: 1.4;
    margin-block: 20px 8px;
  }
  .page-of-text :is(h1, h2) {
    font-size: var(--size-title);
  }
  .page-of-text .formatted > :first-child {
    margin-block-start: 0;
  }
  .page-of-text h1 {
    border-block-end: 1px solid var(--line);
    padding-block-end: 4px;
  }
  .list,
  .entry {
    display: flex;
    flex: 1 1 auto;
    flex-direction: column;
    min-block-size: 0;
  }
  .entry sluice-viewer {
    --sluice-viewer-height: none;
    border: 0;
    border-radius: 0;
    flex: 1;
  }
  .rows {
    position: relative;
  }
  .row {
    inset-block-start: 0;
    inset-inline-start: 0;
    min-inline-size: 100%;
    position: absolute;
  }
  .frame {
    display: flex;
  }
  .checkered {
    background: repeating-conic-gradient(var(--surface-sunken) 0 25%, var(--surface) 0 50%) 0 0 / 16px 16px;
  }
  .image {
    flex: none;
    margin: auto;
  }
  .image.fitted {
    max-block-size: 65vh;
    max-inline-size: 100%;
    object-fit: contain;
  }
  .player {
    inline-size: 100%;
    margin: auto;
    max-block-size: 65vh;
    padding: var(--gap);
  }
  iframe.page {
    background: #ffffff;
    block-size: 60vh;
    border: 0;
    color-scheme: light;
    flex: 1 1 auto;
    inline-size: 100%;
    min-block-size: 200px;
  }
  .text,
  .hex {
    font-family: var(--font-code);
    font-size: 13px;
    line-height: 20px;
  }
  .line {
    display: flex;
    inline-size: max-content;
    min-block-size: 20px;
  }
  .wraps .line {
    inline-size: 100%;
  }
  .line .number {
    background: var(--surface);
    color: var(--text-soft);
    flex: none;
    inline-size: 8ch;
    inset-inline-start: 0;
    padding-inline: 4px 12px;
    position: sticky;
    text-align: end;
    user-select: none;
  }
  .line .written {
    direction: ltr;
    font-size: inherit;
    padding-inline-end: 12px;
    tab-size: 4;
    unicode-bidi: isolate;
    white-space: pre;
  }
  .wraps .written {
    min-inline-size: 0;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  .table {
    font-variant-numeric: tabular-nums;
  }
  .table .rows {
    inline-size: var(--width);
    min-inline-size: 100%;
  }
  .table .head {
    background: var(--surface-raised);
    font-weight: 600;
    inline-size: var(--width);
    inset-block-start: 0;
    min-inline-size: 100%;
    position: sticky;
    z-index: 2;
  }
  .record {
    block-size: 28px;
    border-block-end: 1px solid var(--line);
    display: grid;
    grid-template-columns: var(--columns);
    line-height: 27px;
  }
  .head .record,
  .opens .record {
    block-size: calc(var(--target) + 1px);
    line-height: var(--target);
  }
  .record > * {
    overflow: hidden;
    padding-inline: 10px;
    text-overflow: ellipsis;
    unicode-bidi: isolate;
    white-space: pre;
  }
  .record .number {
    background: var(--surface-raised);
    color: var(--text-soft);
    grid-column: 1;
    inset-inline-start: 0;
    position: sticky;
    text-align: end;
    z-index: 1;
  }
  .record .numeric {
    text-align: end;
  }
  .record.found > * {
    background: var(--accent-soft);
  }
  .record > [role="columnheader"]:not(.number),
  .record > :has(> .opener) {
    padding: 0;
  }
  .sort,
  .opener {
    background: none;
    block-size: 100%;
    border: 0;
    border-radius: 0;
    font-weight: inherit;
    inline-size: 100%;
    justify-content: flex-start;
    min-block-size: 0;
    padding: 0 10px;
  }
  .sort > span,
  .opener {
    display: block;
    overflow: hidden;
    text-align: start;
    text-overflow: ellipsis;
    white-space: pre;
  }
  .opener {
    color: var(--accent);
  }
  .sort {
    display: flex;
  }
  /* The name stands above the last digits, the mark before it. */
  .numeric > .sort {
    flex-direction: row-reverse;
  }
  .sort:focus-visible,
  .opener:focus-visible {
    outline-offset: -2px;
  }
  .sort::after {
    background: currentColor;
    block-size: 6px;
    clip-path: polygon(50% 0, 100% 100%, 0 100%);
    content: "";
    flex: none;
    forced-color-adjust: none;
    inline-size: 8px;
    visibility: hidden;
  }
  .sort:hover::after,
  :not([aria-sort="none"]) > .sort::after {
    visibility: visible;
  }
  .sort:hover::after {
    opacity: 0.5;
  }
  :not([aria-sort="none"]) > .sort::after {
    opacity: 1;
  }
  [aria-sort="descending"] > .sort::after {
    rotate: 180deg;
  }
  .bar input.filter {
    flex: 1;
    inline-size: auto;
    max-inline-size: 24em;
    min-inline-size: 7em;
  }
  .bar input[placeholder="Row"] {
    inline-size: 7em;
  }
  .probe {
    block-size: var(--target);
    display: block;
    inline-size: 100ch;
    position: absolute;
  }
  .bytes {
    block-size: 20px;
    display: flex;
    gap: 2ch;
    padding-inline: var(--gap);
    white-space: pre;
  }
  .bytes .offset {
    color: var(--text-soft);
  }
  .pdf {
    background: var(--surface-sunken);
    scrollbar-gutter: stable;
  }
  .sheets {
    display: flex;
    justify-content: center;
    padding-block-start: 12px;
  }
  .sheet {
    background: #ffffff;
    box-shadow: 0 1px 4px rgb(0 0 0 / 30%);
    color: #1b1f24;
    flex: none;
    max-inline-size: 100%;
    position: relative;
  }
  .sheet canvas {
    block-size: 100%;
    display: block;
    inline-size: 100%;
  }
  .sheet:has(> img) {
    inline-size: min(720px, 100% - 24px);
  }
  .sheet img {
    display: block;
    inline-size: 100%;
  }
  .pdf .words {
    margin: var(--gap);
    white-space: pre-wrap;
  }
  .written .bold {
    font-weight: 700;
  }
  .written .italic {
    font-style: italic;
  }
  .token-constant,
  .token-function {
    color: light-dark(#0550ae, #79c0ff);
  }
  .token-keyword {
    color: light-dark(#a0262e, #ff938a);
  }
  .token-string,
  .token-string-expression {
    color: light-dark(#0a5c36, #8ddb8c);
  }
  .token-comment {
    color: var(--text-soft);
  }
  .token-parameter {
    color: light-dark(#8a4600, #ffa657);
  }
  .token-link {
    color: var(--accent);
    text-decoration: underline;
  }
  .token-inserted {
    color: var(--good);
  }
  .token-deleted {
    color: var(--bad);
  }
  .token-changed {
    color: var(--warn);
  }
`;

/**
 * What cards and chips look like.
 * @module
 */
import { css, type CSSResult } from "lit";

/** Styles of `<sluice-artifact>`. */
export const styles: CSSResult = css`
  :host {
    display: block;
  }
  :host([compact]) {
    display: inline-block;
    max-inline-size: 100%;
    vertical-align: middle;
  }
  .card {
    background: var(--surface-raised);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    display: grid;
    gap: 8px;
    padding: var(--gap);
  }
  .deferred {
    background: var(--surface);
    border-color: var(--line-strong);
    border-style: dashed;
  }
  .head {
    display: grid;
    gap: 2px 10px;
    grid-template-columns: auto minmax(0, 1fr);
  }
  .head > .icon {
    align-self: center;
    block-size: 28px;
    color: var(--text-soft);
    grid-row: span 2;
    inline-size: 28px;
  }
  .name {
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  .head p,
  .note {
    margin: 0;
    overflow-wrap: anywhere;
  }
  [role="alert"] {
    display: contents;
  }
  .row {
    align-items: center;
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
  }
  .note {
    border-inline-start: 3px solid currentColor;
    color: var(--warn);
    padding-inline-start: 8px;
  }
  .note.bad {
    color: var(--bad);
  }
  .said:not(:empty) {
    align-items: center;
    color: var(--good);
    display: inline-flex;
    gap: 4px;
  }
  .danger {
    border-color: var(--bad);
    color: var(--bad);
  }
  summary {
    align-items: center;
    color: var(--text-soft);
    cursor: pointer;
    display: inline-flex;
    gap: 4px;
    min-block-size: var(--target);
  }
  summary .icon {
    transition: rotate 0.12s;
  }
  details[open] summary .icon {
    rotate: 90deg;
  }
  summary::-webkit-details-marker {
    display: none;
  }
  dl {
    display: grid;
    gap: 4px var(--gap);
    grid-template-columns: auto minmax(0, 1fr);
    margin: 4px 0 0;
  }
  dt {
    color: var(--text-soft);
  }
  dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .ref {
    user-select: all;
  }
  [popover] {
    background: var(--surface);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius);
    box-shadow: 0 6px 20px rgb(0 0 0 / 20%);
    color: var(--text);
    inset: auto;
    margin: 0;
    max-inline-size: calc(100vw - 8px);
    padding: 4px;
    position: fixed;
  }
  [popover]:popover-open {
    display: grid;
  }
  [role="menuitem"] {
    background: none;
    border-color: transparent;
    inline-size: 100%;
    justify-content: flex-start;
  }
  [role="menuitem"]:hover,
  [role="menuitem"]:focus {
    background: var(--surface-sunken);
  }
  .chip {
    align-items: center;
    background: var(--surface-raised);
    border: 1px solid var(--line);
    border-radius: calc(var(--target) / 2);
    display: inline-flex;
    gap: 6px;
    max-inline-size: 100%;
    min-block-size: var(--target);
    padding-inline: 10px 2px;
  }
  .chip.deferred {
    border-style: dashed;
  }
  .chip > .icon,
  .chip .soft,
  .chip .row {
    flex: none;
  }
  .chip .name {
    font-weight: 500;
    max-inline-size: 28ch;
    min-inline-size: 0;
    overflow: hidden;
    overflow-wrap: normal;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .chip button {
    border-radius: calc(var(--target) / 2);
  }
  .chip button.name {
    background: none;
    border: 0;
    display: block;
    padding: 0 2px;
  }
  .chip button.name:hover {
    text-decoration: underline;
  }
  .chip > :last-child:not(button) {
    margin-inline-end: 8px;
  }
  .chip .note {
    border: 0;
    padding: 0;
  }
`;

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
    border-radius: 14px;
    display: grid;
    gap: 8px;
    grid-template-columns: minmax(0, 1fr);
    overflow: hidden;
    padding-block-end: 8px;
  }
  .card > * {
    margin-inline: 14px;
  }
  .card > sluice-thumbnail {
    block-size: var(--sluice-artifact-picture, 132px);
    border: 0;
    border-block-end: 1px solid var(--line);
    border-radius: 0;
    inline-size: auto;
    margin: 0;
  }
  .card > .row {
    margin-inline: 8px;
  }
  .seen {
    cursor: pointer;
  }
  .deferred {
    background: var(--surface);
    border-color: var(--line-strong);
    border-style: dashed;
  }
  .deferred > sluice-thumbnail {
    block-size: 72px;
  }
  .head {
    display: grid;
    gap: 2px;
    grid-template-columns: minmax(0, 1fr);
    margin-block-start: 4px;
  }
  .name {
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  .head .soft {
    font-size: var(--size-small);
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
    gap: 4px;
  }
  .card .main {
    margin-inline-end: auto;
  }
  .button.plain {
    background: none;
    border-color: transparent;
  }
  .button.plain:hover {
    background: var(--surface-sunken);
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
  dl {
    display: grid;
    gap: 4px var(--gap);
    grid-template-columns: auto minmax(0, 1fr);
    font-size: var(--size-small);
    margin: 0;
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
  .chip {
    align-items: center;
    background: var(--surface-raised);
    border: 1px solid var(--line);
    border-radius: calc(var(--target) / 2);
    display: inline-flex;
    gap: 6px;
    max-inline-size: 100%;
    min-block-size: var(--target);
    padding-inline: 4px 2px;
  }
  .chip.deferred {
    border-style: dashed;
  }
  .chip sluice-thumbnail {
    block-size: 24px;
    border-radius: 12px;
    inline-size: 24px;
  }
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

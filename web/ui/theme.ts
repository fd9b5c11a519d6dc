/**
 * The theme of all elements: tokens that a page may set, and their defaults.
 * @module
 */
import { css, type CSSResult } from "lit";

/**
 * Tokens. Each `--sluice-…` property that a page sets wins; else colours follow `color-scheme`. Text has a contrast of 4.5 : 1
 * at least on each of the three surfaces, in both themes.
 */
export const themeTokens: CSSResult = css`
  :host {
    --text: var(--sluice-text, light-dark(#14171c, #eceef1));
    --text-soft: var(--sluice-text-soft, light-dark(#5a6370, #98a2b0));
    --surface: var(--sluice-surface, light-dark(#fbfbfc, #0e1013));
    --surface-raised: var(--sluice-surface-raised, light-dark(#ffffff, #15181d));
    --surface-sunken: var(--sluice-surface-sunken, light-dark(#f1f3f6, #1c2027));
    --line: var(--sluice-line, light-dark(#e3e6ea, #282d36));
    --line-strong: var(--sluice-line-strong, light-dark(#7a8490, #7b8591));
    --accent: var(--sluice-accent, light-dark(#1f5eff, #7da2ff));
    --on-accent: var(--sluice-on-accent, light-dark(#ffffff, #0b1020));
    --accent-soft: var(--sluice-accent-soft, light-dark(#eef3ff, #16203a));
    --good: var(--sluice-good, light-dark(#0a7a4e, #63cf8d));
    --good-soft: var(--sluice-good-soft, light-dark(#e6f6ee, #10261f));
    --warn: var(--sluice-warn, light-dark(#855100, #f2b65c));
    --warn-soft: var(--sluice-warn-soft, light-dark(#fcefd9, #3a2a0d));
    --bad: var(--sluice-bad, light-dark(#b3261e, #ff8f86));
    --bad-soft: var(--sluice-bad-soft, light-dark(#fbe4e2, #451a17));
    /* What the server sent, what is stored of it, and what the model sees: the same three everywhere. */
    --sent: var(--sluice-sent, light-dark(#646d79, #98a2b0));
    --sent-soft: var(--sluice-sent-soft, light-dark(#eceef1, #20252d));
    --stored: var(--sluice-stored, light-dark(#0a7554, #4fd1a5));
    --stored-soft: var(--sluice-stored-soft, light-dark(#e9f7f2, #10261f));
    --seen: var(--sluice-seen, var(--accent));
    --seen-soft: var(--sluice-seen-soft, var(--accent-soft));
    --size-small: 12px;
    --size: 14px;
    --size-title: 18px;
    --size-display: 36px;
    --font: var(--sluice-font, system-ui, sans-serif);
    --font-code: var(--sluice-font-code, ui-monospace, "SFMono-Regular", "DejaVu Sans Mono", monospace);
    --radius: var(--sluice-radius, 8px);
    --gap: var(--sluice-gap, 12px);
    /** The least side of what is touched. */
    --target: var(--sluice-target, 32px);
  }
  @media (pointer: coarse), (max-width: 640px) {
    :host {
      --target: var(--sluice-target, 44px);
    }
  }
  @media (max-width: 640px) {
    :host {
      --size-display: 28px;
    }
  }
`;

/** Text, buttons, focus and what is only for screen readers. */
export const baseStyles: CSSResult = css`
  :host {
    box-sizing: border-box;
    color: var(--text);
    font-family: var(--font);
    font-size: var(--size);
    font-variant-numeric: tabular-nums;
    line-height: 1.5;
  }
  :host([hidden]),
  [hidden] {
    display: none !important;
  }
  *,
  *::before,
  *::after {
    box-sizing: inherit;
  }
  button,
  input,
  select,
  textarea {
    color: inherit;
    font: inherit;
  }
  button,
  .button {
    align-items: center;
    background: var(--surface-raised);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    color: var(--text);
    cursor: pointer;
    display: inline-flex;
    gap: 6px;
    justify-content: center;
    min-block-size: var(--target);
    min-inline-size: var(--target);
    padding: 2px 10px;
    text-decoration: none;
    white-space: nowrap;
  }
  @media (hover: hover) {
    button:hover:not(:disabled, [aria-pressed="true"], [aria-selected="true"]),
    .button:hover {
      background: var(--surface-sunken);
    }
  }
  button.primary,
  .button.primary {
    background: var(--accent);
    border-color: var(--accent);
    color: var(--on-accent);
  }
  button.primary:hover:not(:disabled) {
    background: color-mix(in oklab, var(--accent) 88%, var(--text));
  }
  button.plain {
    background: none;
    border-color: transparent;
  }
  button.plain:hover:not(:disabled) {
    background: var(--surface-sunken);
  }
  button:disabled {
    border-color: var(--line);
    color: var(--text-soft);
    cursor: default;
  }
  button[aria-pressed="true"],
  button[aria-selected="true"] {
    background: var(--accent-soft);
    border-color: var(--accent);
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  a {
    color: var(--accent);
  }
  code,
  pre {
    font-family: var(--font-code);
    font-size: 0.93em;
  }
  ::placeholder {
    color: var(--text-soft);
  }
  svg.icon {
    block-size: 1.15em;
    flex: none;
    inline-size: 1.15em;
  }
  .soft {
    color: var(--text-soft);
  }
  .unseen {
    block-size: 1px;
    clip-path: inset(50%);
    inline-size: 1px;
    overflow: hidden;
    position: absolute;
    white-space: nowrap;
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    *::before,
    *::after {
      animation: none !important;
      scroll-behavior: auto !important;
      transition: none !important;
    }
  }
  @media (forced-colors: active) {
    button,
    .button {
      border-color: ButtonText;
    }
  }
`;

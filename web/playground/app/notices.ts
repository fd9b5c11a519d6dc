/**
 * What a person should know and may have missed; read out as it comes.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { viewStyles } from "./shared-styles.js";
import type { Notice } from "./state.js";
import { ViewElement } from "./view.js";

/** `<playground-notices>`, a popover. */
export class Notices extends ViewElement {
  static override styles = [
    viewStyles,
    css`
      :host(:popover-open) {
        background: var(--surface);
        border: 1px solid var(--line);
        border-radius: var(--radius);
        box-shadow: 0 8px 24px #0005;
        color: var(--text);
        inline-size: min(360px, calc(100vw - 16px));
        inset: 52px 8px auto auto;
        margin: 0;
        max-block-size: 70vh;
        overflow: auto;
        padding: 12px;
      }
      li {
        border-block-start: 1px solid var(--line);
        overflow-wrap: anywhere;
        padding-block: 8px;
      }
    `,
  ];

  override firstUpdated(): void {
    this.addEventListener("toggle", (event) => {
      if (event.newState === "open") this.store.set({ unread: 0 });
    });
  }

  override render(): TemplateResult {
    const { notices } = this.state;
    if (notices.length === 0) return html`<p class="soft">Nothing has happened that you would have missed.</p>`;
    return html`<h2>Notifications</h2>
      <ul aria-live="polite">
        ${notices.map((notice) => this.#item(notice))}
      </ul>`;
  }

  #item({ text, level, at, call }: Notice): TemplateResult {
    return html`<li>
      <p>${level === "info" ? nothing : html`<strong>${level === "bad" ? "Failed: " : "Note: "}</strong>`}${text}</p>
      <p class="row soft">
        <time>${new Date(at).toLocaleTimeString()}</time>
        ${call === undefined ? nothing : html`<button @click=${() => this.#show(call)}>Show</button>`}
      </p>
    </li>`;
  }

  #show(call: string): void {
    this.store.set({ view: "try", call });
    this.hidePopover();
  }
}

customElements.define("playground-notices", Notices);

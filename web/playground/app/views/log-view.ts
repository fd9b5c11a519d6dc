/**
 * The log of sources and the gate, newest first.
 * @module
 */
import { css, html, type TemplateResult } from "lit";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

/** `<playground-log>` */
class LogView extends ViewElement {
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        padding: 16px;
      }
      li {
        border-block-end: 1px solid var(--line);
        display: flex;
        flex-wrap: wrap;
        gap: 4px 12px;
        overflow-wrap: anywhere;
        padding-block: 6px;
      }
      .text {
        flex: 1 1 260px;
      }
    `,
  ];

  override render(): TemplateResult {
    const { log } = this.state;
    if (log.length === 0) {
      return html`<div class="empty">
        <p>Nothing has been stored or retried yet.</p>
        <button class="primary" @click=${() => this.actions.go("try")}>Run a tool</button>
      </div>`;
    }
    return html`<div class="stack">
      <div class="row">
        <h2 class="grow">Log</h2>
        <button @click=${() => this.store.set({ log: [] })}>Clear</button>
      </div>
      <ul>
        ${log.map(
          ({ at, level, server, text }) =>
            html`<li>
              <time class="soft">${new Date(at).toLocaleTimeString()}</time>
              <span class="chip ${level}">${level === "warn" ? "warning" : server}</span>
              <span class="text">${text}</span>
            </li>`,
        )}
      </ul>
    </div>`;
  }
}

customElements.define("playground-log", LogView);

/**
 * The log of sources and the gate, newest first; and the JSON-RPC messages, which are loaded when they are first shown.
 * @module
 */
import { css, html, type TemplateResult } from "lit";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

const TABS = { events: "Events", messages: "Messages" } as const;
type Tab = keyof typeof TABS;

/** `<playground-log>` */
class LogView extends ViewElement {
  static override properties = { ...ViewElement.properties, tab: { state: true } };

  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        padding: 16px;
      }
      [role="tab"][aria-selected="true"] {
        border-color: var(--accent);
        box-shadow: inset 0 -2px var(--accent);
      }
      @media (forced-colors: active) {
        [role="tab"][aria-selected="true"] {
          background: Highlight;
          color: HighlightText;
          forced-color-adjust: none;
        }
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

  declare tab: Tab;

  constructor() {
    super();
    this.tab = "events";
  }

  override render(): TemplateResult {
    const { store, actions, tab } = this;
    return html`<div class="stack">
      <div class="row">
        <h2 class="grow">Log</h2>
        <div class="row" role="tablist" aria-label="Log" @keydown=${this.#key}>
          ${(Object.keys(TABS) as Tab[]).map(
            (each) =>
              html`<button
                role="tab"
                id=${each}
                aria-selected=${each === tab}
                aria-controls="shown"
                tabindex=${each === tab ? 0 : -1}
                @click=${() => this.#show(each)}
              >
                ${TABS[each]}
              </button>`,
          )}
        </div>
      </div>
      <div id="shown" role="tabpanel" aria-labelledby=${tab}>
        ${
          tab === "events"
            ? this.#events()
            : html`<playground-messages .store=${store} .actions=${actions}></playground-messages>`
        }
      </div>
    </div>`;
  }

  #show(tab: Tab): void {
    if (tab === "messages") void import("./messages-view.js");
    this.tab = tab;
  }

  #key(event: KeyboardEvent): void {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    this.#show(this.tab === "events" ? "messages" : "events");
    event.preventDefault();
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`#${this.tab}`)?.focus());
  }

  #events(): TemplateResult {
    const { log } = this.state;
    if (log.length === 0) {
      return html`<div class="empty">
        <p>Nothing has been stored or retried yet.</p>
        <button class="primary" @click=${() => this.actions.go("try")}>Run a tool</button>
      </div>`;
    }
    return html`<div class="row">
        <span class="grow"></span>
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
      </ul>`;
  }
}

customElements.define("playground-log", LogView);

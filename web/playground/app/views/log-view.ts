/**
 * The log of sources and the gate, newest first; and the JSON-RPC messages, which are loaded when they are first shown.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { viewStyles } from "../styles.js";
import { type Tab, tabList, tabStyles } from "../tabs.js";
import { ViewElement } from "../view-element.js";

type Part = "events" | "messages";

const PARTS: readonly Tab<Part>[] = [
  ["events", "Events"],
  ["messages", "Messages"],
];

/** `<playground-log>` */
class LogView extends ViewElement {
  static override properties = { ...ViewElement.properties, tab: { state: true } };

  static override styles = [
    viewStyles,
    tabStyles,
    css`
      :host {
        display: block;
        padding: 24px 32px 48px;
      }
      @media (max-width: 1099px) {
        :host {
          padding: 16px;
        }
      }
      li {
        align-items: center;
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

  declare tab: Part;

  constructor() {
    super();
    this.tab = "events";
  }

  override render(): TemplateResult {
    const { store, actions, tab } = this;
    return html`<div class="stack">
      <h2 class="title">Log</h2>
      ${tabList("Log", PARTS, tab, (part) => this.#show(part))}
      <div id=${`panel-${tab}`} role="tabpanel" aria-labelledby=${`tab-${tab}`}>
        ${
          tab === "events"
            ? this.#events()
            : html`<playground-messages .store=${store} .actions=${actions}></playground-messages>`
        }
      </div>
    </div>`;
  }

  #show(tab: Part): void {
    if (tab === "messages") void import("./messages-view.js");
    this.tab = tab;
  }

  #events(): TemplateResult {
    const { log } = this.state;
    if (log.length === 0) {
      return html`<div class="empty">
        <p>Nothing has been called yet.</p>
        <button class="primary" @click=${() => this.actions.go("try")}>Run a tool</button>
      </div>`;
    }
    return html`<div class="row">
        <span class="grow"></span>
        <button @click=${() => this.store.set({ log: [] })}>Clear</button>
      </div>
      <ul>
        ${log.map(
          ({ at, level, server, text, call }) =>
            html`<li>
              <time class="soft">${new Date(at).toLocaleTimeString()}</time>
              <span class="chip ${level}">${LEVELS[level] ?? server}</span>
              <span class="text">${text}</span>
              ${this.#opener(call)}
            </li>`,
        )}
      </ul>`;
  }

  /** A button that shows the call of a line, while it is still listed. */
  #opener(call: string | undefined): TemplateResult | typeof nothing {
    if (call === undefined || !this.state.calls.some(({ id }) => id === call)) return nothing;
    return html`<button @click=${() => this.store.set({ view: "try", call })}>Show</button>`;
  }
}

/** What stands in the place of the server's name where something is wrong. */
const LEVELS: Readonly<Record<string, string | undefined>> = { warn: "warning", bad: "failed" };

customElements.define("playground-log", LogView);

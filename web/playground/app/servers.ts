/**
 * The server switcher: which one is shown, and how it is.
 * @module
 */
import { css, html, type TemplateResult } from "lit";
import { icon } from "mcp-sluice/ui/theme";
import server from "lucide-static/icons/server.svg?raw";
import type { ServersDialog } from "./servers-dialog.js";
import { viewStyles } from "./shared-styles.js";
import { currentServer } from "./state.js";
import { statusDot, WORDS } from "./status-dot.js";
import { ViewElement } from "./view.js";

/** `<playground-servers>` */
export class Servers extends ViewElement {
  static override styles = [
    viewStyles,
    statusDot,
    css`
      .name {
        max-inline-size: 140px;
      }
    `,
  ];

  /** Shows all of them; the form for another one has the focus. */
  async open(): Promise<void> {
    await import("./servers-dialog.js");
    this.renderRoot.querySelector<ServersDialog>("playground-servers-dialog")?.open();
  }

  override render(): TemplateResult {
    const { store, actions } = this;
    const current = currentServer(this.state);
    const status = current?.status ?? "connecting";
    return html`
      <button @click=${this.open} aria-haspopup="dialog">
        ${icon(server)}<span class="name cut">${current?.name ?? this.state.server}</span>
        <span class="dot ${status}"></span><span class="unseen">${WORDS[status]}. Servers</span>
      </button>
      <playground-servers-dialog .store=${store} .actions=${actions}></playground-servers-dialog>
    `;
  }
}

customElements.define("playground-servers", Servers);

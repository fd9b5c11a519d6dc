/**
 * The server switcher: the name and the status of the server in view.
 * @module
 */
import { css, type CSSResult, html, type TemplateResult } from "lit";
import { icon } from "../../../ui/icons.js";
import server from "lucide-static/icons/server.svg?raw";
import type { ShownServer } from "../../engine/messages.js";
import { viewStyles } from "../styles.js";
import { currentServer } from "../state.js";
import { ViewElement } from "../view-element.js";
import type { ServersDialog } from "./servers-dialog.js";

/** The status of a server, in words. */
export const STATUS_LABELS = { ready: "connected", connecting: "connecting", failed: "not connected" } as const;

/** Whether a server needs something typed before it can be connected again. */
export function isAsked({ lacks }: ShownServer): boolean {
  return lacks === "token" || lacks === "address";
}

/** The button of a server that is not connected. */
export function againLabel(failed: ShownServer): string {
  return isAsked(failed) ? `Give its ${failed.lacks}` : "Connect again";
}

/** Styles of a status dot, with classes `dot` and the status. Shape and colour both differ. */
export const statusDot: CSSResult = css`
  .dot {
    border-radius: 50%;
    block-size: 9px;
    inline-size: 9px;
  }
  .ready {
    background: var(--good);
  }
  .connecting {
    border: 2px solid var(--warn);
  }
  .failed {
    background: var(--bad);
    border-radius: 0;
  }
  @media (forced-colors: active) {
    .ready,
    .failed {
      background: ButtonText;
      forced-color-adjust: none;
    }
  }
`;

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

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener("visibilitychange", this.#onVisible);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("visibilitychange", this.#onVisible);
  }

  /** A server may have died while the page was hidden. */
  readonly #onVisible = (): void => {
    if (document.visibilityState === "visible") void this.actions.engine.check(this.state.server);
  };

  /** Opens the list of servers; the form for a new one has the focus, or for `name`, which needs something again. */
  async open(name?: string): Promise<void> {
    await import("./servers-dialog.js");
    this.renderRoot.querySelector<ServersDialog>("playground-servers-dialog")?.open(name);
  }

  override render(): TemplateResult {
    const { store, actions } = this;
    const current = currentServer(this.state);
    const status = current?.status ?? "connecting";
    return html`
      <button @click=${() => this.open()} aria-haspopup="dialog">
        ${icon(server)}<span class="name cut">${current?.name ?? this.state.server}</span>
        <span class="dot ${status}"></span><span class="unseen">${STATUS_LABELS[status]}. Servers</span>
      </button>
      <playground-servers-dialog .store=${store} .actions=${actions}></playground-servers-dialog>
    `;
  }
}

customElements.define("playground-servers", Servers);

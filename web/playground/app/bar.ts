/**
 * The top bar: the server, what was kept out, what there is to know, and how it looks.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import "mcp-sluice/ui/meter";
import { icon } from "mcp-sluice/ui/theme";
import bell from "lucide-static/icons/bell.svg?raw";
import dark from "lucide-static/icons/moon.svg?raw";
import light from "lucide-static/icons/sun.svg?raw";
import offline from "lucide-static/icons/wifi-off.svg?raw";
import search from "lucide-static/icons/search.svg?raw";
import system from "lucide-static/icons/sun-moon.svg?raw";
import "./notices.js";
import type { Servers } from "./servers.js";
import "./servers.js";
import { viewStyles } from "./shared-styles.js";
import { currentCall, storedBytes, type Theme } from "./state.js";
import { takeUpdate } from "./updates.js";
import { ViewElement } from "./view.js";

const THEMES: Readonly<Record<Theme, { readonly icon: string; readonly next: Theme }>> = {
  system: { icon: system, next: "light" },
  light: { icon: light, next: "dark" },
  dark: { icon: dark, next: "system" },
};

/** `<playground-bar>` */
export class Bar extends ViewElement {
  static override styles = [
    viewStyles,
    css`
      :host {
        background: var(--surface-raised);
        border-block-end: 1px solid var(--line);
        display: block;
        padding: 6px 10px;
      }
      .row {
        flex-wrap: nowrap;
      }
      .name {
        align-items: center;
        display: flex;
        font-weight: 700;
        gap: 8px;
      }
      .name svg {
        block-size: 24px;
        inline-size: 24px;
      }
      sluice-meter.away {
        visibility: hidden;
      }
      sluice-meter {
        flex: 1;
        min-inline-size: 0;
        padding-inline: 12px;
      }
      .unread {
        background: var(--bad);
        border-radius: 999px;
        block-size: 8px;
        inline-size: 8px;
      }
      @media (max-width: 900px) {
        sluice-meter {
          display: none;
        }
        .spacer {
          flex: 1;
        }
      }
      @media (max-width: 640px) {
        .name span,
        .word {
          clip-path: inset(50%);
          position: absolute;
        }
        .long {
          display: none;
        }
        .row {
          gap: 4px;
        }
        button {
          padding-inline: 6px;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    const { store, actions } = this;
    const { isOnline, theme, unread, isOutdated, notices } = this.state;
    // What is shown of a result is not the chat's: it tells its own numbers.
    const isOwn = this.state.view !== "chat";
    const result = currentCall(this.state)?.result;
    return html`<header class="row">
      <slot></slot>
      <h1 class="name"><img src="./icon.svg" alt="" width="24" height="24" /><span>Sluice</span></h1>
      <playground-servers .store=${store} .actions=${actions}></playground-servers>
      <sluice-meter
        compact
        class=${isOwn ? "" : "away"}
        .sent=${result?.bytesIn}
        .seen=${result?.bytesOut}
        .decoded=${result && storedBytes(result)}
      ></sluice-meter>
      <span class="spacer"></span>
      ${isOnline ? nothing : html`<span class="chip warn" role="status">${icon(offline)} offline</span>`}
      ${isOutdated ? html`<button class="primary" @click=${() => takeUpdate()}>Update</button>` : nothing}
      <button class="plain" @click=${this.#find} aria-keyshortcuts="Meta+K Control+K">
        ${icon(search)}<span class="word">Find</span><span class="unseen"> a tool or an action</span
        ><kbd class="long soft" aria-hidden="true">⌘K</kbd>
      </button>
      <button class="plain" popovertarget="notices" aria-label=${`Notifications${unread > 0 ? `, ${unread} new` : ""}`}>
        ${icon(bell)}${unread > 0 ? html`<span class="unread"></span>` : nothing}
      </button>
      <span class="unseen" aria-live="polite"
        >${unread > 0 && notices[0]?.isAnswer !== true ? notices[0]?.text : nothing}</span
      >
      <playground-notices
        id="notices"
        popover
        tabindex="-1"
        autofocus
        role="region"
        aria-label="Notifications"
        @toggle=${this.#toggled}
        .store=${store}
        .actions=${actions}
      ></playground-notices>
      <button
        class="plain"
        aria-label=${`Theme: ${theme}. Change to ${THEMES[theme].next}.`}
        @click=${() => actions.setTheme(THEMES[theme].next)}
      >
        ${icon(THEMES[theme].icon)}
      </button>
    </header>`;
  }

  /** Opens the form for another server. */
  connect(): void {
    void this.renderRoot.querySelector<Servers>("playground-servers")?.open();
  }

  /** Whoever read the notices goes on where they were opened, unless they went on elsewhere. */
  #toggled({ newState, target }: ToggleEvent): void {
    const isLost = document.activeElement === document.body || (target as Element).matches(":focus-within");
    if (newState !== "closed" || !isLost) return;
    this.renderRoot.querySelector<HTMLElement>("[popovertarget=notices]")?.focus();
  }

  #find(): void {
    this.dispatchEvent(new CustomEvent("playground-find", { bubbles: true, composed: true }));
  }
}

customElements.define("playground-bar", Bar);

/**
 * The top bar: the server, the meter of the current result, notifications and the theme.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { icon } from "../../../ui/icons.js";
import bell from "lucide-static/icons/bell.svg?raw";
import dark from "lucide-static/icons/moon.svg?raw";
import light from "lucide-static/icons/sun.svg?raw";
import offline from "lucide-static/icons/wifi-off.svg?raw";
import search from "lucide-static/icons/search.svg?raw";
import system from "lucide-static/icons/sun-moon.svg?raw";
import { viewStyles } from "../styles.js";
import type { Notice, Theme } from "../state.js";
import { ViewElement } from "../view-element.js";
import { IS_APPLE, takeUpdate } from "../browser.js";
import type { Servers } from "./servers.js";
import "./servers.js";

/** `<playground-notices>`: the list of notifications, a popover. */
class Notices extends ViewElement {
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
    if (notices.length === 0) return html`<p class="soft">You have no notifications.</p>`;
    return html`<h2>Notifications</h2>
      <ul>
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

/** The version that this page was built from. */
const VERSION = String(import.meta.env["SLUICE_VERSION"]);

/** Where the documentation is, beside a site that was built with it; undefined elsewhere. */
const DOCS = document.querySelector<HTMLMetaElement>('meta[name="sluice-docs"]')?.content;

/** The shortcut of the palette. */
const KEYS = IS_APPLE ? "⌘K" : "Ctrl K";

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
        padding: 8px 16px;
      }
      .row {
        flex-wrap: nowrap;
      }
      .name {
        align-items: center;
        display: flex;
        gap: 8px;
      }
      .name svg {
        block-size: 24px;
        inline-size: 24px;
      }
      .find {
        background: var(--surface-sunken);
        color: var(--text-soft);
        flex: 0 1 420px;
        justify-content: flex-start;
        margin-inline: auto;
        min-inline-size: 0;
      }
      kbd {
        border: 1px solid var(--line);
        border-radius: 4px;
        font-family: var(--font-code);
        font-size: var(--size-small);
        margin-inline-start: auto;
        padding: 0 4px;
      }
      .link {
        color: var(--text-soft);
        text-decoration: none;
      }
      .link:hover {
        color: var(--text);
        text-decoration: underline;
      }
      .version {
        font-size: var(--size-small);
      }
      .unread {
        background: var(--bad);
        border-radius: 999px;
        block-size: 8px;
        inline-size: 8px;
      }
      @media (max-width: 900px) {
        .version,
        .link {
          display: none;
        }
      }
      @media (max-width: 640px) {
        .name span,
        .word {
          clip-path: inset(50%);
          inline-size: 1px;
          overflow: hidden;
          position: absolute;
        }
        kbd {
          display: none;
        }
        .find {
          background: none;
          border-color: transparent;
          flex: none;
          margin-inline: auto 0;
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
    return html`<header class="row">
      <slot></slot>
      <strong class="name"><img src="./icon.svg" alt="" width="24" height="24" /><span>Sluice</span></strong>
      <playground-servers .store=${store} .actions=${actions}></playground-servers>
      <button class="find" @click=${this.#find} aria-keyshortcuts="Meta+K Control+K">
        ${icon(search)}<span class="word cut">Find a tool or an action</span><kbd aria-hidden="true">${KEYS}</kbd>
      </button>
      ${isOnline ? nothing : html`<span class="chip warn" role="status">${icon(offline)} offline</span>`}
      ${isOutdated ? html`<button class="primary" @click=${() => takeUpdate()}>Update</button>` : nothing}
      <span class="soft version"><span class="unseen">Version </span>${VERSION}</span>
      ${DOCS === undefined ? nothing : html`<a class="link" href=${DOCS} target="_blank" rel="noopener">Docs</a>`}
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
        @toggle=${this.#onToggle}
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

  /** Opens the dialog to connect a server, or one that needs something again. */
  connect(server?: string): void {
    void this.renderRoot.querySelector<Servers>("playground-servers")?.open(server);
  }

  /** Returns the focus to the button when the list closes, unless it moved elsewhere. */
  #onToggle({ newState, target }: ToggleEvent): void {
    const isLost = document.activeElement === document.body || (target as Element).matches(":focus-within");
    if (newState !== "closed" || !isLost) return;
    this.renderRoot.querySelector<HTMLElement>("[popovertarget=notices]")?.focus();
  }

  #find(): void {
    this.dispatchEvent(new CustomEvent("playground-find", { bubbles: true, composed: true }));
  }
}

customElements.define("playground-bar", Bar);

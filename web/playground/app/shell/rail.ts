/**
 * The rail: buttons for the views, with counts. At the bottom of narrow windows.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { icon } from "../../../ui/icons.js";
import { baseStyles, themeTokens } from "../../../ui/theme.js";
import chatIcon from "lucide-static/icons/message-square.svg?raw";
import filesIcon from "lucide-static/icons/folder.svg?raw";
import guardrailsIcon from "lucide-static/icons/shield-check.svg?raw";
import logIcon from "lucide-static/icons/scroll-text.svg?raw";
import resourcesIcon from "lucide-static/icons/library.svg?raw";
import toolsIcon from "lucide-static/icons/wrench.svg?raw";
import tryIcon from "lucide-static/icons/play.svg?raw";
import { type State, type View, VIEWS } from "../state.js";
import { TITLES, ViewElement } from "../view-element.js";

const ICONS: Readonly<Record<(typeof VIEWS)[number], string>> = {
  try: tryIcon,
  tools: toolsIcon,
  resources: resourcesIcon,
  files: filesIcon,
  chat: chatIcon,
  guardrails: guardrailsIcon,
  log: logIcon,
};

/** `<playground-rail>` */
class Rail extends ViewElement {
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      :host {
        background: var(--surface-raised);
        border-inline-end: 1px solid var(--line);
        display: block;
      }
      nav {
        display: flex;
        flex-direction: column;
        gap: 4px;
        padding: 12px 8px;
      }
      button {
        background: none;
        border-color: transparent;
        color: var(--text-soft);
        flex-direction: column;
        font-size: var(--size-small);
        gap: 4px;
        min-block-size: 56px;
        padding: 4px 0;
        position: relative;
        white-space: normal;
      }
      button[aria-current="page"],
      button[aria-current="page"]:hover:not(:disabled) {
        background: var(--accent-soft);
        color: var(--accent);
        font-weight: 600;
        letter-spacing: -0.03em;
      }
      svg.icon {
        block-size: 20px;
        inline-size: 20px;
      }
      .badge {
        background: var(--accent);
        border-radius: 999px;
        color: var(--on-accent);
        font-size: 11px;
        font-weight: 600;
        inset-block-start: 4px;
        inset-inline-start: calc(50% + 2px);
        line-height: 16px;
        max-inline-size: calc(50% - 2px);
        min-inline-size: 16px;
        padding: 0 4px;
        position: absolute;
      }
      @media (forced-colors: active) {
        button[aria-current="page"] {
          border-color: Highlight;
          outline: 2px solid Highlight;
          outline-offset: -2px;
        }
      }
      @media (max-width: 1099px) {
        nav {
          padding-inline: 4px;
        }
      }
      @media (max-width: 640px) {
        :host {
          border-block-start: 1px solid var(--line);
          border-inline-end: 0;
        }
        nav {
          flex-direction: row;
          gap: 0;
          padding: 2px;
        }
        button {
          flex: 1 1 0;
          font-size: 10px;
          min-inline-size: 44px;
          overflow: hidden;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    return html`<nav aria-label="Views">${VIEWS.map((view) => this.#button(view))}</nav>`;
  }

  #button(view: (typeof VIEWS)[number]): TemplateResult {
    const [count, noun] = countItems(this.state, view);
    return html`<button
      aria-current=${this.state.view === view ? "page" : nothing}
      aria-label=${count > 0 ? `${TITLES[view]}, ${short(count)} ${noun}`.trimEnd() : nothing}
      @click=${() => this.actions.go(view)}
    >
      ${icon(ICONS[view])}<span>${TITLES[view]}</span>
      ${count > 0 ? html`<span class="badge">${short(count)}</span>` : nothing}
    </button>`;
  }
}

function countItems(
  { servers, server, updates, fileCount, isChatting, pauses, log, calls }: State,
  view: View,
): readonly [number, string] {
  switch (view) {
    case "try":
      return [calls.filter(({ state }) => state === "running").length, "running"];
    case "tools":
      // Its own name says already what is counted.
      return [servers.find(({ name }) => name === server)?.tools.length ?? 0, ""];
    case "resources":
      return [updates.size, "updated"];
    case "files":
      return [fileCount, fileCount === 1 ? "file" : "files"];
    case "chat":
      return [
        Number(isChatting),
        pauses.some(({ question }) => question !== undefined) ? "waiting for you" : "running",
      ];
    case "guardrails":
      return [0, ""];
    default:
      return [log.filter(({ level }) => level === "warn").length, "warnings"];
  }
}

function short(count: number): string {
  return count > 99 ? "99+" : String(count);
}

customElements.define("playground-rail", Rail);

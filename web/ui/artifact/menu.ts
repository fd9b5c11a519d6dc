/**
 * A button with a menu (ARIA practices "Menu Button"), in the top layer, so that no card cuts it off.
 * @module
 */
import { css, type CSSResult, html, type LitElement, nothing, type ReactiveController, type TemplateResult } from "lit";
import ellipsis from "lucide-static/icons/ellipsis.svg?raw";
import copy from "lucide-static/icons/copy.svg?raw";
import download from "lucide-static/icons/download.svg?raw";
import eye from "lucide-static/icons/eye.svg?raw";
import maximize from "lucide-static/icons/maximize-2.svg?raw";
import save from "lucide-static/icons/folder-plus.svg?raw";
import trash from "lucide-static/icons/trash-2.svg?raw";
import { icon } from "../icons.js";
import { placeBeside } from "../popover.js";

/** One entry of a menu: an action, or a link to a file. */
export interface MenuItem {
  readonly label: string;
  /** The source of its icon. */
  readonly icon: string;
  /** Makes it a link to a file. */
  readonly href?: string;
  /** What choosing it does, once the menu is closed. */
  run?(): void;
}

/** What the list of a menu looks like. */
export const menuStyles: CSSResult = css`
  [popover] {
    background: var(--surface);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius);
    box-shadow: 0 6px 20px rgb(0 0 0 / 20%);
    color: var(--text);
    inset: auto;
    margin: 0;
    max-inline-size: calc(100vw - 8px);
    padding: 4px;
    position: fixed;
  }
  [popover]:popover-open {
    display: grid;
  }
  [role="menuitem"] {
    background: none;
    border-color: transparent;
    inline-size: 100%;
    justify-content: flex-start;
  }
  [role="menuitem"]:hover,
  [role="menuitem"]:focus {
    background: var(--surface-sunken);
  }
`;

/** The menu of one element. */
export class Menu implements ReactiveController {
  readonly #host: LitElement;
  #isOpen = false;
  /** Entries of menus that are closed would be most of a long list's nodes. */
  #hasEntries = false;
  readonly #close = (): void => this.#list?.hidePopover();

  /** Adds itself to the element, which renders it. */
  constructor(host: LitElement) {
    this.#host = host;
    host.addController(this);
  }

  /** Nothing outlives the element. */
  hostDisconnected(): void {
    removeEventListener("scroll", this.#close, true);
    this.#isOpen = false;
  }

  /** The button that opens it. */
  get button(): HTMLElement | null {
    return this.#host.renderRoot.querySelector<HTMLElement>("#more") ?? null;
  }

  /** The button and the list; `name` is what the actions are for. The button is an icon, or has a word. */
  render(items: readonly MenuItem[], name: string, word?: string): TemplateResult {
    return html`<button
        id="more"
        class=${word === undefined ? "plain" : ""}
        type="button"
        popovertarget="menu"
        aria-haspopup="menu"
        aria-expanded=${this.#isOpen}
        aria-label=${`${word ?? "More actions for"} ${name}`}
        @keydown=${this.#onButtonKey}
      >
        ${word ?? icon(ellipsis)}
      </button>
      <div
        id="menu"
        popover
        role="menu"
        aria-label=${`Actions for ${name}`}
        @beforetoggle=${this.#onOpening}
        @toggle=${this.#onToggle}
        @keydown=${this.#onKey}
      >
        ${this.#hasEntries ? items.map((item) => this.#entry(item)) : nothing}
      </div>`;
  }

  #entry(item: MenuItem): TemplateResult {
    const choose = (): void => {
      this.#leave();
      item.run?.();
    };
    const inside = html`${icon(item.icon)}<span>${item.label}</span>`;
    if (item.href === undefined) {
      return html`<button type="button" class="plain" role="menuitem" tabindex="-1" @click=${choose}>
        ${inside}
      </button>`;
    }
    return html`<a class="button plain" role="menuitem" tabindex="-1" href=${item.href} @click=${choose}>${inside}</a>`;
  }

  get #list(): HTMLElement | null {
    return this.#host.renderRoot.querySelector<HTMLElement>("#menu") ?? null;
  }

  get #entries(): readonly HTMLElement[] {
    return [...(this.#list?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  }

  readonly #onButtonKey = (event: KeyboardEvent): void => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    this.#list?.showPopover();
  };

  readonly #onOpening = ({ newState }: ToggleEvent): void => {
    if (newState !== "open") return;
    this.#hasEntries = true;
    this.#host.requestUpdate();
  };

  /** Closes it; focus is where it was before. */
  #leave(): void {
    this.button?.focus();
    this.#close();
  }

  readonly #onToggle = ({ newState }: ToggleEvent): void => {
    this.#isOpen = newState === "open";
    this.#hasEntries = this.#isOpen;
    this.#host.requestUpdate();
    if (!this.#isOpen) return removeEventListener("scroll", this.#close, true);
    addEventListener("scroll", this.#close, { capture: true, passive: true });
    const [list, button] = [this.#list, this.button];
    // Its size is known only now.
    if (list !== null && button !== null) placeBeside(list, button);
    this.#entries[0]?.focus({ preventScroll: true });
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const entries = this.#entries;
    const at = entries.indexOf(event.target as HTMLElement);
    if (event.key === "Tab") return this.#leave();
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      return this.#leave();
    }
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key] ?? letter(entries, at, event.key);
    if (to === undefined) return;
    event.preventDefault();
    entries.at(to % entries.length)?.focus();
  };
}

/** The next entry that begins with what was typed. */
function letter(entries: readonly HTMLElement[], from: number, key: string): number | undefined {
  if (Array.from(key).length !== 1 || key === " ") return undefined;
  return entries
    .map((_, step) => (from + 1 + step) % entries.length)
    .find((at) => entries[at]?.textContent.trim().toLowerCase().startsWith(key.toLowerCase()));
}

/** One thing that a card offers. */
export type ArtifactAction = "preview" | "download" | "copy" | "save" | "open" | "delete";

/** What is offered by default. */
export const DEFAULT_ACTIONS: readonly ArtifactAction[] = ["preview", "download", "copy"];

/** What actions are called, and the sources of their icons. */
export const ACTIONS: Readonly<Record<ArtifactAction, { readonly label: string; readonly icon: string }>> = {
  preview: { label: "Preview", icon: eye },
  download: { label: "Download original", icon: download },
  copy: { label: "Copy ref", icon: copy },
  save: { label: "Save to My Files", icon: save },
  open: { label: "Open in canvas", icon: maximize },
  delete: { label: "Delete", icon: trash },
};

/**
 * The label of a button that is only an icon, for those who point at it or come to it by keyboard. One for the whole page.
 * @module
 */
import { css, html, LitElement, type TemplateResult } from "lit";
import { placeBeside } from "../../../ui/popover.js";
import { baseStyles, themeTokens } from "../../../ui/theme.js";

/** Milliseconds of pointing before it is shown. */
const BEFORE = 500;

/** `<playground-tooltip>`; it listens to the document for as long as it is there. */
export class Tooltip extends LitElement {
  static override properties = { words: { state: true } };
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      div {
        background: var(--text);
        border: 1px solid var(--text);
        border-radius: 6px;
        color: var(--surface);
        font-size: var(--size-small);
        inset: auto;
        margin: 0;
        max-inline-size: min(280px, calc(100vw - 12px));
        overflow-wrap: anywhere;
        padding: 4px 8px;
        position: fixed;
      }
    `,
  ];

  declare protected words: string;
  #button: Element | undefined;
  #clock: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.words = "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    for (const [kind, listener] of this.#listeners) document.addEventListener(kind, listener, true);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const [kind, listener] of this.#listeners) document.removeEventListener(kind, listener, true);
    this.#leave();
  }

  protected override render(): TemplateResult {
    // Screen readers have the label already.
    return html`<div popover="manual" aria-hidden="true">${this.words}</div>`;
  }

  protected override updated(): void {
    const [tip, button] = [this.renderRoot.querySelector<HTMLElement>("div"), this.#button];
    if (tip === null || button === undefined || this.words === "") return tip?.hidePopover();
    tip.showPopover();
    placeBeside(tip, button, "middle");
  }

  readonly #onPoint = (event: PointerEvent): void => {
    const path = event.composedPath();
    // It stays while the pointer is on it.
    if (event.pointerType === "touch" || path.includes(this)) return;
    const button = iconButtonIn(path);
    if (button === this.#button) return;
    this.#leave();
    if (button === undefined) return;
    this.#button = button;
    this.#clock = setTimeout(() => this.#show(), BEFORE);
  };

  /** A person who presses it knows what it does. */
  readonly #onPress = (event: Event): void => {
    this.#leave();
    this.#button = iconButtonIn(event.composedPath());
  };

  /** Where the focus is now. `focusin` does not leave a shadow tree that the focus stays in, keys do. */
  readonly #onKeyUp = ({ key }: KeyboardEvent): void => {
    if (key !== "Tab") return;
    let focused = document.activeElement;
    while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    const button = focused === null ? undefined : iconButtonIn([focused]);
    if (button === undefined) return;
    this.#button = button;
    this.#show();
  };

  #show(): void {
    this.words = this.#button?.getAttribute("aria-label") ?? "";
  }

  readonly #leave = (): void => {
    clearTimeout(this.#clock);
    this.#button = undefined;
    this.words = "";
  };

  readonly #listeners = [
    // `pointerover` does not leave a shadow tree that the pointer stays in.
    ["pointermove", this.#onPoint],
    ["pointerdown", this.#onPress],
    ["keydown", this.#leave],
    ["keyup", this.#onKeyUp],
    ["scroll", this.#leave],
  ] as [string, EventListener][];
}

/** The button that an event is for, if it has a label and no words: an icon, with a count perhaps. */
function iconButtonIn(path: readonly EventTarget[]): Element | undefined {
  const button = path.find((target): target is Element => target instanceof Element && target.matches("button, a"));
  const isIcon = button?.hasAttribute("aria-label") === true && /^[\d\s]*$/.test((button as HTMLElement).innerText);
  return isIcon ? button : undefined;
}

customElements.define("playground-tooltip", Tooltip);

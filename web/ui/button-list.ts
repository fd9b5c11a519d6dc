/**
 * A long list of buttons, of which one may be chosen elsewhere.
 * @module
 */
import { LongList } from "./long-list.js";

/** Each item is an element with a button as its first child. */
export class ButtonList extends LongList {
  /** The index of an item to bring into view. */
  #wanted: number | undefined;

  /** Brings an item of a long list into view, after the element was updated. */
  show(index: number): void {
    this.#wanted = index;
  }

  /** Moves the focus from item to item by arrow keys, Home and End: a listener for the list. */
  readonly onKey = (event: KeyboardEvent): void => {
    const item = (event.target as HTMLElement).parentElement;
    if (!(event.target instanceof HTMLButtonElement) || item?.dataset["index"] === undefined) return;
    const at = Number(item.dataset["index"]);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.count - 1 }[event.key];
    if (to === undefined || to < 0 || to >= this.count) return;
    event.preventDefault();
    void this.#focus(to);
  };

  /** Shows what is to be shown. */
  override hostUpdated(): void {
    super.hostUpdated();
    if (this.#wanted !== undefined && this.window?.show(this.#wanted) === true) this.#wanted = undefined;
  }

  /** Focuses the button of an item, which brings it into view. */
  async #focus(index: number): Promise<void> {
    this.window?.keep(index);
    this.host.requestUpdate();
    await this.host.updateComplete;
    this.host.renderRoot.querySelector<HTMLElement>(`[data-index="${index}"] button`)?.focus();
  }
}

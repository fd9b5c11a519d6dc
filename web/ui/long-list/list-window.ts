/**
 * The window over a long list: which items are in view, and what is left of the others. Loaded with the first list that is long.
 * @module
 */
import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import type { LitElement } from "lit";
import type { DrawnItem, Key, LongListOptions } from "../long-list.js";

/** Items that stay drawn after they were used: what was opened in them stays open. */
const MOST_KEPT = 3;

/** Follows what scrolls around the items of an element. */
export class ListWindow {
  readonly #host: LitElement;
  readonly #options: LongListOptions;
  readonly #virtual: Virtualizer<HTMLElement, HTMLElement>;
  readonly #unmount: () => void;
  #count: number;
  #key: Key;
  /** Pixels between the beginning of what scrolls and the list. */
  #above = 0;
  #scroller: HTMLElement | null = null;
  /** Indexes of items that were used, the last one at the end. */
  #kept: number[] = [];

  constructor(host: LitElement, options: LongListOptions, count: number, key: Key) {
    this.#host = host;
    this.#options = options;
    this.#count = count;
    this.#key = key;
    this.#place();
    this.#virtual = new Virtualizer(this.#virtualizerOptions());
    // The library's framework adapters call this and `_willUpdate`.
    // oxlint-disable-next-line no-underscore-dangle
    this.#unmount = this.#virtual._didMount();
    // Not everything that is pressed gets the focus.
    for (const type of ["focusin", "click"]) host.renderRoot.addEventListener(type, this.#onUse);
  }

  /** The items to draw, in order, and the pixels below the last; undefined while it is not known what is in view. */
  items(count: number, key: Key): { readonly items: readonly DrawnItem[]; readonly after: number } | undefined {
    if (count !== this.#count) this.#kept = [];
    this.#count = count;
    this.#key = key;
    this.#place();
    this.#virtual.setOptions(this.#virtualizerOptions());
    const drawn = this.#virtual.getVirtualItems();
    if (drawn.length === 0) return undefined;
    let end = this.#above;
    const items = drawn.map((item) => {
      const space = item.start - end;
      end = item.end;
      return { index: item.index, style: space > 0 ? `margin-block-start: ${space}px` : "" };
    });
    return { items, after: Math.max(0, this.#virtual.getTotalSize() + this.#above - end) };
  }

  /** Follows the scrolling and the heights of what was drawn. */
  follow(): void {
    this.#virtual.setOptions(this.#virtualizerOptions());
    // oxlint-disable-next-line no-underscore-dangle
    this.#virtual._willUpdate();
    this.#virtual.measureElement(null);
    for (const element of this.#list?.children ?? []) {
      if (element instanceof HTMLElement && element.dataset["index"] !== undefined)
        this.#virtual.measureElement(element);
    }
  }

  /** Brings an item into view; false while that cannot be done. */
  show(index: number): boolean {
    if (this.#virtual.getVirtualItems().length === 0) return false;
    this.#virtual.scrollToIndex(index);
    return true;
  }

  /** Has an item drawn wherever it is. */
  keep(index: number): void {
    this.#kept = [...this.#kept.filter((other) => other !== index), index].slice(-MOST_KEPT);
  }

  /** Forgets heights and what was used, for another list. */
  reset(): void {
    this.#kept = [];
    this.#virtual.measure();
  }

  /** Ends it. */
  end(): void {
    this.#unmount();
    for (const type of ["focusin", "click"]) this.#host.renderRoot.removeEventListener(type, this.#onUse);
  }

  get #list(): HTMLElement | null {
    return this.#host.renderRoot.querySelector("[data-index]")?.parentElement ?? null;
  }

  #place(): void {
    const list = this.#list;
    if (list === null) return;
    this.#scroller = findScroller(list);
    const { top = 0 } = this.#scroller?.getBoundingClientRect() ?? {};
    this.#above = Math.round(list.getBoundingClientRect().top - top + (this.#scroller?.scrollTop ?? 0));
  }

  #virtualizerOptions(): VirtualizerOptions<HTMLElement, HTMLElement> {
    const { height, beyond = 4 } = this.#options;
    return {
      count: this.#count,
      getItemKey: this.#key,
      getScrollElement: () => this.#scroller,
      estimateSize: () => height,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      overscan: beyond,
      scrollMargin: this.#above,
      rangeExtractor: (range) => {
        const drawn = new Set([...defaultRangeExtractor(range), ...this.#kept, ...this.#besideUsed]);
        return [...drawn].toSorted((a, b) => a - b);
      },
      // Changing the layout within the observer would notify it again.
      useAnimationFrameWithResizeObserver: true,
      onChange: () => this.#host.requestUpdate(),
    };
  }

  readonly #onUse = (event: Event): void => {
    const item = (event.target as HTMLElement).closest<HTMLElement>("[data-index]");
    if (item === null) return;
    this.keep(Number(item.dataset["index"]));
    // Tab finds them at once, before anything has scrolled.
    const isDrawn = (index: number): boolean => this.#host.renderRoot.querySelector(`[data-index="${index}"]`) !== null;
    if (!this.#besideUsed.every(isDrawn)) this.#host.requestUpdate();
  };

  /** The items before and after the one that was used last. */
  get #besideUsed(): readonly number[] {
    const at = this.#kept.at(-1);
    return at === undefined ? [] : [at - 1, at + 1].filter((index) => index >= 0 && index < this.#count);
  }
}

/** What scrolls around an element, through shadow trees; null if only the document does. */
function findScroller(element: HTMLElement): HTMLElement | null {
  let at: Node | null = element;
  while (at !== null) {
    if (at instanceof HTMLElement && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
    const { parentNode }: Node = at;
    at =
      (at instanceof Element ? at.assignedSlot : null) ??
      (parentNode instanceof ShadowRoot ? parentNode.host : parentNode);
  }
  return null;
}

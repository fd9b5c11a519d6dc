/**
 * A long list, of which the items in view are drawn, and some around them.
 * @module
 */
import type * as virtualCore from "@tanstack/virtual-core";
import type { LitElement, ReactiveController } from "lit";

/** Options for a long list. */
interface LongListOptions {
  /** A list of up to this many items is drawn whole. */
  readonly few: number;
  /** The height of an item in pixels, about. */
  readonly height: number;
  /** Items drawn above and below those in view. Defaults to 4: Tab finds the next ones. */
  readonly beyond?: number;
}

/** An item that is drawn. */
export interface DrawnItem {
  /** Its index in the list; the element has it as `data-index`. */
  readonly index: number;
  /** The style of its element, which leaves room for the items before it that are not drawn. */
  readonly style: string;
}

/** What tells an item from others. Another function lays out the list anew. */
type Key = (index: number) => string | number;

const asIndex: Key = (index) => index;

/** Items that stay drawn after they were used: what was opened in them stays open. */
const MOST_KEPT = 3;

type Options = virtualCore.VirtualizerOptions<HTMLElement, HTMLElement>;

/**
 * The list of an element, within whatever scrolls around it. Items are children of one element, which has `style`, and lies in
 * the flow as a block that keeps the margins of its children. Needs its library only for lists that are long.
 */
export class LongList implements ReactiveController {
  readonly #host: LitElement;
  readonly #options: LongListOptions;
  #lib: typeof virtualCore | undefined;
  #virtual: virtualCore.Virtualizer<HTMLElement, HTMLElement> | undefined;
  #unmount: (() => void) | undefined;
  #isLoading = false;
  #count = 0;
  #key: Key = asIndex;
  /** Pixels between the beginning of what scrolls and the list. */
  #above = 0;
  #scroller: HTMLElement | null = null;
  #after = 0;
  /** Indexes of items that were used, the last one at the end. */
  #kept: number[] = [];
  /** The index of an item to bring into view. */
  #wanted: number | undefined;
  #isListening = false;

  /** Adds itself to the element. */
  constructor(host: LitElement, options: LongListOptions) {
    this.#host = host;
    this.#options = options;
    host.addController(this);
  }

  /** The items to draw, in order. `key` tells an item from others where the list changes. */
  items(count: number, key: Key = asIndex): readonly DrawnItem[] {
    if (count !== this.#count) this.#kept = [];
    this.#count = count;
    this.#key = key;
    const { few, height } = this.#options;
    this.#place();
    const virtual = this.#isLong ? this.#virtual : undefined;
    virtual?.setOptions(this.#virtualizerOptions());
    const drawn = virtual?.getVirtualItems() ?? [];
    if (virtual === undefined || drawn.length === 0) {
      this.#after = Math.max(0, count - few) * height;
      return Array.from({ length: Math.min(count, few) }, (_, index) => ({ index, style: "" }));
    }
    let end = this.#above;
    const items = drawn.map((item) => {
      const space = item.start - end;
      end = item.end;
      return { index: item.index, style: space > 0 ? `margin-block-start: ${space}px` : "" };
    });
    this.#after = Math.max(0, virtual.getTotalSize() + this.#above - end);
    return items;
  }

  /** The style of the list, after `items` was called: room for what is not drawn. */
  get style(): string {
    return this.#isLong ? `overflow-anchor: none; padding-block-end: ${this.#after}px` : "";
  }

  /** Forgets heights and what was used, for another list. */
  reset(): void {
    this.#kept = [];
    this.#virtual?.measure();
  }

  /** Focuses the first button of an item, and brings it into view. */
  async focus(index: number): Promise<void> {
    this.#keep(index);
    this.#host.requestUpdate();
    await this.#host.updateComplete;
    this.#elementAt(index)?.querySelector<HTMLElement>("button")?.focus();
  }

  /** Brings an item of a long list into view, after the host was updated. */
  show(index: number): void {
    this.#wanted = index;
  }

  /** Moves the focus from item to item by arrow keys, Home and End: a listener for the list. */
  readonly onKey = (event: KeyboardEvent): void => {
    const item = (event.target as HTMLElement).parentElement;
    if (!(event.target instanceof HTMLButtonElement) || item?.dataset["index"] === undefined) return;
    const at = Number(item.dataset["index"]);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.#count - 1 }[event.key];
    if (to === undefined || to < 0 || to >= this.#count) return;
    event.preventDefault();
    void this.focus(to);
  };

  /** Follows the scrolling and the heights of what was drawn. */
  hostUpdated(): void {
    if (!this.#isListening) {
      this.#isListening = true;
      // Not everything that is pressed gets the focus.
      for (const type of ["focusin", "click"]) this.#host.renderRoot.addEventListener(type, this.#used);
    }
    if (!this.#isLong) return this.#end();
    if (this.#virtual === undefined) return void this.#begin();
    this.#virtual.setOptions(this.#virtualizerOptions());
    // The library's framework adapters call this and `_didMount`.
    // oxlint-disable-next-line no-underscore-dangle
    this.#virtual._willUpdate();
    this.#virtual.measureElement(null);
    for (const element of this.#list?.children ?? []) {
      if (element instanceof HTMLElement && element.dataset["index"] !== undefined)
        this.#virtual.measureElement(element);
    }
    if (this.#wanted === undefined || this.#virtual.getVirtualItems().length === 0) return;
    this.#virtual.scrollToIndex(this.#wanted);
    this.#wanted = undefined;
  }

  /** Goes on where the element was moved. */
  hostConnected(): void {
    if (this.#isLong) this.#host.requestUpdate();
  }

  /** Nothing outlives the element. */
  hostDisconnected(): void {
    this.#end();
  }

  get #isLong(): boolean {
    return this.#count > this.#options.few;
  }

  get #list(): HTMLElement | null {
    return this.#host.renderRoot.querySelector("[data-index]")?.parentElement ?? null;
  }

  #elementAt(index: number): Element | null {
    return this.#host.renderRoot.querySelector(`[data-index="${index}"]`);
  }

  async #begin(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      this.#lib ??= await import("@tanstack/virtual-core");
    } catch {
      // There is no network: the first items are shown until the next update.
      return;
    } finally {
      this.#isLoading = false;
    }
    if (!this.#host.isConnected || !this.#isLong || this.#virtual !== undefined) return;
    this.#place();
    this.#virtual = new this.#lib.Virtualizer(this.#virtualizerOptions());
    // oxlint-disable-next-line no-underscore-dangle
    this.#unmount = this.#virtual._didMount();
    this.#host.requestUpdate();
  }

  #end(): void {
    this.#unmount?.();
    this.#unmount = undefined;
    this.#virtual = undefined;
  }

  #place(): void {
    const list = this.#isLong ? this.#list : null;
    if (list === null) return;
    this.#scroller = scrollerOf(list);
    const { top = 0 } = this.#scroller?.getBoundingClientRect() ?? {};
    this.#above = Math.round(list.getBoundingClientRect().top - top + (this.#scroller?.scrollTop ?? 0));
  }

  #virtualizerOptions(): Options {
    const { height, beyond = 4 } = this.#options;
    const { defaultRangeExtractor, elementScroll, observeElementOffset, observeElementRect } =
      this.#lib as typeof virtualCore;
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

  readonly #used = (event: Event): void => {
    const item = (event.target as HTMLElement).closest<HTMLElement>("[data-index]");
    if (item === null) return;
    this.#keep(Number(item.dataset["index"]));
    // Tab finds them at once, before anything has scrolled.
    if (this.#isLong && this.#besideUsed.some((index) => this.#elementAt(index) === null)) this.#host.requestUpdate();
  };

  /** The items before and after the one that was used last. */
  get #besideUsed(): readonly number[] {
    const at = this.#kept.at(-1);
    return at === undefined ? [] : [at - 1, at + 1].filter((index) => index >= 0 && index < this.#count);
  }

  #keep(index: number): void {
    this.#kept = [...this.#kept.filter((other) => other !== index), index].slice(-MOST_KEPT);
  }
}

/** What scrolls around an element, through shadow trees; null if only the document does. */
function scrollerOf(element: HTMLElement): HTMLElement | null {
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

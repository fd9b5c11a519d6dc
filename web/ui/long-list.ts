/**
 * A long list, of which the items in view are drawn, and some around them.
 * @module
 */
import type { LitElement, ReactiveController } from "lit";
import type { ListWindow } from "./long-list/list-window.js";

/** Options for a long list. */
export interface LongListOptions {
  /** A list of up to this many items is drawn whole. */
  readonly few: number;
  /** The height of an item in pixels, about. */
  readonly height: number;
  /** Items drawn above and below those in view. Defaults to 4. */
  readonly beyond?: number;
}

/** An item that is drawn. */
export interface DrawnItem {
  /** Its index in the list; the element has it as `data-index`. */
  readonly index: number;
  /** The style of its element, which leaves room for the items before it that are not drawn. */
  readonly style: string;
}

/** What tells an item from others. Another function lays out the list again. */
export type Key = (index: number) => string | number;

const asIndex: Key = (index) => index;

/**
 * The list of an element, within whatever scrolls around it. Items are children of one element, which has `style`, and lies in
 * the flow as a block that keeps the margins of its children.
 */
export class LongList implements ReactiveController {
  /** The element. */
  protected readonly host: LitElement;
  readonly #options: LongListOptions;
  /** Set while the list is long. */
  protected window: ListWindow | undefined;
  #isLoading = false;
  /** How many items there are. */
  protected count = 0;
  #key: Key = asIndex;
  #after = 0;

  /** Adds itself to the element. */
  constructor(host: LitElement, options: LongListOptions) {
    this.host = host;
    this.#options = options;
    host.addController(this);
  }

  /** The items to draw, in order. `key` tells an item from others where the list changes. */
  items(count: number, key: Key = asIndex): readonly DrawnItem[] {
    this.count = count;
    this.#key = key;
    const { few, height } = this.#options;
    const seen = this.#isLong ? this.window?.items(count, key) : undefined;
    this.#after = seen?.after ?? Math.max(0, count - few) * height;
    return seen?.items ?? Array.from({ length: Math.min(count, few) }, (_, index) => ({ index, style: "" }));
  }

  /** The style of the list, after `items` was called: room for what is not drawn. */
  get style(): string {
    return this.#isLong ? `overflow-anchor: none; padding-block-end: ${this.#after}px` : "";
  }

  /** Forgets heights and what was used, for another list. */
  reset(): void {
    this.window?.reset();
  }

  /** Follows what was drawn. */
  hostUpdated(): void {
    if (!this.#isLong) return this.#end();
    if (this.window === undefined) return void this.#begin();
    this.window.follow();
  }

  /** Goes on where the element was moved. */
  hostConnected(): void {
    if (this.#isLong) this.host.requestUpdate();
  }

  /** Nothing outlives the element. */
  hostDisconnected(): void {
    this.#end();
  }

  get #isLong(): boolean {
    return this.count > this.#options.few;
  }

  async #begin(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    // Without a network the first items are shown until the next update.
    const loaded = await import("./long-list/list-window.js").catch(() => undefined);
    this.#isLoading = false;
    if (loaded === undefined || !this.host.isConnected || !this.#isLong) return;
    this.window ??= new loaded.ListWindow(this.host, this.#options, this.count, this.#key);
    this.host.requestUpdate();
  }

  #end(): void {
    this.window?.end();
    this.window = undefined;
  }
}

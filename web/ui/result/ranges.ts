/**
 * Ranges of a text on the screen that are lit, without touching the elements that show it.
 * @module
 */
import type { Span } from "./counterparts.js";

/** What `::highlight()` calls them. */
export const LIT = "sluice-counterpart";

/** The text nodes of an element, and where in its text each begins. */
export class TextPlaces {
  readonly #nodes: Text[] = [];
  readonly #starts: number[] = [];
  #length = 0;

  constructor(root: Node) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() !== null) {
      const node = walker.currentNode as Text;
      this.#nodes.push(node);
      this.#starts.push(this.#length);
      this.#length += node.length;
    }
  }

  /** The range of a span; null when there is no text. */
  range({ begin, end }: Span): Range | null {
    const from = this.#place(Math.min(begin, this.#length));
    const to = this.#place(Math.min(end, this.#length));
    if (from === null || to === null) return null;
    const range = document.createRange();
    range.setStart(...from);
    range.setEnd(...to);
    return range;
  }

  /** Where in the text a place in one of its nodes is; null when the node is none of them. */
  offset(node: Node, within: number): number | null {
    const index = this.#nodes.indexOf(node as Text);
    return index < 0 ? null : (this.#starts[index] ?? 0) + within;
  }

  #place(at: number): [Text, number] | null {
    let index = this.#starts.findIndex((start, place) => start + (this.#nodes[place]?.length ?? 0) >= at);
    if (index < 0) index = this.#nodes.length - 1;
    const node = this.#nodes.at(index);
    return node === undefined ? null : [node, at - (this.#starts[index] ?? 0)];
  }
}

/** The lit ranges of one element; several share one highlight, since a page has one of each name. */
export class LitRanges {
  #ranges: readonly Range[] = [];

  /** Lights these and no others. */
  set(ranges: readonly Range[]): void {
    const highlight = shared();
    for (const range of this.#ranges) highlight?.delete(range);
    for (const range of ranges) highlight?.add(range);
    this.#ranges = ranges;
  }
}

function shared(): Highlight | null {
  // Browsers without the API show no light; the focus still moves.
  if (!("highlights" in CSS)) return null;
  const known = CSS.highlights.get(LIT);
  if (known !== undefined) return known;
  const highlight = new Highlight();
  CSS.highlights.set(LIT, highlight);
  return highlight;
}

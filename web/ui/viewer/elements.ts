/**
 * The elements of a JSON array, found in text that comes in pieces.
 * @module
 */

/** Characters of one element at most: nobody would call more a row. */
export const LONGEST_ELEMENT: number = 1024 ** 2;

/** Finds elements, each as its source text. It checks nothing: what it gives may be no JSON. */
export class Elements {
  #rest = "";
  /** How much of the rest has been looked at; one more than there is when an escape goes on in the next piece. */
  #seen = 0;
  #depth = 0;
  #inString = false;

  /** Whether an element is too long to be one. */
  get endless(): boolean {
    return this.#rest.length > LONGEST_ELEMENT;
  }

  /** Takes a piece, gives the elements that are complete. */
  push(piece: string): string[] {
    const text = this.#rest + piece;
    const found: string[] = [];
    let start = 0;
    let at = this.#seen;
    for (;;) {
      const marks = this.#inString ? /["\\]/g : /["{}[\],]/g;
      marks.lastIndex = at;
      const index = marks.exec(text)?.index;
      if (index === undefined) break;
      const mark = text.charAt(index);
      at = index + (mark === "\\" ? 2 : 1);
      if (!this.#ends(mark)) continue;
      const element = text.slice(start, index).trim();
      if (element !== "") found.push(element);
      start = index + 1;
    }
    this.#rest = text.slice(start);
    this.#seen = Math.max(at, text.length) - start;
    return found;
  }

  // Whether an element ends with a mark, or, at the first bracket, begins behind it.
  #ends(mark: string): boolean {
    if (mark === '"') this.#inString = !this.#inString;
    if (this.#inString || mark === '"') return false;
    if (mark === ",") return this.#depth === 1;
    if (mark === "{" || mark === "[") {
      this.#depth += 1;
      return this.#depth === 1;
    }
    this.#depth -= 1;
    return this.#depth === 0;
  }
}

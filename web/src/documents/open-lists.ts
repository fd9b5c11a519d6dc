/**
 * Lists and numbered headings of OpenDocument: how far each has counted.
 * @module
 */
import type { OpenStyles } from "./open-styles.js";
import { readCount } from "./xml.js";

/** Most lists whose counts are kept, to be continued. */
const MAX_LISTS = 10_000;

/** The largest number that a list or a heading may begin with. */
const MAX_START = 1_000_000;

interface List {
  readonly id: string | undefined;
  readonly style: string | undefined;
  readonly counts: number[];
  /** Whether the next paragraph is the first of its item. */
  isFirst: boolean;
}

/** The lists that are open, the inner ones last. */
export class OpenLists {
  readonly #styles: OpenStyles;
  readonly #open: List[] = [];
  /** How far lists have counted, by style and by id. */
  readonly #counted = new Map<string, readonly number[]>();
  readonly #outline: number[] = [];

  constructor(styles: OpenStyles) {
    this.#styles = styles;
  }

  /** The level of an item, from 0. */
  get level(): number {
    return Math.max(0, this.#open.length - 1);
  }

  /** Opens a list, which may continue another. */
  open(attributes: Readonly<Record<string, string>>): void {
    const outer = this.#open.at(-1);
    const style = attributes["text:style-name"] ?? outer?.style;
    const saved =
      attributes["text:continue-numbering"] === "true"
        ? this.#counted.get(`style ${style ?? ""}`)
        : this.#counted.get(`id ${attributes["text:continue-list"] ?? ""}`);
    const counts = outer?.counts ?? [...(saved ?? [])];
    this.#open.push({ id: attributes["xml:id"], style, counts, isFirst: false });
  }

  /** Opens an item and counts it; the header of a list is not counted. */
  openItem(isCounted: boolean, start: string | undefined): void {
    const list = this.#open.at(-1);
    if (list === undefined) return;
    list.isFirst = isCounted;
    if (!isCounted) return;
    const { counts, style } = list;
    const at = this.#open.length - 1;
    counts.length = Math.min(counts.length, at + 1);
    while (counts.length < at) counts.push(this.#styles.startOf(style, counts.length));
    const before = counts[at];
    if (start !== undefined) counts[at] = readCount(start, 0, MAX_START, 1);
    else counts[at] = before === undefined ? this.#styles.startOf(style, at) : before + 1;
  }

  /** The mark of a paragraph of this style: undefined outside of lists, and empty behind the first of its item. */
  takeMark(style: string | undefined): string | undefined {
    const list = this.#open.at(-1);
    if (list === undefined) return undefined;
    const { isFirst } = list;
    list.isFirst = false;
    return isFirst
      ? this.#styles.writeMark(list.style ?? this.#styles.findList(style), this.#open.length - 1, list.counts)
      : "";
  }

  /** Closes the innermost list. Gives whether it was the last that is open. */
  close(): boolean {
    const list = this.#open.pop();
    if (list === undefined || this.#open.length > 0) return false;
    if (this.#counted.size < MAX_LISTS) {
      this.#counted.set(`style ${list.style ?? ""}`, list.counts);
      if (list.id !== undefined) this.#counted.set(`id ${list.id}`, list.counts);
    }
    return true;
  }

  /** Counts a heading of a level, from 1, and gives its number. */
  countHeading(level: number, start: string | undefined): string {
    const counts = this.#outline;
    const before = counts[level - 1];
    counts.length = Math.min(counts.length, level);
    while (counts.length < level) counts.push(1);
    counts[level - 1] = start === undefined ? (before ?? 0) + 1 : readCount(start, 0, MAX_START, 1);
    return this.#styles.writeOutline(level - 1, counts);
  }
}

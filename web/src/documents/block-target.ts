/**
 * What takes the blocks of a document: the writer of the whole, or what makes one line of a part.
 * @module
 */
import { type BlockWriter, oneLine } from "./blocks.js";

/** What takes blocks of text. */
export type BlockTarget = Pick<BlockWriter, "heading" | "paragraph" | "item" | "row" | "gap" | "link" | "endPart">;

/** Collects blocks as one text, up to a bound. */
export class LineCollector implements BlockTarget {
  #text = "";

  constructor(private readonly most: number) {}

  heading(text: string): void {
    this.#add(text);
  }

  paragraph(text: string): void {
    this.#add(text);
  }

  item(text: string, _level: number, mark = "-"): void {
    this.#add(mark === "" ? text : `${mark} ${text}`);
  }

  row(cells: readonly string[]): void {
    this.#add(cells.join(" | "));
  }

  gap(): void {}

  link(): void {}

  endPart(): void {}

  /** What was collected, in one line. */
  toString(): string {
    return oneLine(this.#text);
  }

  #add(text: string): void {
    if (this.#text.length < this.most) this.#text += ` ${text.slice(0, this.most)}`;
  }
}

/** A block that is not written yet: that of a cell, until it is known whether the cell has the row for itself. */
export interface Block {
  readonly text: string;
  readonly level: number;
  /** What stands before an item of a list; undefined for other blocks. */
  readonly mark: string | undefined;
  readonly isHeading: boolean;
}

/** Writes a block as what it is. */
export function writeBlock(blocks: BlockTarget, { text, level, mark, isHeading }: Block): void {
  if (isHeading) blocks.heading(mark === undefined || mark === "-" || mark === "" ? text : `${mark} ${text}`, level);
  else if (mark === undefined || mark === "") blocks.paragraph(text);
  else blocks.item(text, level, mark);
}

/**
 * A text as rows: its lines, of which long ones become several.
 * @module
 */

/** Characters of a row; the rest of a line follows in rows without a number. */
const LONGEST = 1000;
/** Characters that are looked through for the end of a word. */
const LONGEST_WORD = 100;
/** Rows of a text at most: each has its cost, even when nothing is in it. */
const MOST_ROWS = 4_000_000;

/** A row of a text. */
export interface TextRow {
  /** The number of its line, from 1; 0 when it goes on with the row before. */
  readonly line: number;
  /** Without what ends the line. */
  readonly text: string;
}

/** Collects a text that comes in pieces. */
export class Lines {
  readonly #texts: string[] = [];
  readonly #numbers: number[] = [];
  #open = "";
  #opensLine = true;
  #line = 1;

  /** How many rows there are, the unfinished last one not counted. */
  get count(): number {
    return this.#texts.length;
  }

  /** Whether no more rows are taken. */
  get full(): boolean {
    return this.#texts.length >= MOST_ROWS;
  }

  /** Takes the next piece. */
  push(piece: string): void {
    const lines = (this.#open + piece).split("\n");
    this.#open = lines.pop() ?? "";
    for (const line of lines) {
      this.#add(line.endsWith("\r") ? line.slice(0, -1) : line);
      this.#opensLine = true;
      this.#line += 1;
    }
    if (this.#open.length > LONGEST) this.#open = this.#cut(this.#open);
  }

  /** Ends the text. */
  end(): void {
    if (this.#open !== "" || this.#texts.length === 0) this.#add(this.#open);
    this.#open = "";
  }

  /** A row, from 0. */
  row(index: number): TextRow {
    return { line: this.#numbers[index] ?? 0, text: this.#texts[index] ?? "" };
  }

  #add(line: string): void {
    this.#put(this.#cut(line));
  }

  // Puts rows for all but the end of a long line.
  #cut(line: string): string {
    let at = 0;
    while (line.length - at > LONGEST) {
      const end = this.#endOf(line, at + LONGEST);
      this.#put(line.slice(at, end));
      at = end;
    }
    return line.slice(at);
  }

  // Between words where there are any; a pair of surrogates stays together.
  #endOf(line: string, most: number): number {
    const space = line.lastIndexOf(" ", most - 1);
    if (space > most - LONGEST_WORD) return space + 1;
    const last = line.charCodeAt(most - 1);
    return most - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
  }

  #put(text: string): void {
    if (this.full) return;
    this.#texts.push(text);
    this.#numbers.push(this.#opensLine ? this.#line : 0);
    this.#opensLine = false;
  }
}

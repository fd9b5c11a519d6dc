/**
 * JSON in one line, laid out in lines: characters are added, none is changed.
 * @module
 */

/** Levels that are set in; deeper ones stay at the last. */
const DEEPEST = 40;

/** Lays out a text that comes in pieces. What is no JSON comes out as text all the same. */
export class Indented {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #justOpened = false;

  /** Takes a piece, gives it laid out. */
  push(piece: string): string {
    let laid = "";
    let start = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece.charAt(at);
      if (this.#inString) {
        this.#within(character);
        continue;
      }
      const isSpace = character === " " || character === "\n" || character === "\r" || character === "\t";
      laid += piece.slice(start, at) + (isSpace ? "" : this.#before(character));
      start = isSpace ? at + 1 : at;
      const behind = isSpace ? "" : this.#behind(character);
      if (behind === "") continue;
      laid += character + behind;
      start = at + 1;
    }
    return laid + piece.slice(start);
  }

  #within(character: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (character === "\\") this.#escaped = true;
    else if (character === '"') this.#inString = false;
  }

  #before(character: string): string {
    const closes = character === "}" || character === "]";
    if (closes) this.#depth = Math.max(0, this.#depth - 1);
    const begins = this.#justOpened !== closes;
    this.#justOpened = false;
    return begins ? this.#line() : "";
  }

  #behind(character: string): string {
    if (character === '"') this.#inString = true;
    if (character === ",") return this.#line();
    if (character === ":") return " ";
    if (character === "{" || character === "[") {
      this.#depth += 1;
      this.#justOpened = true;
    }
    return "";
  }

  #line(): string {
    return `\n${"  ".repeat(Math.min(DEEPEST, this.#depth))}`;
  }
}

/**
 * Pretty-prints JSON text. Numbers, keys and escapes stay as they are.
 * @module
 */
import { endOfString, JsonNode, skipSpace } from "./json-text.js";
import { type Hole, holesWithin, type MarkedText, listPieces } from "./marked-text.js";

/** Options for `prettyLines`. */
export interface PrettyOptions {
  /** Most lines. */
  readonly lines: number;
  /** Most characters of a string or a text. */
  readonly chars: number;
  /** The text for a hole. */
  readonly hole: (hole: Hole) => string;
  /** Whether JSON inside a string is expanded. */
  readonly unfold: boolean;
}

/** Lines, and whether they are all. */
interface PrettyLines {
  /** The lines. */
  readonly lines: readonly string[];
  /** Whether they are complete. */
  readonly whole: boolean;
}

/** Deeper than this, lines are not indented further. */
const MOST_INDENT = 40;
const MOST_UNFOLDED = 3;

/** The lines of JSON text, indented by two spaces; for other text its own lines. */
export function prettyLines(source: MarkedText, options: PrettyOptions): PrettyLines {
  const printer = new Printer(options);
  const root = JsonNode.of(source);
  if (root === null) printer.plain(source);
  else printer.json(source, root.begin, root.end, 0);
  return printer.finish();
}

class Printer {
  readonly #options: PrettyOptions;
  readonly #lines: string[] = [];
  #line = "";
  #depth = 0;

  constructor(options: PrettyOptions) {
    this.#options = options;
  }

  plain(source: MarkedText): void {
    for (const line of this.#cut(source).split(/\r?\n/)) {
      this.#line = line;
      if (!this.#break()) return;
    }
  }

  json(source: MarkedText, begin: number, end: number, unfolded: number): void {
    const { text } = source;
    for (let at = skipSpace(text, begin); at < end && !this.#full; at = skipSpace(text, at)) {
      const character = text.charAt(at);
      if (character === '"') {
        const behind = endOfString(text, at);
        if (behind < 0 || behind > end) return;
        this.#string(source, at, behind, unfolded);
        at = behind;
        continue;
      }
      at += 1;
      const next = skipSpace(text, at);
      if ((character === "{" || character === "[") && !/[}\]]/.test(text.charAt(next))) {
        this.#line += character;
        this.#depth += 1;
        this.#break();
      } else if (character === "{" || character === "[") {
        this.#line += character + text.charAt(next);
        at = next + 1;
      } else if (character === "}" || character === "]") {
        this.#depth -= 1;
        this.#break();
        this.#line += character;
      } else if (character === ",") {
        this.#line += character;
        this.#break();
      } else {
        this.#line += character === ":" ? ": " : character;
      }
    }
  }

  finish(): PrettyLines {
    if (this.#line.trim() !== "" && !this.#full) this.#break();
    return { lines: this.#lines, whole: !this.#full || this.#line.trim() === "" };
  }

  get #full(): boolean {
    return this.#lines.length >= this.#options.lines;
  }

  #break(): boolean {
    if (this.#full) return false;
    if (this.#line.trim() !== "") this.#lines.push(this.#line);
    this.#line = "  ".repeat(Math.max(0, Math.min(this.#depth, MOST_INDENT)));
    return !this.#full;
  }

  #string(source: MarkedText, begin: number, end: number, unfolded: number): void {
    const inside = holesWithin(source, begin, end);
    const node = new JsonNode(source, begin, end);
    const { hole } = node;
    if (hole !== null) {
      this.#line += this.#options.hole(hole);
      return;
    }
    if (this.#options.unfold && unfolded < MOST_UNFOLDED && /^"\s*[[{]/.test(source.text.slice(begin, begin + 40))) {
      const { said } = node;
      const inner = JsonNode.of(said);
      if (inner !== null) return this.json(said, inner.begin, inner.end, unfolded + 1);
    }
    const text = source.text.slice(begin, end);
    const holes = inside.map((one) => ({ ...one, begin: one.begin - begin, end: one.end - begin }));
    this.#line += this.#cut({ text, holes });
  }

  #cut(source: MarkedText): string {
    const { pieces, whole } = listPieces(source, this.#options.chars);
    const text = pieces.map((piece) => (typeof piece === "string" ? piece : this.#options.hole(piece))).join("");
    return whole ? text : `${text}…`;
  }
}

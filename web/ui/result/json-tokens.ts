/**
 * The parts of JSON text that are drawn in colour.
 * @module
 */
import { css, type CSSResult } from "lit";
import { endOfString, skipSpace } from "./json-text.js";

/** A part of JSON text. */
export interface JsonToken {
  /** A key, a string, or a number or literal. */
  readonly kind: "k" | "s" | "n";
  /** Where it begins, in UTF-16 units. */
  readonly begin: number;
  /** Where it ends. */
  readonly end: number;
}

/** The colours of tokens, whose kinds are their classes. */
export const tokenStyles: CSSResult = css`
  .k {
    color: light-dark(#7a35e0, #c3a6ff);
  }
  .s {
    color: var(--good);
  }
  .n {
    color: var(--warn);
  }
`;

/** The keys, strings, numbers and literals of JSON text, in order. Ends at a string without an end. */
export function* jsonTokens(text: string): Generator<JsonToken> {
  const start = /["\d-]|true|false|null/g;
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    const begin = found.index;
    if (text.charAt(begin) !== '"') {
      const rest = /[\w.+-]+/y;
      rest.lastIndex = begin;
      const end = begin + (rest.exec(text)?.[0].length ?? 1);
      yield { kind: "n", begin, end };
      start.lastIndex = end;
      continue;
    }
    const end = endOfString(text, begin);
    if (end < 0) return;
    yield { kind: text.charAt(skipSpace(text, end)) === ":" ? "k" : "s", begin, end };
    start.lastIndex = end;
  }
}

/**
 * How a JSON text is laid out, so that what is added looks like what is there.
 * @module
 */

/** The layout of new text at one place. */
export interface Layout {
  /** What begins a line at this place: a line break and its indentation. Empty where all is in one line. */
  readonly lineStart: string;
  /** One level of indentation. Empty where values are written in one line. */
  readonly unit: string;
  /** Whether a space follows colons and commas within a line. */
  readonly isSpaced: boolean;
}

/** Writes a value. Throws a RangeError if it is nested too deep for `JSON.stringify`. */
export function writeJson(value: unknown, { lineStart, unit, isSpaced }: Layout): string {
  if (unit !== "") return JSON.stringify(value, null, unit).replaceAll("\n", lineStart);
  return isSpaced ? joinLines(JSON.stringify(value, null, " ")) : JSON.stringify(value);
}

/** Joins the lines of indented JSON with one space where `JSON.stringify` has none of the kind: `{"a": [1, 2]}`. */
function joinLines(indented: string): string {
  const lines = indented.split("\n").map((line) => line.trimStart());
  return lines.reduce((text, line) => `${text}${text.endsWith(",") ? " " : ""}${line}`, "");
}

/** The line start among white space, if it has a line break: the last one, with what follows. */
export function lineStartIn(space: string): string | undefined {
  return /\r?\n[ \t]*$/.exec(space)?.[0];
}

/** One level of indentation between two line starts. Two spaces if they do not tell. */
export function unitBetween(outer: string, inner: string): string {
  const [shallow, deep] = [outer, inner].map((start) => start.replace(/^\r?\n/, ""));
  const unit = deep?.startsWith(shallow ?? "") === true ? deep.slice(shallow?.length) : "";
  return unit === "" ? "  " : unit;
}

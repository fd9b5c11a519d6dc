/**
 * A command as a list of words, without a shell.
 * @module
 */
import { parseArgsStringToArgv } from "string-argv";

/**
 * Splits a command at white space. Quotes, single or double, keep it together, and a backslash is itself. Undefined where
 * a quote is not closed.
 */
export function wordsIn(command: string): readonly string[] | undefined {
  return hasOpenQuote(command) ? undefined : parseArgsStringToArgv(command);
}

/** string-argv closes them at the end by itself. */
function hasOpenQuote(text: string): boolean {
  let open = "";
  for (const char of text) {
    if (open !== "") open = char === open ? "" : open;
    else if (char === '"' || char === "'") open = char;
  }
  return open !== "";
}

/**
 * JSON as commands print it.
 *
 * Text is indented without parsing it into values, so that numbers of any length, escapes, duplicate keys and lone
 * surrogates stay as they are.
 * @module
 */
import type { Output } from "./terminal.js";

/** Prints a value, indented. */
export async function printJson(value: unknown, output: Output): Promise<void> {
  await output.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Indents valid JSON text by two spaces per level. Empty containers stay on one line. */
export function indent(json: string): string {
  const out: string[] = [];
  let depth = 0;
  let opened = false;
  for (const token of tokens(json)) {
    if (token === "}" || token === "]") {
      depth -= 1;
      out.push(opened ? token : newLine(depth) + token);
      opened = false;
      continue;
    }
    if (opened) out.push(newLine(depth));
    opened = token === "{" || token === "[";
    if (opened) depth += 1;
    out.push(token === "," ? token + newLine(depth) : token === ":" ? ": " : token);
  }
  return out.join("");
}

/** Puts valid JSON text on one line. */
export function oneLine(json: string): string {
  return /[\r\n]/.test(json) ? [...tokens(json)].join("") : json;
}

function newLine(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}

/** The tokens of valid JSON text without white space. Takes linear time for strings of any length. */
function* tokens(json: string): Generator<string> {
  const plain = /[{}[\],:]|[^\s"{}[\],:]+|"/g;
  for (let found = plain.exec(json); found !== null; found = plain.exec(json)) {
    if (found[0] !== '"') {
      yield found[0];
      continue;
    }
    plain.lastIndex = stringEnd(json, found.index);
    yield json.slice(found.index, plain.lastIndex);
  }
}

/** The offset after the string that starts at `from`. */
function stringEnd(json: string, from: number): number {
  const special = /["\\]/g;
  special.lastIndex = from + 1;
  for (let found = special.exec(json); found !== null; found = special.exec(json)) {
    if (found[0] === '"') return special.lastIndex;
    special.lastIndex += 1;
  }
  return json.length;
}

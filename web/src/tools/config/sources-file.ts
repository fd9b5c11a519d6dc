/**
 * A file of sources: `{"sources": [ExternalToolConfig, …]}`.
 * @module
 */
import { parse } from "@humanwhocodes/momoa";
import { readToolConfig, type ExternalToolConfig } from "../config.js";
import { below, ToolConfigError, unknownKey, wrongValue } from "./problem.js";

const MAX_SOURCES = 256;
const MAX_CHARS = 4 * 1024 * 1024;
const KEY = "sources";

/**
 * Reads the text of a file of sources, and checks each; they are given as they were written.
 *
 * @throws ToolConfigError E_TOOL_CONFIG with the path of what is wrong, such as `sources[2].retry_policy.max_attemps`, or
 *   with the line and the column where it is not JSON. No part of the text is quoted but keys.
 */
export function readSourcesFile(text: string): readonly ExternalToolConfig[] {
  if (text.length > MAX_CHARS) throw wrongValue("", `a file of at most ${MAX_CHARS} characters`);
  const { sources, ...rest } = membersOf(text);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw unknownKey("", unknown, [KEY]);
  return checkSources(sources);
}

/**
 * Checks a list of sources that stands at `sources`; they are given as they were written.
 *
 * @throws ToolConfigError E_TOOL_CONFIG with the path of what is wrong.
 */
export function checkSources(sources: unknown): readonly ExternalToolConfig[] {
  if (!Array.isArray(sources) || sources.length > MAX_SOURCES) {
    throw wrongValue(KEY, `a list of at most ${MAX_SOURCES} sources`);
  }
  for (const [index, source] of sources.entries()) readToolConfig(source, below(KEY, index));
  const checked = sources as readonly ExternalToolConfig[];
  checkNames(checked);
  return checked;
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ToolConfigError("", `The file of sources is not JSON${placeOfFault(text)}: mend it there.`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrongValue("", 'an object with the key "sources", such as {"sources": []}');
  }
  return value as Readonly<Record<string, unknown>>;
}

/** The engine's own sentence quotes the text, and not every engine tells the place. */
function placeOfFault(text: string): string {
  try {
    parse(text);
  } catch (error) {
    const { line, column } = error as { readonly line?: unknown; readonly column?: unknown };
    if (typeof line === "number" && typeof column === "number") return ` (line ${line}, column ${column})`;
  }
  return "";
}

function checkNames(sources: readonly ExternalToolConfig[]): void {
  const indexes = new Map<string, number>();
  for (const [index, { name }] of sources.entries()) {
    const first = indexes.get(name);
    if (first !== undefined)
      throw wrongValue(`${below(KEY, index)}.name`, `another name than ${below(KEY, first)}.name has`);
    indexes.set(name, index);
  }
}

/**
 * A file of sources: `{"sources": […]}`, each as `readToolConfig` takes it.
 * @module
 */
import { placeOfFault } from "../../json/text.js";
import { below, ToolConfigError, unknownKey, wrongValue } from "../errors.js";
import { type ExternalToolConfig, readToolConfig } from "./config.js";

const MAX_SOURCES = 256;
const MAX_FILE_CHARS = 4 * 1024 * 1024;
const SOURCES_KEY = "sources";

/**
 * Reads a file of sources and checks each of them. Returns them as they were written.
 *
 * @throws ToolConfigError E_TOOL_CONFIG with the path of the wrong key, such as
 *   `sources[2].retry_policy.max_attemps`, or with line and column if it is not JSON. Only keys are quoted.
 */
export function readSourcesFile(text: string): readonly ExternalToolConfig[] {
  if (text.length > MAX_FILE_CHARS) throw wrongValue("", `a file of at most ${MAX_FILE_CHARS} characters`);
  const { sources, ...rest } = readMembers(text);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw unknownKey("", unknown, [SOURCES_KEY], "a key of a file of sources");
  return checkSources(sources);
}

/**
 * Checks the list of sources under the key `sources`. Returns them as they were written.
 *
 * @throws ToolConfigError E_TOOL_CONFIG with the path of the wrong key.
 */
export function checkSources(sources: unknown): readonly ExternalToolConfig[] {
  if (!Array.isArray(sources) || sources.length > MAX_SOURCES) {
    throw wrongValue(SOURCES_KEY, `a list of at most ${MAX_SOURCES} sources`);
  }
  for (const [index, source] of sources.entries()) readToolConfig(source, below(SOURCES_KEY, index));
  const checked = sources as readonly ExternalToolConfig[];
  checkNames(checked);
  return checked;
}

function readMembers(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const place = placeOfFault(text);
    throw new ToolConfigError("", `The file of sources is not JSON${place && ` (${place})`}: fix it there.`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrongValue("", 'an object with the key "sources", such as {"sources": []}');
  }
  return value as Readonly<Record<string, unknown>>;
}

function checkNames(sources: readonly ExternalToolConfig[]): void {
  const indexes = new Map<string, number>();
  for (const [index, { name }] of sources.entries()) {
    const first = indexes.get(name);
    if (first !== undefined)
      throw wrongValue(`${below(SOURCES_KEY, index)}.name`, `different from ${below(SOURCES_KEY, first)}.name`);
    indexes.set(name, index);
  }
}

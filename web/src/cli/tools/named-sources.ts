/**
 * Sources by the names that a command line gives them: those of a file, and the presets.
 * @module
 */
import { nearest } from "../../errors/arguments.js";
import type { ExternalToolConfig } from "../../tools/config/config.js";
import { readSourcesFile } from "../../tools/config/sources-file.js";
import { getPreset, presetNames } from "../../tools/config/presets.js";
import type { Invocation } from "../command.js";
import { checkConfig, readConfigFile } from "../configuration.js";
import { UsageError } from "../exit.js";

/**
 * The sources in the file of `--config`; none without it.
 *
 * @throws CommandError 66 if the file cannot be read, ToolConfigError if it is wrong.
 */
export async function readSources(invocation: Invocation): Promise<readonly ExternalToolConfig[]> {
  const file = invocation.value("config");
  if (file === undefined) return [];
  // Some editors begin a file with a mark that JSON forbids.
  const text = (await readConfigFile(file)).replace(/^\ufeff/, "");
  return checkConfig(file, () => readSourcesFile(text));
}

/** The source that the file of `--config` calls so, or else the preset. Throws like {@link readSources}, and UsageError. */
export async function readSource(name: string, invocation: Invocation): Promise<ExternalToolConfig> {
  return sourceNamed(name, await readSources(invocation), invocation.command);
}

/** The source of this name, or else the preset. Throws UsageError with the names that exist. */
export function sourceNamed(name: string, sources: readonly ExternalToolConfig[], command: string): ExternalToolConfig {
  const found = sources.find((source) => source.name === name);
  if (found !== undefined) return found;
  if (presetNames().includes(name)) return getPreset(name);
  const own = sources.map((source) => source.name);
  const meant = nearest(name, [...own, ...presetNames()]);
  const ofFile =
    own.length === 0 ? "" : `of the file (${own.slice(0, 20).join(", ")}${own.length > 20 ? ", …" : ""}), `;
  const all = `use one ${ofFile}of the presets (${presetNames().join(", ")}), or add it to a file of sources (--config FILE)`;
  const hint = meant === undefined ? all : `did you mean ${meant}?`;
  throw new UsageError(`there is no source ${JSON.stringify(name.slice(0, 64))}; ${hint}`, command);
}

/**
 * Sources by the names that a command line gives them: those of a file, and the presets.
 * @module
 */
import { nearest } from "../../errors/arguments.js";
import { type ExternalToolConfig, readSourcesFile } from "../../tools/config.js";
import { getPreset, presetNames } from "../../tools/presets.js";
import { readConfigFile } from "../configuration.js";
import { UsageError } from "../exit.js";

/** Sources of a file, in its order; a preset of the same name stands behind them. */
export class NamedSources {
  /** Those of the file alone. */
  readonly ofFile: readonly ExternalToolConfig[];
  readonly #command: string;

  private constructor(ofFile: readonly ExternalToolConfig[], command: string) {
    this.ofFile = ofFile;
    this.#command = command;
  }

  /**
   * Reads the file of `--config`, where one is named.
   *
   * @param command whose help to point at when there is no source of a name.
   * @throws CommandError 66 where it cannot be read, ToolConfigError where it is wrong.
   */
  static async read(file: string | undefined, command: string): Promise<NamedSources> {
    if (file === undefined) return new NamedSources([], command);
    // Some editors begin a file with a mark that JSON forbids.
    const text = (await readConfigFile(file)).replace(/^\ufeff/, "");
    return new NamedSources(readSourcesFile(text), command);
  }

  /** The source of this name. Throws UsageError that tells which there are. */
  find(name: string): ExternalToolConfig {
    const found = this.ofFile.find((source) => source.name === name);
    if (found !== undefined) return found;
    if (presetNames().includes(name)) return getPreset(name);
    throw this.#unknown(name);
  }

  #unknown(name: string): UsageError {
    const own = this.ofFile.map((source) => source.name);
    const meant = nearest(name, [...own, ...presetNames()]);
    const ofFile =
      own.length === 0 ? "" : `the file has ${own.slice(0, 20).join(", ")}${own.length > 20 ? ", …" : ""}; `;
    const hint = meant === undefined ? `${ofFile}presets are ${presetNames().join(", ")}` : `did you mean ${meant}?`;
    return new UsageError(`there is no source ${JSON.stringify(name.slice(0, 64))}; ${hint}`, this.#command);
  }
}

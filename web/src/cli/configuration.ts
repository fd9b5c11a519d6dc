/**
 * The configuration file of a command.
 * @module
 */
import { readFile } from "node:fs/promises";
import type { SluiceConfig } from "../core/config.js";
import { SluiceError } from "../errors/error.js";
import { CommandError, Exit } from "./exit.js";
import { placeOf } from "./json-place.js";
import { systemReason } from "./system-reason.js";
import { printable } from "./words.js";

/** Checks no more than that it is an object: keys and values are the core's to judge. */
export async function readConfig(file: string): Promise<SluiceConfig> {
  return readJsonObject(file, '{"max_inline_size": 4000}');
}

/**
 * The object that a configuration file holds, whatever its keys; `example` is one, for the error.
 *
 * @throws CommandError 66 where it cannot be read, SluiceError E_CONFIG_JSON where it is none.
 */
export async function readJsonObject(file: string, example: string): Promise<Readonly<Record<string, unknown>>> {
  const value = parsed(file, await readConfigFile(file));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const sentence = `${printable(file)} holds no JSON object; a configuration is one, for instance ${example}`;
    throw new SluiceError("E_CONFIG_JSON", sentence);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** The text of a configuration file. Throws CommandError 66. */
export async function readConfigFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(Exit.input, `cannot read the configuration ${printable(file)}: ${systemReason(error)}`, {
      cause: error,
    });
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const what = text.trim() === "" ? "is empty" : `is not JSON${placeOf(error, text)}`;
    throw new SluiceError("E_CONFIG_JSON", `the configuration ${printable(file)} ${what}; {} is one that sets nothing`);
  }
}

/**
 * What a command is configured by: a file, and secrets that its environment holds or names a file of.
 * @module
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { SluiceConfig } from "../config/types.js";
import { SluiceError } from "../errors/error.js";
import { CommandError, Exit, systemReason, UsageError } from "./exit.js";
import { printable } from "./terminal.js";

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

/** ` from line 2, column 7 on`, where the parser tells; its own sentence would quote what may be a secret. */
export function placeOf(error: unknown, text: string): string {
  const position = /at position (\d+)/.exec((error as Error).message)?.[1];
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return ` from line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} on`;
}

/** Bytes of a file that holds a secret, at most. */
const MAX_FILE = 65_536;

/**
 * The secret in the variable `name`, or in the file whose path is in `${name}_FILE`, without the line break at its end.
 * Undefined where neither is set. A child process of the same user can read its parent's environment, but not a file that
 * a sandbox hides.
 *
 * @param shortest characters that it must have.
 * @throws UsageError where it is too short, both are set, or the file cannot be read. The message names no path.
 */
export function readSecret(
  env: NodeJS.ProcessEnv,
  name: string,
  shortest: number,
  command: string,
): string | undefined {
  const file = env[`${name}_FILE`];
  const said = env[name];
  if (file !== undefined && said !== undefined) {
    throw new UsageError(`set ${name} or ${name}_FILE, not both`, command);
  }
  const secret = file === undefined ? said : secretIn(file, name, command);
  if (secret === undefined || secret.length >= shortest) return secret;
  throw new UsageError(`${name} wants at least ${shortest} characters`, command);
}

function secretIn(file: string, name: string, command: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch {
    throw new UsageError(`the file that ${name}_FILE names cannot be read: check its path and permissions`, command);
  }
  if (bytes.length > MAX_FILE) {
    throw new UsageError(`the file that ${name}_FILE names has more than ${MAX_FILE / 1024} KiB`, command);
  }
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
}

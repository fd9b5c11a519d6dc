/**
 * The configuration of a command: a JSON file, secrets from the environment, and the options for users' files.
 * @module
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { SluiceConfig } from "../config/types.js";
import { SluiceError, type ErrorCode } from "../errors/error.js";
import { MEGABYTES, type FLAGS } from "../files/options.js";
import type { Invocation } from "./command.js";
import { CommandError, Exit, systemReason, UsageError } from "./exit.js";
import { clause, fileName } from "./terminal/terminal.js";

/** Reads the core's configuration. The core checks its keys and values. */
export async function readConfig(file: string): Promise<SluiceConfig> {
  return readJsonObject(file, '{"max_inline_size": 4000}');
}

/**
 * Reads a configuration file that holds a JSON object. `example` is one, for the error.
 *
 * @throws CommandError 66 if the file cannot be read, SluiceError E_CONFIG_JSON if it holds no JSON object.
 */
export async function readJsonObject(file: string, example: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await parseConfig(file, await readConfigFile(file));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const sentence = `the configuration ${fileName(file)} must be a JSON object, for instance ${example}`;
    throw new SluiceError("E_CONFIG_JSON", sentence);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** Reads a configuration file as text. Throws CommandError 66. */
export async function readConfigFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(Exit.input, `cannot read the configuration ${fileName(file)}: ${systemReason(error)}`, {
      cause: error,
    });
  }
}

/** Checks the content of a configuration file. Errors of the configuration name the file. */
export async function checkConfig<T>(file: string | undefined, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (file === undefined || !(error instanceof SluiceError) || !OF_CONFIGURATION.has(error.code)) throw error;
    const { code, message, path } = error;
    const sentence = `${fileName(file)}: ${clause(message)}`;
    throw new SluiceError(code, sentence, path === undefined ? {} : { path }, { cause: error });
  }
}

const OF_CONFIGURATION: ReadonlySet<ErrorCode> = new Set([
  "E_CONFIG_JSON",
  "E_CONFIG_KEY",
  "E_CONFIG_VALUE",
  "E_TOOL_CONFIG",
]);

async function parseConfig(file: string, text: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const what = text.trim() === "" ? "is empty; write {} to set nothing" : await notJson(text);
    throw new SluiceError("E_CONFIG_JSON", `the configuration ${fileName(file)} ${what}`);
  }
}

/** `is not JSON: line 2, column 7`. The parser is loaded only for this. */
export async function notJson(text: string): Promise<string> {
  const { placeOfFault } = await import("../json/text.js");
  const place = placeOfFault(text);
  return place === "" ? "is not JSON" : `is not JSON: ${place}`;
}

/** Largest file for a secret, in bytes. */
const MAX_FILE = 65_536;

/**
 * The secret in the variable `name`, or in the file whose path is in `${name}_FILE`, without the line break at its end;
 * undefined if neither is set. A child process of the same user can read its parent's environment, but not a file that a
 * sandbox hides.
 *
 * @param shortest the least number of characters.
 * @throws UsageError if it is too short, both are set, or the file cannot be read. The message names no path.
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
  throw new UsageError(`${name} needs at least ${shortest} characters`, command);
}

/** The secrets in a variable, or in the file that it names, one a line. Throws UsageError like {@link readSecret}. */
export function readSecrets(
  env: NodeJS.ProcessEnv,
  name: string,
  shortest: number,
  command: string,
): readonly string[] {
  const lines = (readSecret(env, name, 0, command) ?? "").split(/\r?\n/).filter((line) => line !== "");
  if (lines.every(({ length }) => length >= shortest)) return lines;
  throw new UsageError(`each line of ${name} needs at least ${shortest} characters`, command);
}

function secretIn(file: string, name: string, command: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch {
    throw new UsageError(`the file named in ${name}_FILE cannot be read: check its path and permissions`, command);
  }
  if (bytes.length > MAX_FILE) {
    throw new UsageError(`the file named in ${name}_FILE has more than ${MAX_FILE / 1024} KiB`, command);
  }
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
}

/** The options for users' files that were given. Throws UsageError. */
export function fileFlags(invocation: Invocation): Partial<typeof FLAGS> {
  const isLasting = readSwitch(invocation, "persist-files");
  const limit = mebibytes(invocation, "base64-size-limit-mb");
  const most = mebibytes(invocation, "max-file-size-mb");
  return {
    ...(isLasting !== undefined && { persist_files_across_sessions: isLasting }),
    ...(limit !== undefined && { base64_size_limit_mb: limit }),
    ...(most !== undefined && { max_file_size_mb: most }),
  };
}

/** The value of an option with the choices `true` and `false`; undefined if it was not given. */
export function readSwitch(invocation: Invocation, name: string): boolean | undefined {
  const said = invocation.value(name);
  return said === undefined ? undefined : said === "true";
}

function mebibytes(invocation: Invocation, name: string): number | undefined {
  const said = invocation.value(name);
  if (said === undefined) return undefined;
  const [wanted, holds] = MEGABYTES;
  const number = said.trim() === "" ? Number.NaN : Number(said);
  if (holds(number)) return number;
  throw new UsageError(`--${name} must be ${wanted}`, invocation.command);
}

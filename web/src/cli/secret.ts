/**
 * Secrets that a command is given in its environment, or in a file that its environment names.
 * @module
 */
import { readFileSync } from "node:fs";
import { UsageError } from "./exit.js";

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

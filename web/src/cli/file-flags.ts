/**
 * The flags of users' files, as options of a command say them.
 * @module
 */
import { MEGABYTES, type FLAGS } from "../files/options.js";
import type { Invocation } from "./commands.js";
import { UsageError } from "./exit.js";

/** Those that were given. Throws UsageError. */
export function fileFlags(invocation: Invocation): Partial<typeof FLAGS> {
  const isLasting = switched(invocation, "persist-files");
  const limit = mebibytes(invocation, "base64-size-limit-mb");
  const most = mebibytes(invocation, "max-file-size-mb");
  return {
    ...(isLasting !== undefined && { persist_files_across_sessions: isLasting }),
    ...(limit !== undefined && { base64_size_limit_mb: limit }),
    ...(most !== undefined && { max_file_size_mb: most }),
  };
}

/** Undefined where it was not given. Its choices are `true` and `false`. */
export function switched(invocation: Invocation, name: string): boolean | undefined {
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

/**
 * What is logged of refusals, and writes that a sandbox denied, as far as programs tell of them: its file system is read-only but
 * for the user's folder.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { FileRefusal } from "../tools/user-files.js";
import { HIDDEN } from "./names.js";

/** As the C library says EROFS, whatever the language: the rest of the line is looked at only where it stands. */
const READ_ONLY = /read-only file system/i;
/** The path stands behind it in Node and Python, and in front of it in shells. */
const BEHIND = /read-only file system(?:, \w{1,20}|:) {0,2}(?:\\{0,8}["'`])?(\/[^"'`\n\r\\]{0,1024})/gi;
const BEFORE = /(?<![\w.~+\\/-])(\/[^\s"'`:\\]{0,1024})["'`]?:? {0,2}read-only file system/gi;

/** Different writes that one text is looked through for. */
const MAX_WRITES = 16;

/** The paths that a text, or JSON text, says could not be written since the file system is read-only. */
export function deniedWrites(said: string): readonly string[] {
  if (!READ_ONLY.test(said)) return [];
  const found = new Set<string>();
  for (const pattern of [BEHIND, BEFORE]) {
    for (const [, path = ""] of said.matchAll(pattern)) {
      found.add(path.replace(HIDDEN, "").trim());
      if (found.size === MAX_WRITES) return [...found];
    }
  }
  return [...found];
}

/** The error of one. */
export function deniedWrite(path: string): SluiceError {
  const message = `The file system is read-only but for the user's folder: ${JSON.stringify(path)} was not written.`;
  return new SluiceError("E_STORE_DENIED", message);
}

/** A refusal as one line of a log. */
export function refusalLine({
  time,
  tool,
  user_id,
  tenant_id,
  where,
  error,
}: Omit<FileRefusal, "message" | "refused">): string {
  const tenant = tenant_id === null ? "" : ` of ${JSON.stringify(tenant_id)}`;
  const place = where === "write" ? "a write" : `what its ${where} ${where === "result" ? "names" : "name"}`;
  return `${time} ${tool} for ${JSON.stringify(user_id)}${tenant} was refused ${place}: ${error.message}`;
}

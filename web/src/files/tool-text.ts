/**
 * Text from tools: replaces paths of a user's folder by names, since a model must not learn paths of a machine; and finds
 * writes that the sandbox denied.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { FileRefusal } from "../tools/user-files.js";
import { HIDDEN } from "./names.js";

/** The folder, in the user's, in which tools find the user's files. */
export const INPUTS: string = "input_files";

/** Replaces the folder itself. */
const FOLDER = "/tmp/{username}/";

/** A slash as JSON may spell it, also in nested JSON strings. Every run is bounded, so that matching takes bounded time. */
const SLASH = String.raw`(?:\\{0,16}\/|\\{1,16}u002[fF])`;
const SLASHES = `${SLASH}{1,4}`;
/** The same for Windows, where a run of backslashes may be a separator. */
const BACKSLASHES = String.raw`(?:\\{0,16}\/|\\{1,16}(?:u002[fF])?)`;
/** The start of a path: not within a longer path, a URL, or base64. */
const BEGINS = String.raw`(?<=^|[^\w.~+\\/-]|\\[bfnrt]|\\u[0-9a-fA-F]{4})`;
/** The end of a folder's name: `/tmp/ada` must not match in `/tmp/adam`. */
const ENDS = String.raw`(?![\w-]|\.\w)`;
/** What follows the folder if no name does. */
const NO_NAME = /^(?:$|[\s"'`<>()[\]{},;:|]|\\(?!u[0-9a-fA-F]{4}))/;

/**
 * Creates a function that replaces paths by names: `/tmp/ada/out/a.csv` becomes `out/a.csv`, the path of an input becomes
 * `a.csv`, and the folder itself `/tmp/{username}/`. It takes plain text and JSON text, which stays valid.
 *
 * @param folders the user's folder, by the names that tools and this machine have for it.
 */
export function pathHider(folders: readonly string[]): (text: string) => string {
  const known = [...new Set(folders.map((folder) => folder.replace(/[/\\]+$/, "")))].filter((folder) => folder !== "");
  if (known.length === 0) return (text) => text;
  const longest = known.sort((left, right) => right.length - left.length);
  const slashes = known.some((folder) => folder.includes("\\")) ? BACKSLASHES : SLASHES;
  const each = longest.map((folder) => Array.from(folder, (char) => toPattern(char, slashes)).join(""));
  const pattern = new RegExp(`${BEGINS}(?:${each.join("|")})${ENDS}(?:${slashes}(?:${INPUTS}${slashes})?)?`, "g");
  return (text) =>
    text.replace(pattern, (found, at: number) => {
      const isUri = text.slice(Math.max(0, at - 5), at).toLowerCase() === "file:";
      const isBare = NO_NAME.test(text.slice(at + found.length, at + found.length + 6));
      return (isUri ? (isBare ? "//" : "///") : "") + (isBare ? FOLDER : "");
    });
}

/** A pattern for a character in text and in JSON. */
function toPattern(char: string, slashes: string): string {
  if (char === "/" || char === "\\") return slashes;
  if (/[\w-]/.test(char)) return char;
  if (char < "\u0080") return `\\u${hex(char)}`;
  const escaped = char.split("").map((unit) => String.raw`\\{1,16}u` + anyCase(hex(unit)));
  return `(?:${char}|${escaped.join("")})`;
}

function hex(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0");
}

function anyCase(digits: string): string {
  return digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** The C library's message for EROFS. Only lines with it are searched. */
const READ_ONLY = /read-only file system/i;
/** Node and Python put the path after the message, shells before it. */
const BEHIND = /read-only file system(?:, \w{1,20}|:) {0,2}(?:\\{0,8}["'`])?(\/[^"'`\n\r\\]{0,1024})/gi;
const BEFORE = /(?<![\w.~+\\/-])(\/[^\s"'`:\\]{0,1024})["'`]?:? {0,2}read-only file system/gi;

/** Most different paths that are found in one text. */
const MAX_WRITES = 16;

/** The paths that could not be written since the file system is read-only, as a text or JSON text reports them. */
export function findDeniedWrites(said: string): readonly string[] {
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

/** The error for a denied write. */
export function toDeniedWriteError(path: string): SluiceError {
  const message = `Only the user's folder can be written: ${JSON.stringify(path)} was not written.`;
  return new SluiceError("E_STORE_DENIED", message);
}

/** A refusal as one line for a log. */
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

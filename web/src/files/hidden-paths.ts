/**
 * Paths of a user's folder in what tools say: a model is told names, and never where they are on a machine.
 * @module
 */

/** Where tools find a user's files within the folder. */
export const INPUTS: string = "input_files";

/** What stands for the folder itself. */
const FOLDER = "/tmp/{username}/";

/** A slash as JSON may spell it, also in JSON that is a string of JSON. Every run is bounded, so that time is too. */
const SLASH = String.raw`(?:\\{0,16}\/|\\{1,16}u002[fF])`;
const SLASHES = `${SLASH}{1,4}`;
/** The same of Windows, where each run of backslashes may be one. */
const BACKSLASHES = String.raw`(?:\\{0,16}\/|\\{1,16}(?:u002[fF])?)`;
/** A path begins here: not within a longer path, an address, or base64. */
const BEGINS = String.raw`(?<=^|[^\w.~+\\/-]|\\[bfnrt]|\\u[0-9a-fA-F]{4})`;
/** `/tmp/ada` is no beginning of `/tmp/adam`. */
const ENDS = String.raw`(?![\w-]|\.\w)`;
/** What stands behind the folder when a name does not. */
const NO_NAME = /^(?:$|[\s"'`<>()[\]{},;:|]|\\(?!u[0-9a-fA-F]{4}))/;

/**
 * Makes a function that puts names in place of paths: `/tmp/ada/out/a.csv` becomes `out/a.csv`, that of an input
 * `a.csv`, and the folder alone `/tmp/{username}/`. It takes plain text and JSON text, which stays JSON.
 *
 * @param folders the user's folder as tools and this machine call it.
 */
export function pathHider(folders: readonly string[]): (text: string) => string {
  const known = [...new Set(folders.map((folder) => folder.replace(/[/\\]+$/, "")))].filter((folder) => folder !== "");
  if (known.length === 0) return (text) => text;
  const longest = known.sort((left, right) => right.length - left.length);
  const slashes = known.some((folder) => folder.includes("\\")) ? BACKSLASHES : SLASHES;
  const each = longest.map((folder) => Array.from(folder, (char) => patternOf(char, slashes)).join(""));
  const pattern = new RegExp(`${BEGINS}(?:${each.join("|")})${ENDS}(?:${slashes}(?:${INPUTS}${slashes})?)?`, "g");
  return (text) =>
    text.replace(pattern, (found, at: number) => {
      const isUri = text.slice(Math.max(0, at - 5), at).toLowerCase() === "file:";
      const isBare = NO_NAME.test(text.slice(at + found.length, at + found.length + 6));
      return (isUri ? (isBare ? "//" : "///") : "") + (isBare ? FOLDER : "");
    });
}

/** A character as text and as JSON have it. */
function patternOf(char: string, slashes: string): string {
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

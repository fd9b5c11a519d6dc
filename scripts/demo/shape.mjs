/**
 * The shape of a result as a tree: names, kinds and sizes, with a chip in place of anything long.
 * @module
 */

const SHORT = 60;
const MANY = 6;

/** @returns {string[]} lines, indented by two spaces a level */
export function shapeLines(value, chip, name = "result", depth = 0) {
  const label = `${"  ".repeat(depth)}${name}`;
  if (typeof value === "string") return stringLines(value, chip, label, depth);
  if (typeof value !== "object" || value === null) return [`${label}: ${JSON.stringify(value)}`];
  const entries = Object.entries(value);
  const kind = Array.isArray(value)
    ? `list of ${entries.length}`
    : typeof value.type === "string"
      ? `${value.type} block`
      : "";
  const shown = entries.filter(([key]) => kind === "" || key !== "type" || Array.isArray(value)).slice(0, MANY);
  const more =
    entries.length - shown.length > 1 ? [`${"  ".repeat(depth + 1)}… ${entries.length - shown.length} more`] : [];
  const inner = shown.flatMap(([key, child]) =>
    shapeLines(child, chip, Array.isArray(value) ? `[${key}]` : key, depth + 1),
  );
  return [kind === "" ? `${label}:` : `${label}: ${kind}`, ...inner, ...more];
}

function stringLines(text, chip, label, depth) {
  const inner = jsonIn(text);
  if (inner !== undefined) return shapeLines(inner, chip, `${label.trim()}, JSON in a string`, depth);
  if (text.length <= SHORT) return [`${label}: ${JSON.stringify(text)}`];
  if (/^[A-Za-z0-9+/_-]+=*$/.test(text)) return [`${label}: ${chip(`base64, ${sizeText(text.length)}`)}`];
  if (/[\u0000-\u0008\ufffd]/.test(text))
    return [`${label}: ${chip(`bytes broken by UTF-8, ${sizeText(Buffer.byteLength(text))}`)}`];
  return [`${label}: ${JSON.stringify(`${text.slice(0, SHORT)}…`)}`];
}

function jsonIn(text) {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `312 B`, `2.1 MB`: powers of 1,024. */
export function sizeText(bytes) {
  const units = ["B", "KB", "MB", "GB"];
  let unit = 0;
  let value = bytes;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

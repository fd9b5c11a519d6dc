/**
 * How the demo looks: headings, labels and chips, in colour on a terminal and plain in a pipe.
 * @module
 */

const coloured = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
const paint = (code, end) => (text) => (coloured ? `\u001b[${code}m${text}\u001b[${end}m` : text);
const bold = paint(1, 22);
const dim = paint(2, 22);
const green = paint(32, 39);
const chip = coloured ? (text) => `\u001b[7;33m ${text} \u001b[27;39m` : (text) => `[${text}]`;

const LABEL = 14;
const print = (text = "") => console.log(text);

/** Says what is to come. */
export function opening() {
  print();
  print(bold("Sluice: what MCP servers send, and what a model would see of it"));
  print(dim("Three real servers over stdio, called with the official SDK client."));
}

/** One call: sent, seen, kept out, fetched. */
export function showCall({ server, tool, why }, { value, sent, seen, text, artifacts, fetch }) {
  const title = `── ${server} · ${tool} `;
  print(`\n${bold(title)}${dim("─".repeat(Math.max(3, 78 - title.length)))}`);
  print(dim(`   ${why}`));
  field("server sent", `${sizeText(sent)}, ${tokens(sent)}`, shapeLines(value, chip));
  field("model sees", `${sizeText(seen)}, ${tokens(seen)}`, text.split("\n"));
  const out = sent - seen;
  field("kept out", out > 0 ? green(`${sizeText(out)}, ${tokens(out)}`) : dim("nothing: it was small"));
  for (const [i, command] of [...new Set(artifacts.map(fetch))].entries()) field(i === 0 ? "fetch it" : "", command);
}

/** A line a call, and the sum. */
export function showTotals(rows) {
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const all = [...rows, { name: "all", sent: sum("sent"), seen: sum("seen") }];
  const width = Math.max(...all.map(({ name }) => name.length));
  const line = (name, sent, seen, out) =>
    `   ${name.padEnd(width)}  ${sent.padStart(10)}  ${seen.padStart(10)}  ${out}`;
  print(`\n${bold("── all together ")}${dim("─".repeat(63))}`);
  print(dim(line("", "sent", "seen", "tokens kept out")));
  for (const { name, sent, seen } of all) {
    const out = sent > seen ? tokens(sent - seen) : "-";
    const text = line(name, sizeText(sent), sizeText(seen), out);
    print(name === "all" ? bold(text) : text);
  }
  print(dim("   Tokens are estimated: bytes of JSON divided by 4."));
}

/** The outcome of the check at the end. */
export function showCheck(command, file, same) {
  print();
  print(dim(`   $ ${command}`));
  print(same ? green(`   ✓ the same SHA-256 as ${file}: nothing was lost`) : `   ✗ differs from ${file}`);
  print();
}

function field(label, text, lines = []) {
  print(`   ${bold(label.padEnd(LABEL))}${text}`);
  for (const line of lines) print(`     ${line}`);
}

const tokens = (bytes) => `≈ ${Math.round(bytes / 4).toLocaleString("en")} tokens`;

const SHORT = 60;
const MANY = 6;

/** @returns {string[]} lines, indented by two spaces a level */
function shapeLines(value, mark, name = "result", depth = 0) {
  const label = `${"  ".repeat(depth)}${name}`;
  if (typeof value === "string") return stringLines(value, mark, label, depth);
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
    shapeLines(child, mark, Array.isArray(value) ? `[${key}]` : key, depth + 1),
  );
  return [kind === "" ? `${label}:` : `${label}: ${kind}`, ...inner, ...more];
}

function stringLines(text, mark, label, depth) {
  const inner = jsonIn(text);
  if (inner !== undefined) return shapeLines(inner, mark, `${label.trim()}, JSON in a string`, depth);
  if (text.length <= SHORT) return [`${label}: ${JSON.stringify(text)}`];
  if (/^[A-Za-z0-9+/_-]+=*$/.test(text)) return [`${label}: ${mark(`base64, ${sizeText(text.length)}`)}`];
  if (/[\u0000-\u0008\ufffd]/.test(text))
    return [`${label}: ${mark(`bytes broken by UTF-8, ${sizeText(Buffer.byteLength(text))}`)}`];
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
function sizeText(bytes) {
  const units = ["B", "KB", "MB", "GB"];
  let unit = 0;
  let value = bytes;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

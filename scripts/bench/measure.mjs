/**
 * Medians, reports, tables of the documentation, child processes that measure one thing, and documents to measure with.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { root } from "../run.mjs";

/** The middle of some numbers. */
export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** The number that a quarter of the others are below: what work takes when nothing gets in its way. */
export const lowerQuartile = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 4)];

/** Runs a script of this folder in a process of its own; what it prints is JSON. */
export async function apart(script, ...args) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", path, ...args.map(String)]);
  return JSON.parse(stdout);
}

/** Calls `use` with a new empty folder and removes it afterwards. */
export async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `mebibytes` of bytes that begin as a PDF and look random. */
export function pdfOf(mebibytes) {
  const bytes = Buffer.alloc(mebibytes * 1024 * 1024);
  let state = 2463534242;
  for (let at = 0; at < bytes.length; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state, at);
  }
  bytes.write("%PDF-1.7\n");
  return bytes;
}

/** A CallToolResult that holds `bytes` as a resource, as UTF-8. */
export function resultOf(bytes) {
  const head =
    '{"content":[{"type":"resource","resource":{"uri":"file:///report.pdf","mimeType":"application/pdf","blob":"';
  return Buffer.from(`${head}${bytes.toString("base64")}"}}]}`);
}

/** A CallToolResult of 2 KB in which nothing is to be done. */
export function smallResult() {
  const rows = Array.from({ length: 24 }, (_, id) => ({
    id,
    name: `workbook ${id}`,
    project: "Analytics",
    owner: "ada",
  }));
  return { content: [{ type: "text", text: JSON.stringify({ rows }) }] };
}

/**
 * Measures, prints a table, and writes all that was seen to `build/`.
 * @param {readonly { work: string, measure: () => object | Promise<object> }[]} steps
 * @returns {Promise<readonly object[]>} the rows of the table
 */
export async function report(file, rounds, steps) {
  const results = [];
  for (const { work, measure } of steps) {
    process.stderr.write(`measuring ${work} …\n`);
    results.push({ work, ...(await measure()) });
  }
  print(results);
  keep(file, { rounds, results });
  return results;
}

/** Writes all that was seen to `build/`. */
export function keep(file, seen) {
  const all = { when: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model, ...seen };
  mkdirSync(join(root, "build"), { recursive: true });
  writeFileSync(join(root, "build", file), `${JSON.stringify(all, null, 2)}\n`);
}

/** A table in Markdown. Columns after the first stand at the right, if they are numbers. */
export function markdown(head, lines, { numbers = false } = {}) {
  const rule = head.map((_, column) => (numbers && column > 0 ? "--:" : "---"));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** The rows of a report as a table in Markdown. A bar that is not met is told as such. */
export function reportTable(rows) {
  const lines = rows.map(({ work, seen, bar, met }) => [work, seen, `${bar}${met ? "" : " (not met)"}`]);
  return markdown(["work", "seen", "bar"], lines);
}

/** Puts a table in the place of the first one in the section of a command, in the documentation. */
export function writeDown(command, table) {
  const file = join(root, "docs/benchmarks.md");
  const sections = readFileSync(file, "utf8").split(/^(?=## )/m);
  const at = sections.findIndex((section) => section.split("\n", 1)[0].includes(`\`npm run ${command}\``));
  sections[at] = sections[at].replace(/(?:^\|.*\n)+/m, () => table);
  writeFileSync(file, sections.join(""));
}

/** One row for each measurement: what was seen, the bar, whether it was met. */
function print(measured) {
  const head = ["work", "seen", "bar", ""];
  const lines = measured.map(({ work, seen, bar, met }) => [work, seen, bar, met ? "met" : "NOT met"]);
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column].length)));
  for (const line of [head, ...lines])
    console.log(
      line
        .map((cell, i) => cell.padEnd(widths[i]))
        .join("  ")
        .trimEnd(),
    );
}

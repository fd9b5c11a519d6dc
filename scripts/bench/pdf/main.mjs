/**
 * `npm run bench:pdf -- FOLDER`: the text of the PDFs in a folder beside that of `pdftotext -layout` (Poppler), as a table in Markdown.
 * The first 40 pages of each. Files that Poppler finds no words in are left out, and named.
 *
 * Words are split by white space; each ideograph is one. `words`: the share of Poppler's words that are there. `order`: the longest
 * common subsequence over the longer of both. `rows`: the share of Poppler's lines of two words and more whose words are on one line.
 * @module
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PdfDocument, Pdfium } from "../../../dist/documents/pdfium.js";
import { writeLines } from "../../../dist/documents/pdf-text.js";
import { root } from "../../run.mjs";

const PAGES = 40;

/** Words that are compared in order: the comparison takes their square. */
const MOST = 20_000;

const folder = process.argv.at(2) ?? "";
if (folder === "") throw new Error("Name a folder with PDFs: npm run bench:pdf -- FOLDER");

const module = await WebAssembly.compile(readFileSync(join(root, "dist/documents/wasm/pdfium.wasm")));

/** The text of ours. */
async function readOurs(path) {
  const document = PdfDocument.open(await Pdfium.load(module), new Uint8Array(readFileSync(path)));
  const pages = Array.from(
    { length: Math.min(PAGES, document.pageCount) },
    (_, at) => document.readPieces(at + 1) ?? [],
  );
  return pages.map(writeLines).join("\n");
}

function readPopplers(path) {
  const words = ["-layout", "-l", String(PAGES), path, "-"];
  return execFileSync("pdftotext", words, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function readMaker(path) {
  const told = execFileSync("pdfinfo", [path], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const maker = /^Producer:\s*(.+)$/m.exec(told)?.[1] ?? /^Creator:\s*(.+)$/m.exec(told)?.[1] ?? "unknown";
  return maker.replaceAll("|", " ").slice(0, 60).trim();
}

function splitWords(text) {
  const spaced = text
    .normalize("NFKC")
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")
    .replaceAll(/(\p{Ideographic}|\p{Script=Hiragana}|\p{Script=Katakana})/gu, " $1 ");
  return spaced.split(/\s+/).filter((word) => word !== "");
}

const countWords = (words) => words.reduce((counts, word) => counts.set(word, (counts.get(word) ?? 0) + 1), new Map());

/** The share of words that others have, too. */
function shareOf(words, others) {
  const counts = countWords(others);
  const found = [...countWords(words)].reduce((sum, [word, count]) => sum + Math.min(count, counts.get(word) ?? 0), 0);
  return found / words.length;
}

/** The length of the longest common subsequence, by rows of bits (Hyyrö). */
function commonLength(left, right) {
  const places = new Map();
  left.forEach((word, at) => places.set(word, (places.get(word) ?? 0n) | (1n << BigInt(at))));
  const all = (1n << BigInt(left.length)) - 1n;
  let bits = all;
  for (const word of right) {
    const matches = bits & (places.get(word) ?? 0n);
    bits = ((bits + matches) | (bits - matches)) & all;
  }
  let length = 0;
  for (const bit of bits.toString(2).padStart(left.length, "0")) length += bit === "0" ? 1 : 0;
  return length;
}

/** Whether a line has all of some words. */
const holds = (row, words) => [...countWords(words)].every(([word, count]) => (row.get(word) ?? 0) >= count);

function shareOfRows(theirs, ours) {
  const rows = ours.split("\n").map((line) => countWords(splitWords(line)));
  const lines = theirs
    .split(/[\n\f]/)
    .map(splitWords)
    .filter((words) => words.length > 1);
  const byWord = new Map();
  for (const row of rows) for (const word of row.keys()) byWord.set(word, [...(byWord.get(word) ?? []), row]);
  const found = lines.filter((words) => (byWord.get(words[0]) ?? []).some((row) => holds(row, words)));
  return lines.length === 0 ? 1 : found.length / lines.length;
}

const percent = (share) => `${(share * 100).toFixed(1)} %`;
const left = [];
const sums = { words: 0, order: 0, rows: 0, count: 0 };
console.log("| file, and what made it | pages | words | order | rows |\n|---|---|---|---|---|");
for (const name of readdirSync(folder)
  .filter((each) => each.endsWith(".pdf"))
  .toSorted()) {
  const path = join(folder, name);
  try {
    const [theirs, ours] = [readPopplers(path), await readOurs(path)];
    const [wanted, found] = [splitWords(theirs), splitWords(ours)];
    if (wanted.length === 0) {
      left.push(`${name} (no words)`);
      continue;
    }
    const [first, second] = [wanted.slice(0, MOST), found.slice(0, MOST)];
    const seen = {
      words: shareOf(wanted, found),
      order: commonLength(first, second) / Math.max(first.length, second.length, 1),
      rows: shareOfRows(theirs, ours),
    };
    for (const key of Object.keys(seen)) sums[key] += seen[key];
    sums.count += 1;
    const pages = /^Pages:\s*(\d+)/m.exec(
      execFileSync("pdfinfo", [path], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
    )?.[1];
    console.log(
      `| ${name}: ${readMaker(path)} | ${pages} | ${percent(seen.words)} | ${percent(seen.order)} | ${percent(seen.rows)} |`,
    );
  } catch (error) {
    left.push(`${name} (${error.code ?? error.message.split("\n")[0]})`);
  }
}
const mean = (key) => percent(sums[key] / sums.count);
console.log(`| mean of ${sums.count} | | ${mean("words")} | ${mean("order")} | ${mean("rows")} |`);
if (left.length > 0) console.log(`\nLeft out: ${left.join("; ")}.`);

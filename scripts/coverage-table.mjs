/**
 * The lines that tests run, as numbers and as a table.
 * @module
 */
import { dirname } from "node:path";

/** Percent of its lines below which a file is named, with the lines that no test runs. */
const NAMED_BELOW = 85;

/** Stretches of lines told of one file; the pages show all. */
const STRETCHES = 12;

/**
 * @typedef {object} CoveredFile
 * @property {string} path from the checkout's root
 * @property {Map<number, number>} lines how often each line that holds code was run
 * @typedef {{ files: CoveredFile[], failed: boolean }} Coverage of one side; `failed`: some test of it did
 * @typedef {{ lines: number, covered: number }} Total
 */

/**
 * @param {CoveredFile[]} files
 * @returns {Total}
 */
export function total(files) {
  const counts = files.flatMap((file) => [...file.lines.values()]);
  return { lines: counts.length, covered: counts.filter((count) => count > 0).length };
}

/**
 * Whether tests run at least this percentage of the lines.
 * @param {Total} total
 * @param {number} wanted
 */
export const reaches = ({ lines, covered }, wanted) => covered * 100 >= lines * wanted;

/**
 * `94.3 %`, rounded down: what is too little never looks as if it were enough.
 * @param {Total} total
 */
export function percent({ lines, covered }) {
  const tenths = lines === 0 ? 1000 : Math.floor((covered * 1000) / lines);
  return `${(tenths / 10).toFixed(1)} %`;
}

/**
 * Prints a line for each folder, and one for each file of which little is run.
 * @param {CoveredFile[]} files
 */
export function printTable(files) {
  const sorted = files.toSorted((a, b) => a.path.localeCompare(b.path, "en"));
  const folders = [...new Set(sorted.map(({ path }) => dirname(path)))];
  const width = Math.max(...folders.map((folder) => folder.length));
  const row = (name, lines, covered, share) =>
    console.log([name.padEnd(width), lines.padStart(7), covered.padStart(7), share.padStart(8)].join("  "));
  const counted = (name, within) => {
    const sum = total(within);
    row(name, String(sum.lines), String(sum.covered), percent(sum));
  };
  row("folder", "lines", "run", "share");
  for (const folder of folders) {
    counted(
      folder,
      sorted.filter(({ path }) => dirname(path) === folder),
    );
  }
  counted("total", sorted);
  for (const file of sorted.filter((one) => !reaches(total([one]), NAMED_BELOW))) {
    console.log(`${file.path}: ${percent(total([file]))}, not run: ${notRun(file.lines)}`);
  }
}

// `3-7, 12`: lines without code neither end a stretch nor are one.
function notRun(lines) {
  const stretches = [];
  let open;
  for (const [line, count] of [...lines].toSorted(([a], [b]) => a - b)) {
    if (count > 0) open = undefined;
    else if (open === undefined) stretches.push((open = { from: line, to: line }));
    else open.to = line;
  }
  const told = stretches.slice(0, STRETCHES).map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
  return [...told, ...(stretches.length > STRETCHES ? ["…"] : [])].join(", ");
}

/**
 * Tables of pages whose rows name the tests that show what they say, in their last column: `file` title, one on each line.
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../cli/command.js";
import { titlesIn } from "./titles.js";

/** A test, by its file below `tests` and its title. */
export interface ShowingTest {
  readonly file: string;
  readonly title: string;
}

/** A row of such a table. */
export interface Row {
  /** All cells but the last. */
  readonly cells: readonly string[];
  /** What the last cell names. What is no name of a test is one without a file. */
  readonly tests: readonly ShowingTest[];
}

/** All rows of tables whose last column is called `shown by`. */
export function rowsOf(page: string): readonly Row[] {
  const rows: Row[] = [];
  let isShowing = false;
  for (const line of page.split("\n")) {
    const cells = line.startsWith("|") ? cellsOf(line) : [];
    if (cells.at(-1) === "shown by") isShowing = true;
    else if (cells.length === 0) isShowing = false;
    else if (isShowing && !/^\|[-|]+$/.test(line)) rows.push(rowOf(cells));
  }
  return rows;
}

/** The tests that rows name and that are not there, or never run: with the row's first cell, their file and their title. */
export async function missingIn(rows: readonly Row[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { cells, tests } of rows) {
    for (const { file, title } of tests) {
      const there = await titlesOf(file).catch((): readonly string[] => []);
      if (!there.includes(title)) missing.push(`${cells[0]}: ${file}: ${title}`);
    }
  }
  return missing;
}

/** The cells of a line of a table. */
export function cellsOf(line: string): readonly string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function rowOf(cells: readonly string[]): Row {
  const shown = cells.at(-1) ?? "";
  const tests = shown === "" ? [] : shown.split("<br>").map(testOf);
  return { cells: cells.slice(0, -1), tests };
}

function testOf(named: string): ShowingTest {
  const [, file = "", title = named] = /^`([^`]+)` (.+)$/.exec(named) ?? [];
  return { file, title };
}

/** Each file is read once. */
const titles = new Map<string, Promise<readonly string[]>>();

function titlesOf(file: string): Promise<readonly string[]> {
  const known = titles.get(file) ?? readFile(join(ROOT, "tests", file), "utf8").then((text) => titlesIn(file, text));
  titles.set(file, known);
  return known;
}

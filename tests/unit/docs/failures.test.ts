/** The page of failures leaves out no error, no status and none of the paths that have to be shown, and each of its rows has tests. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../cli/command.js";
import { answers, errorCodes } from "./answers.js";
import { cellsOf, missingIn, rowsOf } from "./rows.js";

/** The negative paths, in their order; then those that a server has on top. */
const PATHS = [
  "missing store",
  "malformed base64",
  "corrupted data",
  "oversized payload",
  "access denied",
  "server error during a resource read",
  "disk full",
  "store slow",
  "a client that reads one byte a second",
  "a request body that never ends",
];

const page = await readFile(join(ROOT, "docs/failures.md"), "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| what goes wrong "))
  .map(cellsOf);

/** The tests behind each row. */
const shown = rowsOf(await readFile(join(ROOT, "tests/requirements/failures.md"), "utf8"));

/** What the second column says: a code, a status, or both, one on each line. */
const told = rows.flatMap(([, said = ""]) =>
  said
    .split("<br>")
    .map((line) => ({ code: /`(\w+)`/.exec(line)?.[1] ?? "", statuses: line.match(/\b[45]\d\d\b/g) ?? [] })),
);

describe("the page of failures", () => {
  test("has a row for each path that has to be shown, and none twice", () => {
    const names = rows.map(([name = ""]) => name);
    expect(names).toEqual(expect.arrayContaining(PATHS));
    expect(names.filter((name, at) => name === "" || names.indexOf(name) !== at)).toEqual([]);
  });

  test("tells in every row what happens, and has tests for each", () => {
    expect(rows.filter((cells) => cells.length !== 3 || cells.includes(""))).toEqual([]);
    expect(shown.map(({ cells: [name] }) => name)).toEqual(rows.map(([name]) => name));
    expect(shown.filter(({ tests }) => tests.length === 0)).toEqual([]);
  });

  test("has every code, and no other", async () => {
    const codes = await errorCodes();
    expect(codes).toContain("E_JSON_SYNTAX");
    expect([...new Set(told.map(({ code }) => code).filter((code) => code !== ""))].sort()).toEqual([...codes].sort());
  });

  test("has every status that a server answers with, and no other", async () => {
    const statuses = new Set((await answers()).map(({ status }) => status));
    expect([...statuses]).toEqual(expect.arrayContaining(["400", "404", "408", "416", "429", "503", "507"]));
    expect([...new Set(told.flatMap((each) => each.statuses))].sort()).toEqual([...statuses].sort());
  });

  test("has each code with the status that it is answered with", async () => {
    const pairs = (await answers()).flatMap(({ code, status }) => (code === undefined ? [] : [`${code} ${status}`]));
    const there = new Set(told.flatMap(({ code, statuses }) => statuses.map((status) => `${code} ${status}`)));
    expect(pairs.length).toBeGreaterThan(20);
    expect([...new Set(pairs)].filter((pair) => !there.has(pair))).toEqual([]);
  });

  test("names no test that there is not, or that never runs", async () => {
    expect(await missingIn(shown)).toEqual([]);
  });
});

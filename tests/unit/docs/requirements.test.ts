import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../cli/command.js";
import { answers, errorCodes } from "./answers.js";
import { titlesIn } from "./titles.js";

/** A test, by its file below `tests` and its title. */
interface ShowingTest {
  readonly file: string;
  readonly title: string;
}

/** A row of such a table. */
interface Row {
  /** All cells but the last. */
  readonly cells: readonly string[];
  /** What the last cell names. What is no name of a test is one without a file. */
  readonly tests: readonly ShowingTest[];
}

/** All rows of tables whose last column is called `shown by`. */
function rowsOf(page: string): readonly Row[] {
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
async function missingIn(rows: readonly Row[]): Promise<readonly string[]> {
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
function cellsOf(line: string): readonly string[] {
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

describe("the page of failures", async () => {
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
      expect([...new Set(told.map(({ code }) => code).filter((code) => code !== ""))].sort()).toEqual(
        [...codes].sort(),
      );
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
});

/** The table of requirements leaves nothing of the specification out, and every test that it names is there. */
describe("requirements of user storage", async () => {
  /** A section's numbered list. */
  const list = (what: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, at) => `${what} ${at + 1}`);

  const ERROR = ["error", "is_error", "reason", "error_code", "retryable", "details.suggestion"];

  /** All of the specification's sections that have more than a heading; what each of them says, lists and shows. */
  const SECTIONS: Readonly<Record<string, readonly string[]>> = {
    "1": ["one object", "transparent"],
    "1.1": ["results", "meta_data", "retryable", "artifacts", "display", "deferred_artifacts"],
    "2.1": ["my files", "prefixes", "transparency", "persistence"],
    "2.2": [
      "persist_files_across_sessions",
      "persist_files_across_sessions=false",
      "base64_size_limit_mb",
      "configurable",
      "above the limit",
      ...list("input", 5),
      ...list("output", 5),
    ],
    "3.1": ["filename", "filenames", "only these", "username", "identity", "trust", "isolation", ...list("step", 4)],
    "4.1": ["augmented", "block", "injection"],
    "4.2": ["format", "source", "size", "additional_info"],
    "5.1": ["read-only", "write access", "prefix", "isolation"],
    "5.2": ["normalized", ...list("example", 3), "wrapper", "writes", "reads", "without username", "example code"],
    "6.1": ["name", "b64", "path", "mime", "size", "description", "viewer", "category", "auto_open"],
    "6.2": [...list("step", 4), "example path", "example base64", "example s3"],
    "7.1": ["name", "path", "mime", "description", "reason", "next_actions", "category", "expires_hours"],
    "7.2": list("step", 4),
    "8.1": ["open_canvas", "primary_file", "mode", "storage_action", "category_hint", "notification"],
    "9.1": [...list("rule", 6), ...list("isolation", 4)],
    "9.2": ["overwritten", "identity", "trusted", "paths"],
    "10.1": ["input", "output", "return", ...list("practice", 5)],
    "10.2": ["any size", "example"],
    "11.1": ["10 seconds", "errors too", "long"],
    "11.2": ["progress", "resets", "recommended", "example"],
    "11.3": [
      "10s",
      "15s",
      "20s",
      "25s",
      "30s",
      "terminated",
      "told",
      "discarded",
      "killed",
      "message 15s",
      "message 20s",
      "message 25s",
      "message 30s",
    ],
    "12": ["no leak"],
    "12.1": [...ERROR, "details.timeout_seconds", "details.last_progress"],
    "12.2": [...ERROR, "details.attempted_path", "details.allowed_prefix"],
    "12.3": [...ERROR, "details.file_size_bytes", "details.current_limit_bytes"],
  };

  const page = await readFile(join(ROOT, "tests/requirements/user-storage.md"), "utf8");
  const rows = rowsOf(page);

  const entries = Object.entries(SECTIONS).flatMap(([section, all]) => all.map((entry) => `${section} ${entry}`));

  describe("the page of requirements", () => {
    test("has one row for everything that the specification says, and no other", () => {
      const keys = rows.map(({ cells: [key = ""] }) => key);
      expect([...keys].sort()).toEqual([...entries].sort());
      expect(rows.filter(({ cells: [, what], tests }) => what === "" || tests.length === 0)).toEqual([]);
    });

    test("has its rows under their chapters, in order", () => {
      const chapters = page.split(/^## /m).slice(1);
      expect(chapters.map((text) => Number.parseInt(text, 10))).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
      for (const text of chapters) {
        const numbers = [...text.matchAll(/^\| (\d+)(?:\.(\d+))? /gm)].map(([, chapter, section = "0"]) => [
          chapter,
          section,
        ]);
        expect(new Set(numbers.map(([chapter]) => chapter))).toEqual(new Set([/^\d+/.exec(text)?.[0]]));
        const sections = numbers.map(([, section]) => Number(section));
        expect(sections).toEqual(sections.toSorted((left, right) => left - right));
      }
    });

    test("names no test that there is not", async () => {
      expect(await missingIn(rows)).toEqual([]);
    });
  });
});

/** What tells which tests a page names, and whether they are there. */
describe("rows of a table", () => {
  const PAGE = `
| a | b | shown by |
|---|---|---|
| 1 one | what | \`unit/docs/requirements.test.ts\` rows are those of the tables that name tests<br>\`unit/docs/requirements.test.ts\` there is none |
| 2 | what | no test |
| 3 | what | |

| other | table |
|---|---|
| not | this |
`;

  test("rows are those of the tables that name tests", () => {
    const file = "unit/docs/requirements.test.ts";
    expect(rowsOf(PAGE)).toEqual([
      {
        cells: ["1 one", "what"],
        tests: [
          { file, title: "rows are those of the tables that name tests" },
          { file, title: "there is none" },
        ],
      },
      { cells: ["2", "what"], tests: [{ file: "", title: "no test" }] },
      { cells: ["3", "what"], tests: [] },
    ]);
  });

  test("a test that is not there is missing, with its row", async () => {
    expect(await missingIn(rowsOf(PAGE))).toEqual([
      "1 one: unit/docs/requirements.test.ts: there is none",
      "2: : no test",
    ]);
  });

  test("titles are found in whatever way tests are written", () => {
    const source = `
    describe("group", () => {
      test("one", () => {});
      it.each([1])("two %d", () => test("inner", () => {}));
      test.skipIf(true).each\`a\`("three", () => {});
      other("none", () => {});
    });`;
    expect([...titlesIn("a.test.ts", source)].sort()).toEqual(["inner", "one", "three", "two %d"]);
    expect(titlesIn("a.cpp", "TEST(Suite, Name) {\n// TEST(No, Test)\n")).toEqual(["Suite.Name"]);
  });

  test("tests that never run are none", () => {
    const source = `
    test.skip("one", () => {});
    it.skip.each([1])("two %d", () => {});
    test.todo("three");
    describe.skip("group", () => test("four", () => {}));
    describe.concurrent("group", () => test("five", () => {}));`;
    expect(titlesIn("a.test.ts", source)).toEqual(["five"]);
    expect(titlesIn("a.cpp", "TEST(Suite, DISABLED_Name) {\nTEST(DISABLED_Suite, Name) {\n")).toEqual([]);
  });
});

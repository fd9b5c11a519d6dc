/** The table of requirements leaves nothing of the specification out, and every test that it names is there. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../cli/command.js";
import { missingIn, rowsOf } from "./rows.js";

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

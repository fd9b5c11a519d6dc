/** The page of failures leaves out no error, no status and none of the paths that have to be shown; every test that it names is there. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { ROOT } from "../cli/command.js";
import { missingIn, rowsOf } from "./rows.js";

/** The negative paths of RFC 0.3 §6, phase 4, in its order; then those that a server has on top. */
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
const rows = rowsOf(page);

/** What the second column says: a code, a status, or both, one on each line. */
const told = rows.flatMap(({ cells: [, said = ""] }) =>
  said
    .split("<br>")
    .map((line) => ({ code: /`(\w+)`/.exec(line)?.[1] ?? "", statuses: line.match(/\b[45]\d\d\b/g) ?? [] })),
);

async function parsed(path: string): Promise<ts.SourceFile> {
  return ts.createSourceFile(path, await readFile(join(ROOT, path), "utf8"), ts.ScriptTarget.ESNext, true);
}

/** All of a tree that a look finds something in. */
function found<T>(node: ts.Node, look: (node: ts.Node) => T | undefined): readonly T[] {
  const here = look(node);
  const all: T[] = here === undefined ? [] : [here];
  ts.forEachChild(node, (child) => void all.push(...found(child, look)));
  return all;
}

/** Every code that there is. */
async function errorCodes(): Promise<readonly string[]> {
  const [type] = found(await parsed("web/src/errors/error.ts"), (node) =>
    ts.isTypeAliasDeclaration(node) && node.name.text === "ErrorCode" ? node.type : undefined,
  );
  if (type === undefined) throw new Error("ErrorCode is not where it was.");
  return found(type, (node) => (ts.isStringLiteral(node) ? node.text : undefined));
}

interface Answered {
  readonly status: string;
  /** Where it is told beside the status. */
  readonly code: string | undefined;
}

const ANSWERS: ReadonlySet<string> = new Set(["refusal", "BodyRefused", "jsonAnswer"]);

/** What a number is answered with: as an argument of what answers, as `status`, or as what a code leads to. */
function answeredBy(node: ts.Node): Answered | undefined {
  if (!ts.isNumericLiteral(node) || !/^[45]\d\d$/.test(node.text)) return undefined;
  let { parent } = node;
  while (ts.isConditionalExpression(parent) || ts.isParenthesizedExpression(parent)) parent = parent.parent;
  if (ts.isPropertyAssignment(parent)) {
    const name = parent.name.getText();
    if (name !== "status" && !name.startsWith("E_")) return undefined;
    return { status: node.text, code: name === "status" ? undefined : name };
  }
  if (!ts.isCallExpression(parent) && !ts.isNewExpression(parent)) return undefined;
  if (!ANSWERS.has(parent.expression.getText())) return undefined;
  const code = parent.arguments?.find(ts.isStringLiteral);
  return { status: node.text, code: /^E_[A-Z_]+$/.exec(code?.text ?? "")?.[0] };
}

/** All that a server answers with, other than what was asked for. */
async function answers(): Promise<readonly Answered[]> {
  const folders = ["web/src/server", "web/src/cli/serve"];
  const lists = folders.map(async (folder) =>
    (await readdir(join(ROOT, folder), { recursive: true }))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => parsed(join(folder, name))),
  );
  const files = await Promise.all((await Promise.all(lists)).flat());
  return files.flatMap((file) => found(file, answeredBy));
}

describe("the page of failures", () => {
  test("has a row for each path that has to be shown, and none twice", () => {
    const names = rows.map(({ cells: [name = ""] }) => name);
    expect(names).toEqual(expect.arrayContaining(PATHS));
    expect(names.filter((name, at) => name === "" || names.indexOf(name) !== at)).toEqual([]);
  });

  test("tells in every row what happens, and names a test", () => {
    expect(rows.filter(({ cells, tests }) => cells.length !== 3 || cells.includes("") || tests.length === 0)).toEqual(
      [],
    );
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
    expect(await missingIn(rows)).toEqual([]);
  });
});

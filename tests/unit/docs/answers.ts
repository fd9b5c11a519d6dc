/**
 * What a server answers with, other than what was asked for, as its sources say it.
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../cli/command.js";

/** A status, and the code that is told with it. */
export interface Answered {
  readonly status: string;
  /** Where it is told beside the status. */
  readonly code: string | undefined;
}

/** A source as a tree. */
export async function parsed(path: string): Promise<ts.SourceFile> {
  return ts.createSourceFile(path, await readFile(join(ROOT, path), "utf8"), ts.ScriptTarget.ESNext, true);
}

/** All of a tree that a look finds something in. */
export function found<T>(node: ts.Node, look: (node: ts.Node) => T | undefined): readonly T[] {
  const here = look(node);
  const all: T[] = here === undefined ? [] : [here];
  ts.forEachChild(node, (child) => void all.push(...found(child, look)));
  return all;
}

/** The type of that name in a source. Throws where it is not there any more. */
export async function typeIn(path: string, name: string): Promise<ts.TypeNode> {
  const [type] = found(await parsed(path), (node) =>
    ts.isTypeAliasDeclaration(node) && node.name.text === name ? node.type : undefined,
  );
  if (type === undefined) throw new Error(`${name} is not in ${path}.`);
  return type;
}

/** Every code of an error that there is. */
export async function errorCodes(): Promise<readonly string[]> {
  const type = await typeIn("web/src/errors/error.ts", "ErrorCode");
  return found(type, (node) => (ts.isStringLiteral(node) ? node.text : undefined));
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

/** All of `SluiceServer` and of `sluice serve`. */
export async function answers(): Promise<readonly Answered[]> {
  const folders = ["web/src/server", "web/src/cli/serve"];
  const lists = folders.map(async (folder) =>
    (await readdir(join(ROOT, folder), { recursive: true }))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => parsed(join(folder, name))),
  );
  const files = await Promise.all((await Promise.all(lists)).flat());
  return files.flatMap((file) => found(file, answeredBy));
}

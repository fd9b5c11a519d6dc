/**
 * The titles of tests, as their sources have them.
 * @module
 */
import ts from "typescript";

/**
 * Those of a file of Vitest's, or of GoogleTest's, without what never runs. Of what is made of a table, the title has its places
 * for values.
 */
export function titlesIn(file: string, source: string): readonly string[] {
  if (!file.endsWith(".cpp")) return titlesOf(ts.createSourceFile(file, source, ts.ScriptTarget.ESNext));
  const all = [...source.matchAll(/^TEST(?:_F|_P)?\((\w+), (\w+)\)/gm)].map(([, suite, name]) => `${suite}.${name}`);
  return all.filter((name) => !/(?:^|\.)DISABLED_/.test(name));
}

/** What stands behind `test` or `describe` where it is not run. */
const NEVER = ["skip", "todo"];

function titlesOf(node: ts.Node): readonly string[] {
  const words = ts.isCallExpression(node) ? wordsOf(node.expression) : [];
  const isSuite = words[0] === "describe";
  const isTest = words[0] === "test" || words[0] === "it";
  if ((isSuite || isTest) && NEVER.some((word) => words.includes(word))) return [];
  const below: string[] = [];
  ts.forEachChild(node, (child) => void below.push(...titlesOf(child)));
  if (!isTest || !ts.isCallExpression(node)) return below;
  const [title] = node.arguments;
  return title !== undefined && ts.isStringLiteralLike(title) ? [title.text, ...below] : below;
}

/** `test` and `each` of `test.each(…)`; `test`, `skipIf` and `each` of `test.skipIf(…).each(…)`. */
function wordsOf(callee: ts.Expression): readonly string[] {
  if (ts.isIdentifier(callee)) return [callee.text];
  if (ts.isPropertyAccessExpression(callee)) return [...wordsOf(callee.expression), callee.name.text];
  if (ts.isCallExpression(callee)) return wordsOf(callee.expression);
  return ts.isTaggedTemplateExpression(callee) ? wordsOf(callee.tag) : [];
}

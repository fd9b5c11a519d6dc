/**
 * The titles of tests, as their sources have them.
 * @module
 */
import ts from "typescript";

/** Those of a file of Vitest's, or of GoogleTest's. Of what is made of a table, the title has its places for values. */
export function titlesIn(file: string, source: string): readonly string[] {
  if (!file.endsWith(".cpp")) return titlesOf(ts.createSourceFile(file, source, ts.ScriptTarget.ESNext));
  return [...source.matchAll(/^TEST(?:_F|_P)?\((\w+), (\w+)\)/gm)].map(([, suite, name]) => `${suite}.${name}`);
}

function titlesOf(node: ts.Node): readonly string[] {
  const below: string[] = [];
  ts.forEachChild(node, (child) => void below.push(...titlesOf(child)));
  if (!ts.isCallExpression(node) || !["test", "it"].includes(functionOf(node.expression))) return below;
  const [title] = node.arguments;
  return title !== undefined && ts.isStringLiteralLike(title) ? [title.text, ...below] : below;
}

/** `test` of `test`, `test.each(…)`, `test.skipIf(…).each(…)`. */
function functionOf(callee: ts.Expression): string {
  if (ts.isIdentifier(callee)) return callee.text;
  if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) return functionOf(callee.expression);
  return ts.isTaggedTemplateExpression(callee) ? functionOf(callee.tag) : "";
}

/**
 * Where a source can be changed a little so that it does something else, and a seeded choice of such places.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/**
 * One small change: `text` in place of the characters from `start` to `end` (UTF-16 units) of a file.
 * @typedef {{ file: string, line: number, start: number, end: number, was: string, text: string }} Mutant
 */

/** What stands for an operator. */
const OPERATORS = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "-": "+",
  "*": "/",
  "%": "*",
};

/**
 * Every change of a TypeScript file: operators, conditions, constants, and calls whose value nobody takes.
 * @param {string} root
 * @param {string} file from the root
 * @returns {Mutant[]}
 */
export function typeScriptMutants(root, file) {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.Latest, true);
  const found = [];
  const add = (start, end, text) => {
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ file, line, start, end, was: source.text.slice(start, end), text });
  };
  const negate = (node) => add(node.getStart(), node.end, `!(${node.getText()})`);
  const visit = (node) => {
    if (ts.isTypeNode(node)) return;
    if (ts.isBinaryExpression(node)) {
      const { operatorToken } = node;
      const text = OPERATORS[operatorToken.getText()];
      if (text !== undefined) add(operatorToken.getStart(), operatorToken.end, text);
    } else if (ts.isIfStatement(node) && !ts.isBinaryExpression(node.expression)) negate(node.expression);
    else if (ts.isConditionalExpression(node) && !ts.isBinaryExpression(node.condition)) negate(node.condition);
    else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node.getStart(), node.end, "false");
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node.getStart(), node.end, "true");
    else if (ts.isNumericLiteral(node)) add(node.getStart(), node.end, `(${node.getText()} + 1)`);
    else if (ts.isExpressionStatement(node) && isDroppedCall(node.expression)) add(node.getStart(), node.end, ";");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** A call that is only made for what it does. Without `super(…)` no class can be made at all. */
function isDroppedCall(node) {
  if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return isDroppedCall(node.expression);
  return ts.isCallExpression(node) && node.expression.kind !== ts.SyntaxKind.SuperKeyword;
}

/** Operators and constants as clang-format writes them: blanks beside what is no template and no reference. */
const CPP = /(?<= )(?:<=?|>=?|==|!=|&&|\|\||-|\*|%)(?= [\w("'!-])|\b(?:true|false)\b/g;
const FLIPPED = { ...OPERATORS, true: "false", false: "true" };

/**
 * Every change of a C++ file: operators and truth values, outside of comments, strings and directives.
 * @param {string} root
 * @param {string} file from the root
 * @returns {Mutant[]}
 */
export function cppMutants(root, file) {
  const text = readFileSync(join(root, file), "utf8");
  const code = text.replaceAll(/\/\/.*|\/\*[^]*?\*\/|^\s*#.*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'/gm, (part) =>
    part.replaceAll(/[^\n]/g, "\u0001"),
  );
  return [...code.matchAll(CPP)].map(({ 0: was, index }) => ({
    file,
    line: text.slice(0, index).split("\n").length,
    start: index,
    end: index + was.length,
    was,
    text: FLIPPED[was],
  }));
}

/**
 * As many as are wanted, chosen by a seed: the same sources and seed give the same ones in the same order.
 * @template T
 * @param {T[]} all
 * @param {number} count
 * @param {number} seed a whole number
 * @returns {T[]}
 */
export function chosen(all, count, seed) {
  const random = mulberry32(seed);
  const rest = [...all];
  for (let at = 0; at < Math.min(count, rest.length); at += 1) {
    const other = at + Math.floor(random() * (rest.length - at));
    [rest[at], rest[other]] = [rest[other], rest[at]];
  }
  return rest.slice(0, count);
}

/** Numbers from 0 to below 1, by a generator that anyone can write down. */
function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

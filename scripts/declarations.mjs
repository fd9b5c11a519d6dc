/**
 * The declarations that users of the package come to: those of its entries, and all that these name.
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { root } from "./run.mjs";

/** Where the compiler writes all of them. */
export const DECLARATIONS = join(root, "build/declarations");

const IMPORTED = /(?:from|import\()\s*"(\.[^"]+)\.js"/g;

/** Paths below `dist/` of the declarations of all entries, those of the elements left out, and of what they name. */
export function publicDeclarations() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap(({ types }) => types ?? []);
  const waiting = entries.map((path) => join(DECLARATIONS, relative("dist", path)));
  const found = new Set();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path) || !existsSync(path)) continue;
    found.add(path);
    for (const [, name] of readFileSync(path, "utf8").matchAll(IMPORTED))
      waiting.push(join(dirname(path), `${name}.d.ts`));
  }
  return new Set(Array.from(found, (path) => relative(DECLARATIONS, path).split(sep).join("/")));
}

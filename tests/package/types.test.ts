/** The package's types, as those who use them see them. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, inject, test } from "vitest";
import { ROOT, run } from "./run.js";

const app = inject("app");
const dist = join(app, "node_modules", "mcp-sluice", "dist");
const TSC = join(ROOT, "node_modules", ".bin", "tsc");

/** How users compile, beyond what all of them have in common. */
const PROJECTS = {
  "for a bundler": { module: "ESNext", moduleResolution: "bundler" },
  "for Node, with the types of the DOM": { module: "NodeNext" },
  "for Node alone": {
    module: "NodeNext",
    lib: ["ES2022"],
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules", "@types")],
  },
  "for a worker": { module: "ESNext", moduleResolution: "bundler", lib: ["ES2022", "WebWorker"] },
};

// Declarations are checked, too: `skipLibCheck` would hide what is missing in them.
const STRICT = {
  target: "ES2022",
  lib: ["ES2022", "DOM"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
};

/** Writes a project around `consumer.ts`, and the service worker where its types are; gives its path. */
async function writeProject(name: keyof typeof PROJECTS): Promise<string> {
  const path = join(app, `${name.replaceAll(/\W+/g, "-")}.json`);
  const compilerOptions = { ...STRICT, ...PROJECTS[name] };
  const files = ["consumer.ts", ...(name === "for a worker" ? ["artifact-worker.ts"] : [])];
  await writeFile(path, JSON.stringify({ compilerOptions, files }));
  return path;
}

test.each(Object.keys(PROJECTS) as (keyof typeof PROJECTS)[])("strict users compile with them %s", async (name) => {
  const { stdout } = await run(process.execPath, [TSC, "-p", await writeProject(name)], { cwd: app });
  expect(stdout).toBe("");
});

/** Everything that an entry exports, with what its types say of it. */
function documented(entry: string): readonly (readonly [name: string, text: string])[] {
  const program = ts.createProgram([entry], { ...ts.getDefaultCompilerOptions(), types: [], noLib: true });
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(entry);
  const symbol = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  if (symbol === undefined) throw new Error(`${entry} exports nothing`);
  return checker.getExportsOfModule(symbol).map((exported) => {
    const origin = (exported.flags & ts.SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported);
    return [exported.name, ts.displayPartsToString(origin.getDocumentationComment(checker))];
  });
}

describe.each(["index.d.ts", "node.d.ts"])("what %s says", (entry) => {
  test("of the entry: what it is", async () => {
    expect(await readFile(join(dist, entry), "utf8")).toMatch(
      /^(\/\/\/ .*\n)*\/\*\*\n \* \w[^]*? \* @module mcp-sluice(\/node)?\n/,
    );
  });

  test("of every name: what it is for", () => {
    const names = documented(join(dist, entry));
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter(([, text]) => text.trim() === "").map(([name]) => name)).toEqual([]);
  });
});

/** What users can import: the text in `surface.txt`, which changes when it does. `npx vitest run tests/unit/surface.test.ts -u` writes it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { ROOT } from "./cli/command.js";

interface Manifest {
  readonly exports: Readonly<Record<string, Target>>;
}
type Target = string | Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** The modules of the package, each with the source of its types; `mcp-sluice/tools in node` is what Node sees. */
async function entries(): Promise<readonly (readonly [name: string, source: string])[]> {
  const { exports } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as Manifest;
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === "string") return [];
    const name = `mcp-sluice${path.slice(1)}`;
    return Object.entries(target).flatMap(([condition, types]) => {
      if (typeof types !== "string") return [[`${name} in ${condition}`, sourceOf(types["types"] ?? "")] as const];
      return condition === "types" ? [[name, sourceOf(types)] as const] : [];
    });
  });
}

function sourceOf(types: string): string {
  const path = types
    .replace("./dist/ui/", "web/ui/")
    .replace("./dist/", "web/src/")
    .replace(/\.d\.ts$/, ".ts");
  return join(ROOT, path);
}

/** A line for each name: what it is, and how it is called or what it has. */
function described(program: ts.Program, source: string): string[] {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(source);
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${source} exports nothing`);
  return checker
    .getExportsOfModule(module)
    .map((exported) => lineOf(checker, exported))
    .toSorted((left, right) => left.localeCompare(right, "en"));
}

/** What an earlier entry has as well is named alone, below that entry's name. */
function shortened(lines: readonly string[], told: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const own = new Set(lines);
  const isWhole = (all: readonly string[]): boolean => all.every((line) => lines.includes(line));
  const wholeFirst = [...told].toSorted(([, left], [, right]) => Number(isWhole(right)) - Number(isWhole(left)));
  const shared: string[] = [];
  for (const [entry, all] of wholeFirst) {
    const same = all.filter((line) => own.delete(line));
    if (same.length === 0) continue;
    const names = same.map((line) => line.slice(0, line.indexOf(":")));
    shared.push(isWhole(all) ? `all of ${entry}` : `of ${entry}: ${names.join(", ")}`);
  }
  return [...shared, ...own];
}

function lineOf(checker: ts.TypeChecker, exported: ts.Symbol): string {
  const { name } = exported;
  const symbol = (exported.flags & ts.SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported);
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  if ((symbol.flags & ts.SymbolFlags.Class) !== 0) return `${name}: class { ${membersOf(type)} }`;
  if ((symbol.flags & ts.SymbolFlags.Interface) !== 0) return `${name}: interface { ${membersOf(type)} }`;
  if ((symbol.flags & ts.SymbolFlags.TypeAlias) !== 0 && isObject(type)) return `${name}: type { ${membersOf(type)} }`;
  if ((symbol.flags & ts.SymbolFlags.TypeAlias) !== 0) return `${name}: type ${shown(checker, type, true)}`;
  const [declaration] = symbol.getDeclarations() ?? [];
  const value = declaration === undefined ? type : checker.getTypeOfSymbolAtLocation(symbol, declaration);
  return `${name}: ${shown(checker, value, false)}`;
}

function membersOf(type: ts.Type): string {
  const members = type.getProperties().filter((member) => isPublic(member));
  const names = members.map(
    ({ name, flags }) => `${nameOf(name)}${(flags & ts.SymbolFlags.Optional) === 0 ? "" : "?"}`,
  );
  return names.toSorted().join(", ");
}

function isObject(type: ts.Type): boolean {
  return (
    (type.flags & ts.TypeFlags.Object) !== 0 && type.getCallSignatures().length === 0 && !type.isClassOrInterface()
  );
}

const nameOf = (name: string): string => name.replace(/^__@(\w+)@\d+$/, "[Symbol.$1]");

function isPublic(member: ts.Symbol): boolean {
  return (member.getDeclarations() ?? []).every(
    (declaration) =>
      !member.name.startsWith("#") &&
      (ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0 &&
      !declaration.getSourceFile().fileName.includes("/node_modules/"),
  );
}

function shown(checker: ts.TypeChecker, type: ts.Type, isAlias: boolean): string {
  const flags = ts.TypeFormatFlags.NoTruncation | (isAlias ? ts.TypeFormatFlags.InTypeAlias : 0);
  return checker.typeToString(type, undefined, flags).replaceAll(/import\("[^"]+"\)\./g, "");
}

test("what can be imported is what was agreed on", async () => {
  const { options } = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, "tsconfig.json"),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => undefined,
    },
  ) ?? { options: {} };
  const all = await entries();
  const program = ts.createProgram({
    rootNames: all.map(([, source]) => source),
    options: { ...options, noEmit: true },
  });
  const told = new Map<string, readonly string[]>();
  const texts = new Map<string, readonly string[]>();
  for (const [name, source] of all) {
    const lines = described(program, source);
    texts.set(name, shortened(lines, told));
    told.set(name, lines);
  }
  const text = [...texts].map(([name, lines]) => `# ${name}\n${lines.join("\n")}\n`).join("\n");
  await expect(text).toMatchFileSnapshot("surface.txt");
});

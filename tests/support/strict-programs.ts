/**
 * Programs that are shown to users, compiled as a strict user compiles them.
 * @module
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import ts from "typescript";
import { ROOT } from "../unit/cli/command.js";

/** How a strict user compiles for Node: with what `tsc --init` writes. */
export const STRICT: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
  skipLibCheck: true,
  noEmit: true,
};

/**
 * What the compiler says of programs, each with its name: one line for each error. They are written to a folder of their own in the
 * checkout, where the package is found by its name.
 */
export async function typeErrors(
  folderName: string,
  programs: readonly (readonly [name: string, source: string])[],
): Promise<string[]> {
  const folder = join(ROOT, "build", "examples", folderName);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const written = programs.map(([name, source]) => [join(folder, `${name}.mts`), source] as const);
  for (const [file, source] of written) await writeFile(file, `${source}\nexport {};\n`);
  const compiled = ts.createProgram({ rootNames: written.map(([file]) => file), options: STRICT });
  return ts.getPreEmitDiagnostics(compiled).map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    const name = file === undefined ? "" : basename(file.fileName);
    return `${name}:${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}

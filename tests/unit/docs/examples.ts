/**
 * Runs the examples of a page: blocks that a comment marks with `run: command` or `run: library`. A program marked with
 * `compile: library` is only compiled; a `fragment` needs what only a reader has.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { makePng } from "../../../scripts/demo/png.mjs";
import { COMMAND, ROOT } from "../cli/command.js";

const run = promisify(execFile);

/** `$ command` and the lines that it prints. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

/** A fenced block of a page that is marked as run or compiled. */
export interface Example {
  readonly kind: "command" | "library" | "compiled";
  readonly source: string;
}

const KINDS: Readonly<Record<string, Example["kind"]>> = { "run: command": "command", "run: library": "library" };

/** The examples of a page, in its order. */
export function examples(page: string): Example[] {
  const found = page.matchAll(/<!-- (run: command|run: library|compile: library) -->\n```\w+\n([\s\S]*?)\n```/g);
  return Array.from(found, ([, mark = "", source = ""]) => ({ kind: KINDS[mark] ?? "compiled", source }));
}

/** The files that a page shows: a comment with `file: NAME` stands above each. */
function files(page: string): [name: string, content: string][] {
  const found = page.matchAll(/<!-- file: ([\w.]+) -->\n```\w+\n([\s\S]*?)\n```/g);
  return Array.from(found, ([, name = "", content = ""]) => [name, `${content}\n`]);
}

/** The steps of a console block. */
export function steps(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = "", ...output] = step.split("\n");
      return { command, output: output.join("\n").trimEnd() };
    });
}

/** What a library block says that its calls of `console.log` print, `// → …`; undefined where it says nothing. */
export function promises(block: string): (string | undefined)[] {
  return block
    .split("\n")
    .filter((line) => /^ *(?:if \(.*\) )?console\.log\(/.test(line))
    .map((line) => /\/\/ → (.*)$/.exec(line)?.[1]);
}

/** A folder with the files that the pages talk of. Inside the checkout, so that `mcp-sluice` is the package itself. */
export class ExampleFolder implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  /** `page` is the text whose examples are to run: only files that it names are made. */
  static async open(name: string, page: string): Promise<ExampleFolder> {
    const folder = join(ROOT, "build", "examples", name);
    await rm(folder, { recursive: true, force: true });
    await mkdir(join(folder, "bin"), { recursive: true });
    const script = `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`;
    await writeFile(join(folder, "bin", "sluice"), script, { mode: 0o755 });
    // Its SHA-256, and with it its id, is the same everywhere: nothing is compressed.
    if (page.includes("screenshot.png")) await writeFile(join(folder, "screenshot.png"), makePng());
    for (const [file, content] of files(page)) await writeFile(join(folder, file), content);
    return new ExampleFolder(folder);
  }

  /** Runs a command line as its reader would; its exit code does not matter. Standard error comes last. */
  async command(line: string): Promise<string> {
    const path = [join(this.folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
    const env = { ...process.env, PATH: path };
    const { stdout, stderr } = await run("sh", ["-c", `${line} || true`], { cwd: this.folder, env });
    return (stdout + stderr).trimEnd();
  }

  /** Runs a program and gives the lines that it prints. */
  async program(source: string): Promise<string[]> {
    const { outputText } = ts.transpileModule(source, { fileName: "example.mts", compilerOptions: TYPES });
    await writeFile(join(this.folder, "example.mjs"), outputText);
    const { stdout, stderr } = await run(process.execPath, ["example.mjs"], { cwd: this.folder });
    return [...stdout.trimEnd().split("\n"), ...(stderr === "" ? [] : [stderr])];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** How a strict user compiles for Node. */
const TYPES: ts.CompilerOptions = {
  strict: true,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
  skipLibCheck: true,
  noEmit: true,
};

/** What the compiler says of programs, each with its name: one line for each error. They are written to a folder in the checkout. */
export async function typeErrors(programs: readonly (readonly [name: string, source: string])[]): Promise<string[]> {
  const folder = join(ROOT, "build", "examples", "types");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const written = programs.map(([name, source]) => [join(folder, `${name}.mts`), source] as const);
  for (const [file, source] of written) await writeFile(file, `${source}\nexport {};\n`);
  const compiled = ts.createProgram({ rootNames: written.map(([file]) => file), options: TYPES });
  return ts.getPreEmitDiagnostics(compiled).map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    const name = file === undefined ? "" : basename(file.fileName);
    return `${name}:${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}

/** README and the pages in docs/: what they show is what happens, and what they link to is there. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { makePng } from "../../../scripts/demo/png.mjs";
import { STRICT, typeErrors } from "../../support/strict-programs.js";
import { COMMAND, ROOT } from "../cli/command.js";

const run = promisify(execFile);

/** `$ command` and the lines that it prints. */
interface Step {
  readonly command: string;
  readonly output: string;
}

/** A fenced block of a page that is marked as run or compiled. */
interface Example {
  readonly kind: "command" | "library" | "compiled";
  readonly source: string;
}

const KINDS: Readonly<Record<string, Example["kind"]>> = { "run: command": "command", "run: library": "library" };

/** The examples of a page, in its order. */
function examples(page: string): Example[] {
  const found = page.matchAll(/<!-- (run: command|run: library|compile: library) -->\n```\w+\n([\s\S]*?)\n```/g);
  return Array.from(found, ([, mark = "", source = ""]) => ({ kind: KINDS[mark] ?? "compiled", source }));
}

/** The files that a page shows: a comment with `file: NAME` stands above each. */
function files(page: string): [name: string, content: string][] {
  const found = page.matchAll(/<!-- file: ([\w.]+) -->\n```\w+\n([\s\S]*?)\n```/g);
  return Array.from(found, ([, name = "", content = ""]) => [name, `${content}\n`]);
}

/** The steps of a console block. */
function steps(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = "", ...output] = step.split("\n");
      return { command, output: output.join("\n").trimEnd() };
    });
}

/** What a library block says that its calls of `console.log` print, `// → …`; undefined where it says nothing. */
function promises(block: string): (string | undefined)[] {
  return block
    .split("\n")
    .filter((line) => /^ *(?:if \(.*\) )?console\.log\(/.test(line))
    .map((line) => /\/\/ → (.*)$/.exec(line)?.[1]);
}

/** A folder with the files that the pages talk of. Inside the checkout, so that `mcp-sluice` is the package itself. */
class ExampleFolder implements AsyncDisposable {
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
    const { outputText } = ts.transpileModule(source, { fileName: "example.mts", compilerOptions: STRICT });
    await writeFile(join(this.folder, "example.mjs"), outputText);
    const { stdout, stderr } = await run(process.execPath, ["example.mjs"], { cwd: this.folder });
    return [...stdout.trimEnd().split("\n"), ...(stderr === "" ? [] : [stderr])];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

const names = await readdir(join(ROOT, "docs"));
const PAGES = ["README.md", ...names.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
const OTHERS = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/README.md", "wasm/README.md"];

const read = (page: string): Promise<string> => readFile(join(ROOT, page), "utf8");

test("there are pages, and README is one of them", () => {
  expect(PAGES.length).toBeGreaterThan(4);
});

describe.each(PAGES)("%s", (page) => {
  // Dozens of programs, one after the other.
  test("its examples do what it says", { timeout: 300_000 }, async () => {
    const text = await read(page);
    await using folder = await ExampleFolder.open(page.replace("/", "-"), text);
    for (const { kind, source } of examples(text)) {
      if (kind === "compiled") continue;
      const { said, seen } = await (kind === "command" ? session(folder, source) : program(folder, source));
      expect(seen).toEqual(said);
    }
  });

  test("every example is run, compiled or marked as a fragment", async () => {
    const text = await read(page);
    const shown = [...text.matchAll(/^```(?:console|ts)$/gm)];
    const marked = [...text.matchAll(/^<!-- (?:run: command|run: library|compile: library) -->$/gm)];
    const fragments = [...text.matchAll(/^<!-- fragment -->\n```ts$/gm)];
    expect(shown.length).toBe(marked.length + fragments.length);
    expect(examples(text).length).toBe(marked.length);
  });
});

describe.each([...PAGES, ...OTHERS])("%s", (page) => {
  test("what it links to is there", async () => {
    for (const { file, anchor } of await links(page)) {
      const content = await read(file);
      expect(["", ...anchors(content)]).toContain(anchor);
    }
  });
});

// All programs of all pages in one compilation.
test("programs are TypeScript, and strict users compile them", { timeout: 300_000 }, async () => {
  const programs = await Promise.all(
    PAGES.map(async (page) =>
      examples(await read(page))
        .filter(({ kind }) => kind !== "command")
        .map(({ source }, at) => [`${page.replace(/\W/g, "-")}-${at + 1}`, source] as const),
    ),
  );
  expect(await typeErrors("types", programs.flat())).toEqual([]);
});

test("README shows what a planner and a host would use: a reduced result, and the original again", async () => {
  const [example] = examples(await read("README.md")).filter(({ kind }) => kind === "library");
  const source = example?.source ?? "";
  await using folder = await ExampleFolder.open("readme-library", source);
  const [text = "", id, same] = await folder.program(source);
  expect(JSON.stringify(JSON.parse(text))).toContain(`"id":"${id}"`);
  expect(id).toMatch(/^browser_[0-9a-f]{12}$/);
  expect(same).toBe("true");
});

/** What an example says that is printed, and what is. */
interface Outcome {
  readonly said: readonly string[];
  readonly seen: readonly string[];
}

async function session(folder: ExampleFolder, source: string): Promise<Outcome> {
  const said = steps(source).map(({ command, output }) => `$ ${command}\n${output}`);
  const seen: string[] = [];
  for (const { command } of steps(source)) seen.push(`$ ${command}\n${await folder.command(command)}`);
  return { said, seen };
}

/** Of a line about which the example says nothing, it is enough that it is printed. */
async function program(folder: ExampleFolder, source: string): Promise<Outcome> {
  const seen = await folder.program(source);
  return { said: promises(source).map((line, i) => line ?? seen[i] ?? "a line"), seen };
}

/** The files, and places in them, that a page links to; an empty `anchor` is the file itself. */
async function links(page: string): Promise<{ file: string; anchor: string }[]> {
  const prose = (await read(page)).replace(/^```[\s\S]*?^```$/gm, "");
  const targets = [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
  return targets
    .filter((target) => !target.startsWith("https:"))
    .map((target) => {
      const [file = "", anchor = ""] = target.split("#");
      return { file: file === "" ? page : join(dirname(page), file), anchor };
    });
}

/** The names that headings can be linked by. */
function anchors(content: string): string[] {
  return [...content.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

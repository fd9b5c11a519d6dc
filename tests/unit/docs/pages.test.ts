/** README and the pages in docs/: what they show is what happens, and what they link to is there. */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../cli/command.js";
import { ExampleFolder, examples, promises, steps, typeErrors } from "./examples.js";

const names = await readdir(join(ROOT, "docs"));
const PAGES = ["README.md", ...names.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
const OTHERS = [
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "tests/README.md",
  "tests/requirements/failures.md",
  "tests/requirements/user-storage.md",
  "wasm/README.md",
];

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

test("programs are TypeScript, and strict users compile them", async () => {
  const programs = await Promise.all(
    PAGES.map(async (page) =>
      examples(await read(page))
        .filter(({ kind }) => kind !== "command")
        .map(({ source }, at) => [`${page.replace(/\W/g, "-")}-${at + 1}`, source] as const),
    ),
  );
  expect(await typeErrors(programs.flat())).toEqual([]);
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

/** The elements in JSX and in templates: their properties and events are checked, right ones taken and wrong ones refused. */
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { ROOT, run } from "./run.js";

const app = join(inject("app"), "frameworks");
const MODULES = join(ROOT, "node_modules");

/** What users of a framework install beside the package: that of the checkout. */
const FRAMEWORKS = ["@types/react", "vue", "svelte"];

/** Types of React 18 in the place of those of 19. */
const REACT_18 = {
  react: [join(MODULES, "types-react-18/index.d.ts")],
  "react/*": [join(MODULES, "types-react-18/*.d.ts")],
};

const STRICT = {
  target: "ES2022",
  module: "ESNext",
  moduleResolution: "bundler",
  lib: ["ES2022", "DOM"],
  types: [],
  jsx: "react-jsx",
  strict: true,
  exactOptionalPropertyTypes: true,
  // Where declarations are checked that others wrote, it takes a minute.
  skipLibCheck: true,
  noEmit: true,
};

beforeAll(async () => {
  // A copy, not a link: the types look for React from where they are.
  const installed = join(app, "node_modules/mcp-sluice");
  await cp(join(app, "../node_modules/mcp-sluice"), installed, { recursive: true });
  await cp(join(ROOT, "examples/elements"), app, { recursive: true });
  for (const name of FRAMEWORKS) {
    const link = join(app, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(MODULES, name), link);
  }
});

/** Checks files as their users do; gives what the program says. */
async function checked(program: string, files: readonly string[], options: object = {}): Promise<string> {
  const project = join(app, `${program}.json`);
  const config = {
    compilerOptions: { ...STRICT, ...options },
    vueCompilerOptions: { strictTemplates: true },
    files,
  };
  await writeFile(project, JSON.stringify(config));
  const args = program === "svelte-check" ? ["--tsconfig", project, "--output", "machine"] : ["-p", project];
  const { stdout } = await run(process.execPath, [join(MODULES, ".bin", program), ...args], { cwd: app });
  return stdout;
}

test("the declarations by themselves", async () => {
  const files = ["vue", "svelte"].map((name) => join(app, `node_modules/mcp-sluice/dist/ui/${name}.d.ts`));
  expect(await checked("tsc", files, { skipLibCheck: false })).toBe("");
});

// What is wrong in these files stands behind `@ts-expect-error`, which is an error itself where nothing is wrong.
test.each([
  ["React 19", {}],
  ["React 18", { paths: REACT_18 }],
])("%s", async (_, options) => {
  expect(await checked("tsc", ["Artifact.tsx", "Cities.tsx"], { skipLibCheck: false, ...options })).toBe("");
});

test("Vue", async () => {
  expect(await checked("vue-tsc", ["Artifact.vue", "Cities.vue"])).toBe("");
}, 120_000);

test("Svelte", async () => {
  // Its templates have no `@ts-expect-error`, so what is wrong has a file of its own.
  const text = await checked("svelte-check", ["Artifact.svelte", "Cities.svelte", "Wrong.svelte"]).catch(String);
  const found = [...text.matchAll(/^\d+ ERROR "(\w+\.svelte)" [\d:]+ "(.*)"$/gm)];
  expect([...new Set(found.map(([, file, sentence]) => `${file}: ${sentence}`))]).toEqual([
    expect.stringMatching(/^Wrong.svelte: .*'name' does not exist in type 'ShownArtifact'/),
    expect.stringMatching(/^Wrong.svelte: .*print.* is not assignable to type 'ArtifactAction'/),
    expect.stringMatching(/^Wrong.svelte: .*'string' is not assignable to type 'number'/),
    expect.stringMatching(/^Wrong.svelte: .*'toUpperCase' does not exist on type 'ShownArtifact'/),
  ]);
}, 120_000);

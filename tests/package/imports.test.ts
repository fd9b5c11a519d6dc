/** What the entries pull in, seen on the files of the package itself. */
import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { build, parseSync } from "vite";
import { describe, expect, inject, test } from "vitest";

const modules = join(inject("app"), "node_modules");
const installed = join(modules, "mcp-sluice");

interface Reached {
  /** Files of the package. */
  readonly files: Set<string>;
  /** Names of what is not in it. */
  readonly others: Set<string>;
  /** Files that import while they run, which service workers do not allow. */
  readonly late: Set<string>;
}

/** Follows every import from a file of the package, `#…` by its `default` condition, as browsers' bundlers do. */
async function follow(
  file: string,
  seen: Reached = { files: new Set(), others: new Set(), late: new Set() },
): Promise<Reached> {
  if (seen.files.has(relative(installed, file))) return seen;
  seen.files.add(relative(installed, file));
  const source = await readFile(file, "utf8");
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  if (dynamicImports.length > 0) seen.late.add(relative(installed, file));
  const names = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value)),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1)),
  ];
  for (const name of names) {
    if (name === undefined) continue;
    const target = await inPackage(name, file);
    if (target === undefined) seen.others.add(name);
    else await follow(target, seen);
  }
  return seen;
}

async function inPackage(name: string, from: string): Promise<string | undefined> {
  if (name.startsWith(".")) return resolve(dirname(from), name);
  if (!name.startsWith("#")) return undefined;
  const { imports } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    imports: Readonly<Record<string, { readonly default: string }>>;
  };
  return join(installed, imports[name]?.default ?? name);
}

/** The entries for browsers, what they need of others, and what those need. */
const ENTRIES: readonly (readonly [entry: string, needed: readonly string[], beneath: readonly string[]])[] = [
  ["dist/index.js", ["hash-wasm"], []],
  ["dist/mcp.js", ["@humanwhocodes/momoa", "hash-wasm"], []],
  ["dist/browser.js", ["hash-wasm", "idb"], []],
  [
    "dist/tools.js",
    [
      "@humanwhocodes/momoa",
      "@modelcontextprotocol/client",
      "cockatiel",
      "eventsource-parser",
      "hash-wasm",
      "js-yaml",
      "oauth4webapi",
      "string-argv",
      "url-template",
      "zod",
    ],
    ["@modelcontextprotocol/core", "eventsource", "jose", "pkce-challenge"],
  ],
];

/** Entries that service workers may import: the others load what reads manuals only when there is one. */
const STATIC = ENTRIES.filter(([entry]) => entry !== "dist/tools.js");

describe.each(ENTRIES)("%s, in the files as they were packed", (entry, needed) => {
  test("reaches nothing of Node, and of others only what it needs", async () => {
    const { files, others } = await follow(join(installed, entry));
    expect(files.size).toBeGreaterThan(20);
    const core = entry === "dist/browser.js" ? [] : ["dist/core/core.mjs", "dist/core/compile-web.js"];
    expect([...files]).toEqual(expect.arrayContaining(core));
    expect([...files].filter((name) => /\/(file|cli)\/|-node\.js$|\/node\.js$/.test(name))).toEqual([]);
    expect([...others].sort()).toEqual(needed);
  });

  test("unlike the entry for Node, in which the same search finds it", async () => {
    const { files, others } = await follow(join(installed, "dist/node.js"));
    expect([...files]).toEqual(expect.arrayContaining(["dist/index.js", "dist/artifacts/file/file-store.js"]));
    expect([...others].filter(isBuiltin).length).toBeGreaterThan(0);
  });
});

test.each(STATIC)("%s imports everything before it runs, as service workers demand", async (entry) => {
  expect([...(await follow(join(installed, entry))).late]).toEqual([]);
});

/** The ids of all modules that Vite bundles for a browser, and the code that comes of them. */
async function bundle(entry: string): Promise<{ readonly ids: readonly string[]; readonly code: string }> {
  const ids: string[] = [];
  const built = await build({
    configFile: false,
    logLevel: "silent",
    root: inject("app"),
    plugins: [{ name: "record", moduleParsed: ({ id }) => void ids.push(id) }],
    build: {
      write: false,
      minify: false,
      rolldownOptions: { input: join(installed, entry), preserveEntrySignatures: "strict" },
    },
  });
  const outputs = [built].flat().flatMap((one) => ("output" in one ? one.output : []));
  return { ids, code: outputs.map((part) => (part.type === "chunk" ? part.code : "")).join("\n") };
}

describe.each(ENTRIES)("%s, bundled for browsers", (entry, needed, beneath) => {
  test("is made of files of the package and what it needs, with nothing put in the place of Node", async () => {
    const { ids, code } = await bundle(entry);
    expect(ids.length).toBeGreaterThan(20);
    const homes = [installed, ...[...needed, ...beneath].map((name) => join(modules, name))];
    // What Vite itself adds stands under a name that no file has.
    const files = ids.filter((id) => !id.startsWith("\0vite/"));
    expect(files.filter((id) => !homes.some((home) => id.startsWith(`${home}/`)))).toEqual([]);
    expect(code).not.toMatch(/["'`]node:|__vite-browser-external/);
    // Zod looks whether it may, and does without where it may not.
    const made = code.split("\n").filter((line) => /\bnew Function\(|\beval\(/.test(line));
    expect(made.filter((line) => !line.includes('new Function("")'))).toEqual([]);
  });

  test("unlike the entry for Node, where Vite has to put something", async () => {
    const { ids } = await bundle("dist/node.js").catch((error: unknown) => ({ ids: [String(error)] }));
    expect(ids.join("\n")).toMatch(/__vite-browser-external/);
  });
});

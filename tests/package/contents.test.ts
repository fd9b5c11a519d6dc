/** What is in the tarball, and what those who judge packages say of it. */
import { readdir, readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { checkPackage, createPackageFromTarballData, type ResolutionKind } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { build, parseSync } from "vite";
import { DOCUMENT_MODULES } from "../../scripts/document-modules.mjs";
import { describe, expect, inject, test } from "vitest";
import { ROOT } from "./run.js";

/** What the package has in itself of others. */
const BUNDLED = ["@modelcontextprotocol/client", "cross-spawn", "hash-wasm", "idb", "string-argv", "url-template"];

/** What editors read: of the configuration, and of the elements. */
const MANIFESTS = ["dist/config.schema.json", "dist/custom-elements.json"];

describe("contents", () => {
  const tarball = inject("tarball");
  const installed = join(inject("app"), "node_modules", "mcp-sluice");

  /** What C++ becomes. */
  const MODULES = ["core", "contract", "facts", "pdf", "tables"];

  /** What a declaration imports. */
  const IMPORTED = /(?:^(?:import|export) [^;]*? from |\bimport\()"([^"]+)"/gm;

  interface Manifest {
    readonly scripts: Readonly<Record<string, string>>;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly exports: Readonly<
      Record<string, string | Readonly<Record<string, string | Readonly<Record<string, string>>>>>
    >;
    readonly imports: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly bin: Readonly<Record<string, string>>;
  }

  async function json<T>(path: string): Promise<T> {
    return JSON.parse(await readFile(path, "utf8")) as T;
  }

  /** Paths of all files under a folder, with `/` between names. */
  async function filesUnder(folder: string): Promise<string[]> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(folder.length + 1)
          .replaceAll("\\", "/"),
      )
      .sort();
  }

  describe("the tarball", () => {
    test.each(MODULES)("carries the built module %s, beside the code that loads it", async (module) => {
      const wasm = await readFile(join(installed, `dist/core/${module}.wasm`));
      expect(WebAssembly.validate(wasm)).toBe(true);
      expect(wasm.equals(await readFile(join(ROOT, `dist/core/${module}.wasm`)))).toBe(true);
      expect(await filesUnder(installed)).toContain(`dist/core/${module}.mjs`);
    });

    test("has each source compiled, and beside these only what is bundled of others", async () => {
      const sources = (await filesUnder(join(ROOT, "web/src"))).filter((name) => /(?<!\.d)\.ts$/.test(name));
      expect(sources.length).toBeGreaterThan(50);
      const files = await filesUnder(installed);
      const code = files.filter((name) => name.endsWith(".js") && !/^dist\/(?:ui|bundled)\//.test(name));
      expect(code).toEqual(sources.map((name) => `dist/${name.replace(/\.ts$/, ".js")}`).sort());
    });

    test("has the types that its entries name, and all that these name, and no others", async () => {
      const files = (await filesUnder(installed)).filter((name) => name.endsWith(".d.ts"));
      const named = new Set<string>();
      for (const name of files) {
        for (const [, path = ""] of (await readFile(join(installed, name), "utf8")).matchAll(IMPORTED)) {
          if (path.startsWith(".")) named.add(join(name, "..", path.replace(/js$/, "d.ts")).replaceAll("\\", "/"));
        }
      }
      const { exports } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
        exports: Record<string, { types?: string; node?: { types: string } }>;
      };
      const entries = Object.values(exports).flatMap(({ types, node }) =>
        [types, node?.types].flatMap((path) => path?.slice(2) ?? []),
      );
      expect(files).toEqual([...new Set([...named, ...entries])].sort());
    });

    test("has types that name no package but itself and optional ones", async () => {
      const elsewhere = new Set<string>();
      for (const name of (await filesUnder(installed)).filter((each) => each.endsWith(".d.ts"))) {
        // What is told of a type may show an import of the user's.
        const code = (await readFile(join(installed, name), "utf8")).replaceAll(/\/\*[^]*?\*\//g, "");
        for (const [, path = ""] of code.matchAll(IMPORTED)) {
          if (!path.startsWith(".")) elsewhere.add(path);
        }
      }
      expect([...elsewhere].sort()).toEqual([
        "@aws-sdk/client-s3",
        "mcp-sluice",
        "mcp-sluice/tools",
        "react",
        "svelte/elements",
        "vue",
      ]);
    });

    test("has the elements bundled: one entry, and nothing that is imported from elsewhere", async () => {
      const folder = join(installed, "dist/ui");
      const code = (await filesUnder(folder)).filter((name) => name.endsWith(".js"));
      expect(code.filter((name) => !name.startsWith("parts/"))).toEqual(["index.js"]);
      const elsewhere = new Set<string>();
      for (const name of code) {
        const { staticImports, dynamicImports } = parseSync(name, await readFile(join(folder, name), "utf8")).module;
        const source = await readFile(join(folder, name), "utf8");
        const names = [
          ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
          ...dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1)),
        ];
        for (const each of names) if (!each.startsWith(".")) elsewhere.add(each);
      }
      expect([...elsewhere]).toEqual([]);
    });

    test("has nothing else but papers: no sources, no tests, no maps, no traces of the build", async () => {
      const others = (await filesUnder(installed)).filter((name) => !/^dist\/.*\.(?:js|d\.ts)$/.test(name));
      const core = [
        ...MODULES.flatMap((module) => ["d.mts", "mjs", "wasm"].map((ending) => `dist/core/${module}.${ending}`)),
        // What can be configured, for checks that cannot wait for the core.
        ...["d.mts", "mjs"].map((ending) => `dist/config/schema.${ending}`),
        ...["d.mts", "mjs"].flatMap((ending) => [`dist/core/media-types.${ending}`, `dist/core/extensions.${ending}`]),
        // What reads PDF, and decodes and encodes pictures.
        ...Object.keys(DOCUMENT_MODULES).map((name) => `dist/documents/wasm/${name}.wasm`),
      ];
      const papers = ["LICENSE", "README.md"];
      const licences = ["bundled", "bundled/proxy", "core", "documents/wasm", "mcp/artifact-app", "ui"].map(
        (folder) => `dist/${folder}/LICENSES.md`,
      );
      // What hosts with MCP Apps show.
      const app = "dist/mcp/artifact-app/artifact-app.html";
      const pages = await pagesNamed();
      expect(pages.length).toBeGreaterThan(0);
      expect(others).toEqual([...papers, ...licences, app, ...MANIFESTS, ...core, ...pages, "package.json"].sort());
    });

    /** The pages of the documentation that the command names in what it says. */
    async function pagesNamed(): Promise<readonly string[]> {
      const named = new Set<string>();
      for (const name of await filesUnder(join(ROOT, "web/src"))) {
        const source = await readFile(join(ROOT, "web/src", name), "utf8");
        for (const [page] of source.matchAll(/(?<![\w./])docs\/\w[\w-]*\.md\b/g)) named.add(page);
      }
      return [...named];
    }

    test("has the licence of everything that is bundled", async () => {
      const licences = await readFile(join(installed, "dist/bundled/LICENSES.md"), "utf8");
      for (const name of BUNDLED) expect(licences).toContain(`## ${name} - `);
    });

    test("has every file that package.json names", async () => {
      const { exports, imports, bin } = await json<Manifest>(join(installed, "package.json"));
      const named = [...Object.values(exports), ...Object.values(imports), bin].flatMap((target) =>
        typeof target === "string"
          ? [target]
          : Object.values(target).flatMap((path) => (typeof path === "string" ? [path] : Object.values(path))),
      );
      const files = await filesUnder(installed);
      expect(files).toEqual(expect.arrayContaining(named.map((path) => path.replace(/^\.\//, ""))));
    });

    test("is never stale: packing builds first, and installing runs nothing", async () => {
      const { scripts } = await json<Manifest>(join(installed, "package.json"));
      expect(scripts["prepack"]).toBe(scripts["build"]);
      for (const name of ["preinstall", "install", "postinstall", "prepare"]) expect(scripts).not.toHaveProperty(name);
    });

    test("brings few packages with it, each in the versions that are compatible", async () => {
      const { dependencies } = await json<Manifest>(join(installed, "package.json"));
      expect(Object.keys(dependencies)).toEqual([
        "@decimalturn/toml-patch",
        "@hono/node-server",
        "@humanwhocodes/momoa",
        "eventsource-parser",
        "hono",
        "jose",
        "js-yaml",
        "oauth4webapi",
        "rate-limiter-flexible",
        "ws",
        "yaml",
        "zod",
      ]);
      for (const version of Object.values(dependencies)) expect(version).toMatch(/^\^\d+\.\d+\.\d+$/);
      const { packages } = await json<{ readonly packages: object }>(
        join(inject("app"), "node_modules", ".package-lock.json"),
      );
      // It, what it names, and argparse, which js-yaml names.
      expect(Object.keys(packages).length).toBe(2 + Object.keys(dependencies).length);
    });
  });

  test("publint has nothing to say, not even a suggestion", async () => {
    const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true, level: "suggestion" });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test("arethetypeswrong finds nothing wrong for those who import", async () => {
    // The package is ESM only: what old resolvers and `require` in TypeScript make of it is not asked (its own profile
    // `esm-only`). The module itself has no types.
    const notAsked: readonly ResolutionKind[] = ["node10", "node16-cjs"];
    const found = await checkPackage(createPackageFromTarballData(new Uint8Array(await readFile(tarball))), {
      excludeEntrypoints: [...MODULES, ...Object.keys(DOCUMENT_MODULES).map((name) => `documents/${name}`)].map(
        (module) => `./${module}.wasm`,
      ),
    });
    if (found.types === false) throw new Error("the package has no types");
    expect(Object.keys(found.entrypoints)).toEqual(expect.arrayContaining([".", "./mcp", "./node"]));
    const problems = found.problems.filter(
      (problem) => !("resolutionKind" in problem && notAsked.includes(problem.resolutionKind)),
    );
    expect(problems).toEqual([]);
  });
});

/** What the entries pull in, seen on the files of the package itself. */
describe("imports", () => {
  const modules = join(inject("app"), "node_modules");
  const installed = join(modules, "mcp-sluice");

  interface Reached {
    /** Files of the package. */
    readonly files: Set<string>;
    /** Names of what is not in it. */
    readonly others: Set<string>;
  }

  /** Follows every import from a file of the package, `#…` by its `default` condition, as browsers' bundlers do. */
  async function follow(file: string, seen: Reached = { files: new Set(), others: new Set() }): Promise<Reached> {
    if (seen.files.has(relative(installed, file))) return seen;
    seen.files.add(relative(installed, file));
    const source = await readFile(file, "utf8");
    const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
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

  /** The files that import while they run, among those that are loaded to start with. */
  async function loadedAtOnce(file: string, seen = new Set<string>(), late = new Set<string>()): Promise<Set<string>> {
    if (seen.has(file)) return late;
    seen.add(file);
    const { staticImports, staticExports, dynamicImports } = parseSync(file, await readFile(file, "utf8")).module;
    if (dynamicImports.length > 0) late.add(relative(installed, file));
    const names = [
      ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])),
    ];
    for (const name of names) {
      const target = await inPackage(name, file);
      if (target !== undefined) await loadedAtOnce(target, seen, late);
    }
    return late;
  }

  async function inPackage(name: string, from: string): Promise<string | undefined> {
    if (name.startsWith(".")) return resolve(dirname(from), name);
    if (!name.startsWith("#")) return undefined;
    const { imports } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
      imports: Readonly<Record<string, { readonly default: string }>>;
    };
    return join(installed, imports[name]?.default ?? name);
  }

  /** The entries for browsers, and what they need of others. */
  const ENTRIES: readonly (readonly [entry: string, needed: readonly string[]])[] = [
    ["dist/index.js", ["@humanwhocodes/momoa"]],
    ["dist/mcp.js", ["@humanwhocodes/momoa"]],
    ["dist/browser.js", ["@humanwhocodes/momoa"]],
    ["dist/tools.js", ["@humanwhocodes/momoa", "eventsource-parser", "js-yaml", "oauth4webapi", "zod"]],
  ];

  test("a host that starts the proxy waits for two files, which import at once what is of Node alone", async () => {
    const seen = new Set<string>();
    await loadedAtOnce(join(installed, "dist/bundled/proxy/gate.js"), seen);
    const files = [...seen].map((file) => relative(installed, file)).sort();
    expect(files).toEqual(["dist/bundled/proxy/gate.js", "dist/bundled/proxy/program.js"]);
    for (const file of seen) {
      const { staticImports } = parseSync(file, await readFile(file, "utf8")).module;
      const others = staticImports
        .map(({ moduleRequest }) => moduleRequest.value)
        .filter((name) => !name.startsWith("."));
      expect(others.filter((name) => !isBuiltin(name))).toEqual([]);
    }
  });

  /** The package of a module: `zod` of `zod/v4`. */
  const packageOf = (name: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;

  /** Entries that service workers may import: the others load what reads manuals only when there is one. */
  const STATIC = ENTRIES.filter(([entry]) => entry !== "dist/tools.js");

  /**
   * What loads the parts that read documents, look at pictures, answer queries and edit, and says so where nothing can be loaded later; what
   * tells facts of files, and kind and size without them; and a hash for where no WebAssembly is compiled.
   */
  const ON_DEMAND = [
    "dist/artifacts/hash-web.js",
    "dist/core/facts-module.js",
    "dist/mcp/artifact-reader/artifact-reader.js",
    "dist/mcp/artifact-reader/inspection.js",
    "dist/mcp/artifact-reader/search.js",
    "dist/mcp/artifact-tools.js",
    "dist/mcp/shown-media.js",
  ];

  describe.each(ENTRIES)("%s, in the files as they were packed", (entry, needed) => {
    test("reaches nothing of Node, and of others only what it needs", async () => {
      const { files, others } = await follow(join(installed, entry));
      expect(files.size).toBeGreaterThan(20);
      const core = entry === "dist/browser.js" ? [] : ["dist/core/core.mjs", "dist/core/compile-web.js"];
      expect([...files]).toEqual(expect.arrayContaining(core));
      expect([...files].filter((name) => /\/(file|cli)\/|-node\.js$|\/node\.js$/.test(name))).toEqual([]);
      expect([...new Set(Array.from(others, packageOf))].sort()).toEqual(needed);
    });

    test("unlike the entry for Node, in which the same search finds it", async () => {
      const { files, others } = await follow(join(installed, "dist/node.js"));
      expect([...files]).toEqual(expect.arrayContaining(["dist/index.js", "dist/artifacts/file/file-store.js"]));
      expect([...others].filter(isBuiltin).length).toBeGreaterThan(0);
    });
  });

  test.each(STATIC)(
    "%s imports everything before it runs, as service workers demand, but for what is on demand",
    async (entry) => {
      expect([...(await loadedAtOnce(join(installed, entry)))].sort()).toEqual(ON_DEMAND);
    },
  );

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

  describe.each(ENTRIES)("%s, bundled for browsers", (entry, needed) => {
    test("is made of files of the package and what it needs, with nothing put in the place of Node", async () => {
      const { ids, code } = await bundle(entry);
      expect(ids.length).toBeGreaterThan(20);
      const homes = [installed, ...needed.map((name) => join(modules, name))];
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
});

/** What is in the tarball, and what those who judge packages say of it. */
import { readdir, readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { checkPackage, createPackageFromTarballData, type ResolutionKind } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { build, parseSync } from "vite";
import { describe, expect, inject, test } from "vitest";
import { ROOT } from "./run.js";

describe("contents", () => {
  const tarball = inject("tarball");
  const installed = join(inject("app"), "node_modules", "mcp-sluice");

  /** What C++ becomes. */
  const MODULES = ["core", "contract"];

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

    test("has each source compiled, and nothing of sources that are gone", async () => {
      const compiled = async (from: string, to: string, ending: string): Promise<string[]> => {
        const sources = (await filesUnder(join(ROOT, from))).filter((name) => /(?<!\.d|\.config)\.ts$/.test(name));
        expect(sources.length).toBeGreaterThan(50);
        return sources.map((name) => `${to}/${name.replace(/\.ts$/, ending)}`);
      };
      const files = await filesUnder(installed);
      const sources = [
        ...(await compiled("web/src", "dist", ".d.ts")),
        ...(await compiled("web/ui", "dist/ui", ".d.ts")),
      ];
      expect(files.filter((name) => name.endsWith(".d.ts") && !sources.includes(name))).toEqual([]);
      const code = files.filter((name) => name.endsWith(".js") && !name.startsWith("dist/ui/"));
      expect(code).toEqual((await compiled("web/src", "dist", ".js")).sort());
    });

    test("has the types that its entries name, and all that these name, and no others", async () => {
      const files = (await filesUnder(installed)).filter(
        (name) => name.endsWith(".d.ts") && !name.startsWith("dist/ui/"),
      );
      const named = new Set<string>();
      for (const name of files) {
        const text = await readFile(join(installed, name), "utf8");
        for (const [, path = ""] of text.matchAll(/(?:from|import\()\s*"(\.[^"]+)\.js"/g)) {
          named.add(join(name, "..", `${path}.d.ts`).replaceAll("\\", "/"));
        }
      }
      const { exports } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
        exports: Record<string, { types?: string; node?: { types: string } }>;
      };
      const entries = Object.values(exports).flatMap(({ types, node }) =>
        [types, node?.types].flatMap((path) => path?.slice(2) ?? []),
      );
      const wanted = [...new Set([...named, ...entries])].filter((name) => !name.startsWith("dist/ui/"));
      expect(files).toEqual(wanted.sort());
    });

    test("has the elements bundled: one entry, and nothing that is imported from elsewhere but what draws PDFs", async () => {
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
      expect([...elsewhere]).toEqual(["pdfjs-dist"]);
    });

    test("has nothing else but pages: no sources, no tests, no maps, no traces of the build", async () => {
      const others = (await filesUnder(installed)).filter((name) => !/^dist\/.*\.(?:js|d\.ts)$/.test(name));
      const core = [
        ...MODULES.flatMap((module) => ["d.mts", "mjs", "wasm"].map((ending) => `dist/core/${module}.${ending}`)),
        // What can be configured, for checks that cannot wait for the core.
        ...["d.mts", "mjs"].map((ending) => `dist/config/schema.${ending}`),
        ...["d.mts", "mjs"].map((ending) => `dist/core/media-types.${ending}`),
      ];
      const papers = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md"];
      const pages = (await filesUnder(join(ROOT, "docs"))).map((name) => `docs/${name}`);
      expect(others).toEqual([...papers, "dist/config.schema.json", ...core, ...pages, "package.json"].sort());
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

    test("brings few packages with it, in exact versions", async () => {
      const { dependencies } = await json<Manifest>(join(installed, "package.json"));
      expect(Object.keys(dependencies)).toEqual([
        "@decimalturn/toml-patch",
        "@hono/node-server",
        "@humanwhocodes/momoa",
        "@modelcontextprotocol/client",
        "cockatiel",
        "cross-spawn",
        "eventsource-parser",
        "hash-wasm",
        "hono",
        "idb",
        "js-yaml",
        "lit",
        "oauth4webapi",
        "rate-limiter-flexible",
        "string-argv",
        "url-template",
        "ws",
        "yaml",
        "zod",
      ]);
      for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      const packages = await readdir(join(inject("app"), "node_modules"));
      expect(packages.filter((name) => !name.startsWith(".")).length).toBeLessThan(80);
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
      excludeEntrypoints: MODULES.map((module) => `./${module}.wasm`),
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
});

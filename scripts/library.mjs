/**
 * The library and the command as they are published: what tsc compiled, with short local names, beside what is bundled with it of
 * others. `dependencies` and `peerDependencies` are installed; everything else that the sources import is bundled.
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules, isBuiltin } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { bundle } from "./bundle.mjs";
import { bundledClient } from "./mcp-client.mjs";
import { shortenId, viteRoot } from "./module-paths.mjs";
import { root } from "./run.mjs";

/** Where tsc compiles to. */
export const COMPILED = join(root, "build/library");

const DIST = join(root, "dist");

/** Where the bundled packages are, below `dist/`. */
const BUNDLED = "bundled";

// Names of functions and classes stay: stacks and profiles show them.
const MANGLE = { keepNames: true };

/**
 * Brings `dist/` up to date with what was compiled.
 * @returns {Promise<Set<string>>} its files, below `dist/`
 */
export async function publishLibrary() {
  const names = sourcesOf("web/src").map((name) => name.replace(/ts$/, "js"));
  const { parseSync } = await import("vite");
  const modules = names.map((name) => moduleOf(name, readFileSync(join(COMPILED, name), "utf8"), parseSync));
  const files = await bundlePackages(wanted(modules));
  for (const module of modules) writeChanged(join(DIST, module.name), (await publishedOf(module)).code);
  return new Set([...names, ...files]);
}

/**
 * A compiled module as it is published.
 * @param {string} name below `dist/`
 * @param {string} code
 * @param {object} [inputMap] of the code to its source; the result then has a map of its own
 */
export async function published(name, code, inputMap) {
  const { parseSync } = await import("vite");
  return publishedOf(moduleOf(name, code, parseSync), inputMap);
}

async function publishedOf({ name, code, imports }, inputMap) {
  const { minify } = await import("vite");
  let text = code;
  for (const { specifier, start, end } of imports.toReversed()) {
    const path = relative(dirname(name), fileOf(specifier)).split(sep).join("/");
    text = `${text.slice(0, start)}"${path.startsWith(".") ? path : `./${path}`}"${text.slice(end)}`;
  }
  const result = await minify(name, text, {
    module: true,
    // Lines are counted by statements, which it would merge.
    compress: false,
    mangle: MANGLE,
    sourcemap: inputMap !== undefined,
    inputMap,
  });
  if (result.errors.length > 0) throw new Error(`${name} cannot be minified: ${result.errors[0].message}`);
  // Not every bundler takes a template for the name of a module, and what is imported by a variable is none of theirs.
  const written = result.code
    .replaceAll(/\bimport\(`([^`$\\]*)`\)/g, 'import("$1")')
    .replaceAll(/\bimport\((?=[\w$])/g, "import(/* webpackIgnore: true */ /* @vite-ignore */ ");
  return { ...result, code: written };
}

/** A module with its imports of packages that are bundled, in order. */
function moduleOf(name, compiled, parseSync) {
  // tsc's helpers ask `this` first, which is for scripts. In a module there is none, and bundlers warn of it.
  const code = compiled.replaceAll(/\(this && this\.__\w+\) \|\| /g, "");
  const { staticImports, staticExports, dynamicImports } = parseSync(name, code).module;
  const found = [
    ...staticImports.map(({ moduleRequest, entries }) => ({
      ...moduleRequest,
      names: entries.map(({ importName: { kind, name: own } }) => (kind === "Name" ? own : KINDS[kind])),
    })),
    ...staticExports.flatMap(({ entries }) => {
      const [request] = entries.flatMap(({ moduleRequest }) => (moduleRequest ? [moduleRequest] : []));
      const names = entries.map(({ importName: { kind, name: own } }) => (kind === "Name" ? own : "*"));
      return request ? [{ ...request, names }] : [];
    }),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      value: /^(["'`])(.*)\1$/.exec(code.slice(start, end))?.[2] ?? "./",
      start,
      end,
      names: ["*"],
    })),
  ];
  const imports = found
    .filter(({ value }) => isBundled(value))
    .map(({ value, start, end, names }) => ({ specifier: value, start, end, names }))
    .toSorted((a, b) => a.start - b.start);
  return { name, code, imports };
}

const KINDS = { Default: "default", NamespaceObject: "*" };

const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const INSTALLED = Object.keys({ ...dependencies, ...peerDependencies });

function isBundled(specifier) {
  if (/^[.#]/.test(specifier) || isBuiltin(specifier)) return false;
  return !isInstalled(specifier);
}

const isInstalled = (specifier) => INSTALLED.some((name) => specifier === name || specifier.startsWith(`${name}/`));

/** The file of a bundled package, below `dist/`. */
const fileOf = (specifier) => `${BUNDLED}/${specifier.replace(/^@/, "").replaceAll("/", "-")}.js`;

/** What all modules import, by package. */
function wanted(modules) {
  const names = new Map();
  for (const { specifier, names: some } of modules.flatMap(({ imports }) => imports)) {
    names.set(specifier, new Set([...(names.get(specifier) ?? []), ...some]));
  }
  return names;
}

/** Bundles packages, of each what is imported, with their licences. Gives the files, below `dist/`. */
async function bundlePackages(names) {
  const { esmExternalRequirePlugin } = await import("rolldown/plugins");
  const entries = new Map([...names].map(([specifier, some]) => [`\0${specifier}`, entryOf(specifier, some)]));
  const input = Object.fromEntries([...names.keys()].map((name) => [fileOf(name).slice(0, -3), `\0${name}`]));
  // Those for browsers run in Node too; ones that only Node has come without.
  const conditions = ["browser", "module", "import", "default"];
  const { output } = await bundle({
    configFile: false,
    logLevel: "error",
    root: viteRoot,
    plugins: [
      bundledClient(),
      {
        name: "sluice-bundled",
        resolveId: (id) => (entries.has(id) ? id : undefined),
        load: (id) => entries.get(id),
        transform: (code, id) => {
          const path = shortenId(id);
          if (path.endsWith("/zip.js/lib/core/codec-registry.js")) return withoutCodecs(code);
          if (path.endsWith(SERIALIZER)) return withFewNames(code);
          const changed = code.replaceAll(MODULE_URL, '({ href: "" })').replaceAll(REQUIRE_TEST, "true");
          return changed === code ? undefined : changed;
        },
      },
      // CommonJS that requires a module of Node imports it instead: `require` would bring `node:module` into every browser.
      esmExternalRequirePlugin({ external: builtinModules }),
    ],
    resolve: {
      preserveSymlinks: true,
      alias: [{ find: /^@modelcontextprotocol\/client\/_shims$/, replacement: join(viteRoot, "web/mcp-shims.ts") }],
    },
    ssr: { noExternal: true, resolve: { conditions } },
    build: {
      ssr: true,
      write: false,
      target: "es2022",
      license: { fileName: `${BUNDLED}/LICENSES.md` },
      rolldownOptions: {
        input,
        // What is bundled of OpenTelemetry has its own copy of the API: that of the host is optional.
        external: (id) => isInstalled(id) && id !== "@opentelemetry/api",
        preserveEntrySignatures: "strict",
        treeshake: { moduleSideEffects: "no-external", manualPureFunctions: ["z", "snappyUncompressor"] },
        output: {
          entryFileNames: "[name].js",
          chunkFileNames: `${BUNDLED}/parts/[name].js`,
          minify: { compress: true, mangle: MANGLE },
        },
      },
    },
  });
  for (const { fileName, code, source } of output) writeChanged(join(DIST, fileName), code ?? source);
  return output.map(({ fileName }) => fileName);
}

/** zip.js imports formats that an application names. Here none does, and bundlers warn of an import that they cannot follow. */
function withoutCodecs(code) {
  const changed = code.replace(/await import\([^)]*codecURI\)/, "undefined");
  if (changed === code) throw new Error("zip.js imports its codecs in another way: mend withoutCodecs.");
  return changed;
}

/** Where packages look for their modules of WebAssembly. They are handed over, and bundlers of users would look for them. */
const MODULE_URL = /new URL\((["'])[\w-]+\.wasm\1,\s*import\.meta\.url\)/g;

/** How CommonJS asks whether it may require. What is left of `require` brings `node:module` into every bundle. */
const REQUIRE_TEST = /typeof require === "function"/g;

const SERIALIZER = "node_modules/@opentelemetry/exporter-prometheus/build/src/PrometheusSerializer.js";

/** The serializer takes a few of a thousand names out of a package in CommonJS, of which a bundle would have all. */
async function withFewNames(code) {
  const all = await import("@opentelemetry/semantic-conventions");
  const names = [...code.matchAll(/semantic_conventions_1\.(\w+)/g)].map(([, name]) => name);
  const few = JSON.stringify(Object.fromEntries(names.map((name) => [name, all[name]])));
  const changed = code.replace('require("@opentelemetry/semantic-conventions")', few);
  if (changed === code || names.some((name) => all[name] === undefined)) {
    throw new Error("The serializer for Prometheus is made in another way: mend withFewNames.");
  }
  return changed;
}

function entryOf(specifier, names) {
  const from = `from ${JSON.stringify(specifier)};\n`;
  const named = [...names].filter((name) => name !== "*");
  return names.has("*")
    ? `export * ${from}${named.includes("default") ? `export { default } ${from}` : ""}`
    : `export { ${named.join(", ")} } ${from}`;
}

/** Names of all sources below a folder, without declarations. */
function sourcesOf(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => name.split(sep).join("/"))
    .filter((name) => /(?<!\.d)\.ts$/.test(name));
}

/** Writes a file unless it is that already: watchers and caches look at time stamps. */
export function writeChanged(path, content) {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(content))) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Takes away what is in `dist/` and not among these files. Files of the elements stay. */
export function pruneDist(files) {
  for (const entry of readdirSync(DIST, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(DIST, path).split(sep).join("/");
    if (entry.isFile() && !files.has(name) && !/^ui\/(?:parts\/[^/]+\.js|index\.js|LICENSES\.md)$/.test(name))
      rmSync(path);
  }
}

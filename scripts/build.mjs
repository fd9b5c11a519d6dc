/**
 * Builds the core as WebAssembly and the library as JavaScript: dist/, as it is published.
 * @module
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleBy } from "./bundle.mjs";
import { coreLicences } from "./core-licences.mjs";
import { DOCUMENT_MODULES, locateModule, writeModuleLicences } from "./document-modules.mjs";
import { readSchema, schemaModule, typesFile } from "./config-schema.mjs";
import { publishDeclarations, publishElementDeclarations } from "./declarations.mjs";
import { MANIFEST, readElements } from "./elements.mjs";
import { bundleProxy } from "./proxy-bundle.mjs";
import { pruneDist, publishLibrary, writeChanged } from "./library.mjs";
import { cores, must, root, tool } from "./run.mjs";
import { main, setup } from "./setup.mjs";
import { printSize } from "./size.mjs";

/** The schema as it is published. */
export const SCHEMA = join(root, "dist/config.schema.json");

/** Writes what the core says of MIME types as modules: few pages need more than one. */
function writeMediaTypes(folder) {
  const text = readFileSync(join(buildFolder("wasm-release"), "media-types.json"), "utf8");
  const { long, extensions, types } = JSON.parse(text);
  writeModule(folder, "core/media-types", `export const MEDIA_TYPES = ${JSON.stringify(long)};\n`);
  writeModule(folder, "core/extensions", `export const EXTENSIONS = ${JSON.stringify(extensions)};\n`);
  // For the viewer alone, which has no other way to tell a file without a type than its name.
  if (folder === "web/src") {
    const head = "/** Media types by extension, written by the build from the tables of the core. */\n";
    const typed = `export const MEDIA_TYPES: Readonly<Record<string, string>> = ${JSON.stringify(types)};\n`;
    writeChanged(join(root, "web/ui/viewer/media-types.ts"), head + typed);
  }
}

/** Writes the configuration's schema, its rules as a module, and its types. */
function writeConfig(folder) {
  const schema = readSchema(join(buildFolder("wasm-release"), "config.schema.json"));
  writeModule(folder, "config/schema", schemaModule(schema));
  if (folder === "dist") writeChanged(SCHEMA, `${JSON.stringify(schema, null, 2)}\n`);
  else writeChanged(join(root, folder, "config/types.ts"), typesFile(schema));
}

// The declarations are written by hand.
function writeModule(folder, name, text) {
  mkdirSync(dirname(join(root, folder, name)), { recursive: true });
  writeChanged(join(root, folder, `${name}.mjs`), text);
  const declarations = `${name}.d.mts`;
  writeChanged(join(root, folder, declarations), readFileSync(join(root, "web/src", declarations), "utf8"));
}

/** Where CMake builds a preset. */
export const buildFolder = (preset) => join(root, "build", preset);

/** What C++ becomes: each a glue, the module that it loads, and declarations that are written by hand. */
const MODULES = ["core", "contract", "facts", "pdf", "tables"];

/** What the build writes to `dist/` that is no compiled source. */
const GENERATED = [
  "config.schema.json",
  "custom-elements.json",
  "mcp/artifact-app/artifact-app.html",
  "mcp/artifact-app/LICENSES.md",
  "core/LICENSES.md",
  "documents/wasm/LICENSES.md",
  ...Object.keys(DOCUMENT_MODULES).map((name) => `documents/wasm/${name}.wasm`),
  ...MODULES.map((module) => `core/${module}.wasm`),
  ...[...MODULES.map((module) => `core/${module}`), "core/media-types", "core/extensions", "config/schema"].flatMap(
    (name) => [`${name}.mjs`, `${name}.d.mts`],
  ),
];

/** Brings targets of a preset up to date; Ninja does only what is needed. */
export async function buildNative(preset, targets = []) {
  const folder = buildFolder(preset);
  removeForeignCache(folder, root);
  if (!existsSync(join(folder, "build.ninja"))) await must("cmake", ["--preset", preset], { show: "failure" });
  await must("ninja", ["-C", folder, "-j", String(cores), ...targets], { env: { NINJA_STATUS: `${preset} [%f/%t] ` } });
}

/**
 * Deletes a build folder that CMake configured for another checkout, or at another place: one that was moved or copied. CMake would refuse
 * it, or compile that checkout's sources.
 * @param {string} folder
 * @param {string} checkout
 */
export function removeForeignCache(folder, checkout) {
  const cache = join(folder, "CMakeCache.txt");
  if (!existsSync(cache)) return;
  const text = readFileSync(cache, "utf8");
  const isAt = (name, place) => {
    const [, path = ""] = new RegExp(`^${name}:INTERNAL=(.*)$`, "m").exec(text) ?? [];
    return existsSync(path) && realpathSync(path) === realpathSync(place);
  };
  if (isAt("CMAKE_HOME_DIRECTORY", checkout) && isAt("CMAKE_CACHEFILE_DIR", folder)) return;
  console.log(`build: ${relative(checkout, folder)} was configured in another folder, and is made anew`);
  rmSync(folder, { recursive: true });
}

/** Brings dist/ up to date. */
export async function build() {
  await buildNative("wasm-release", [
    "sluice_wasm",
    "sluice_contract",
    "sluice_facts_wasm",
    "sluice_pdf_wasm",
    "sluice_table_query",
    "config_schema",
  ]);
  await Promise.all(MODULES.map(minifyGlue));
  // Beside its sources too, so that tests and the playground can import what is not yet compiled.
  for (const folder of ["web/src", "dist"]) {
    for (const module of MODULES) copyModule(module, join(root, folder, "core"));
    writeConfig(folder);
    writeMediaTypes(folder);
    copyDocumentModules(join(root, folder, "documents/wasm"));
  }
  writeChanged(join(root, "dist/core/LICENSES.md"), await coreLicences());
  await Promise.all(
    ["tsconfig.build.json", "tsconfig.declarations.json"].map((project) =>
      must(process.execPath, [tool("tsc"), "-p", project]),
    ),
  );
  const files = [...(await publishLibrary()), ...(await publishDeclarations()), ...(await buildElements())];
  await buildApp();
  pruneDist(new Set([...files, ...GENERATED, ...(await buildProxy())]));
  linkCommand();
  printSize();
}

async function buildProxy() {
  const files = await bundleProxy();
  for (const { name, code } of files) writeChanged(join(root, "dist", name), code);
  return files.map(({ name }) => name);
}

// The elements see the library as its users do, so it has to be there first.
async function buildElements() {
  const folder = join(root, "dist/ui");
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (name === "parts" || name.endsWith(".js")) rmSync(join(folder, name), { recursive: true });
  }
  await Promise.all([
    bundleBy("web/ui/vite.config.ts"),
    must(process.execPath, [tool("tsc"), "-p", "tsconfig.ui.json"]),
  ]);
  writeChanged(join(root, MANIFEST), `${JSON.stringify(await readElements(), null, 2)}\n`);
  return publishElementDeclarations();
}

// The app is one page with its script in it: hosts load a resource, and let it fetch nothing.
async function buildApp() {
  const [{ output }] = await bundleBy("web/ui/app/vite.config.ts");
  const code = output.find(({ type }) => type === "chunk").code;
  const licences = output.find(({ fileName }) => fileName === "LICENSES.md").source;
  // What would end the element, or begin a comment in it, is written otherwise; in strings and expressions it means the same.
  const script = code.replaceAll(/<(?=\/script|!--)/gi, "\\x3c");
  const template = readFileSync(join(root, "web/ui/app/app.html"), "utf8");
  const page = template.replace("<script></script>", () => `<script>${script}</script>`);
  for (const folder of ["web/src", "dist"]) {
    writeChanged(join(root, folder, "mcp/artifact-app/artifact-app.html"), page);
  }
  writeChanged(join(root, "dist/mcp/artifact-app/LICENSES.md"), licences);
}

const glueOf = (module) => join(buildFolder("wasm-release"), `${module}.min.mjs`);

// Emscripten writes its glue for people to read. Vite is loaded only when there is something to do.
async function minifyGlue(module) {
  const [from, to] = [join(buildFolder("wasm-release"), `${module}.mjs`), glueOf(module)];
  if (existsSync(to) && statSync(to).mtimeMs >= statSync(from).mtimeMs) return;
  const { minify } = await import("vite");
  const { code, errors } = await minify(`${module}.mjs`, readFileSync(from, "utf8"), { module: true });
  if (errors.length > 0) throw new Error(`${module}.mjs cannot be minified: ${errors[0].message}`);
  writeFileSync(to, code);
}

// The declarations are written by hand, and tsc copies none.
function copyModule(module, folder) {
  mkdirSync(folder, { recursive: true });
  copyChanged(glueOf(module), join(folder, `${module}.mjs`));
  copyChanged(join(buildFolder("wasm-release"), `${module}.wasm`), join(folder, `${module}.wasm`));
  copyChanged(join(root, `web/src/core/${module}.d.mts`), join(folder, `${module}.d.mts`));
}

/** The modules that read documents, as the packages have them. */
function copyDocumentModules(folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of Object.keys(DOCUMENT_MODULES)) {
    const path = join(folder, `${name}.wasm`);
    copyChanged(locateModule(name), path);
    // Packages have some as programs.
    chmodSync(path, 0o644);
  }
  writeChanged(join(folder, "LICENSES.md"), writeModuleLicences());
}

// Unchanged files keep their time stamps: watchers and caches look at them.
function copyChanged(from, to) {
  if (from === to || (existsSync(to) && readFileSync(from).equals(readFileSync(to)))) return;
  copyFileSync(from, to);
}

// npm links the commands of dependencies only: this makes `npx --no-install sluice` work in the checkout.
function linkCommand() {
  const command = join(root, "dist/cli/main.js");
  chmodSync(command, 0o755);
  const link = tool("sluice");
  if (!existsSync(link)) {
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(link), command), link);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    await setup("build");
    await build();
  });
}

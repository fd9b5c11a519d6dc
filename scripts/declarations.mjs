/**
 * The types as they are published: of each entry what it exports, with everything that this names, and of no package that
 * users do not have.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { shortenId } from "./module-paths.mjs";
import { root } from "./run.mjs";
import { writeChanged } from "./library.mjs";

/** Where tsc writes the declarations of all modules, and those of the elements. */
export const DECLARATIONS = join(root, "build/declarations");
const ELEMENTS = join(root, "build/declarations-ui");

const { exports, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Paths below `dist/` of the declarations of all entries. */
const ENTRIES = Object.values(exports)
  .flatMap(({ types, node }) => [types, node?.types].filter(Boolean))
  .map((path) => path.replace("./dist/", ""));

/** Publishes the types of the library. Gives their files, below `dist/`. */
export function publishDeclarations() {
  const names = ENTRIES.filter((name) => !name.startsWith("ui/"));
  return publish(DECLARATIONS, "types", Object.fromEntries(names.map((name) => [name.slice(0, -5), name])));
}

/** Publishes those of the elements. They name the library, which has to be there. */
export function publishElementDeclarations() {
  const names = ENTRIES.filter((name) => name.startsWith("ui/"));
  return publish(
    ELEMENTS,
    "ui/types",
    Object.fromEntries(names.map((name) => [name.slice(0, -5), name.replace("ui/", "")])),
  );
}

/** Publishes declarations in a folder; what several entries name is in files of its own, in `shared`. */
async function publish(folder, shared, entries) {
  const { rolldown } = await import("rolldown");
  const { dts } = await import("rolldown-plugin-dts");
  const input = Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(folder, path)]));
  const bundle = await rolldown({
    input,
    cwd: root,
    checks: { pluginTimings: false },
    experimental: { attachDebugInfo: "none" },
    external: isInstalled,
    plugins: [handWritten, uncommented, dts({ dtsInput: true, sourcemap: false, tsconfig: false })],
  });
  const { output } = await bundle.generate({ format: "es", chunkFileNames: `${shared}/[name].js` });
  await bundle.close();
  for (const { fileName, code } of output) {
    const from = entries[fileName.slice(0, -5)];
    writeChanged(
      join(root, "dist", fileName),
      `${LIBRARIES}${from === undefined ? "" : aboutOf(join(folder, from))}${code}`,
    );
  }
  return output.map(({ fileName }) => fileName);
}

const isInstalled = (name) => /^(?:mcp-sluice|react|svelte|vue)(?:\/|$)/.test(name) || name in peerDependencies;

/** What else the types of the language need: `Symbol.asyncDispose`. */
const LIBRARIES = '/// <reference lib="esnext.disposable" preserve="true" />\n';

/** What an entry says of itself, which belongs to none of its statements. */
function aboutOf(path) {
  return /^(?:\/\/\/.*\n)*(\/\*\*[^]*?\*\/\n)/.exec(readFileSync(path, "utf8"))?.[1] ?? "";
}

/** Of what others declare only the types: their comments are longer. */
const uncommented = {
  name: "sluice-uncommented",
  transform: (code, id) =>
    /(?:^|\/)node_modules\//.test(shortenId(id)) ? code.replaceAll(/\/\*[^]*?\*\//g, "") : undefined,
};

/** What tsc copies no declarations of: the modules that the build writes. */
const handWritten = {
  name: "sluice-hand-written",
  resolveId(id, from) {
    if (!id.endsWith(".mjs") || !from?.startsWith(DECLARATIONS)) return undefined;
    return join(root, "web/src", from.slice(DECLARATIONS.length), "..", id.replace(/mjs$/, "d.mts"));
  },
};

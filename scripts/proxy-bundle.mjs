/**
 * The modules of `sluice proxy`, in few files: hosts wait for it, and Node takes most of a start to find and link a hundred modules. They
 * are what is published beside them, so that a program has one copy of each: `cli/main.ts` loads these or those.
 * @module
 */
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { bundle } from "./bundle.mjs";
import { shortenId, viteRoot } from "./module-paths.mjs";
import { root } from "./run.mjs";

const DIST = join(viteRoot, "dist");

/** Where they are, below `dist/`. */
const FOLDER = "bundled/proxy";

/** An installed package that is bundled all the same: every message is parsed by it. */
const INLINED = "@humanwhocodes/momoa";

/** What loads when it is asked for, and for a start never: other commands, and servers that listen or are at an address. */
const OTHERS = /^(?:server|cli\/(?!program\.js|proxy\/(?:proxy|stdio|interceptors)\.js))/;

/** What starts the server. */
const START = /^dist\/(?:cli\/(?:program|proxy\/proxy)|.*server-output)\.js$/;

/**
 * Bundles what is in `dist/`.
 * @returns {Promise<{ name: string, code: string }[]>} files below `dist/`
 */
export async function bundleProxy() {
  const { dependencies, peerDependencies, imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  // Finding a package takes as long as ten modules.
  const installed = Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => name !== INLINED);
  const { output } = await bundle({
    configFile: false,
    logLevel: "error",
    root: viteRoot,
    resolve: { preserveSymlinks: true },
    plugins: [
      {
        name: "sluice-proxy",
        enforce: "pre",
        resolveId: (specifier, importer, { kind }) => {
          const [first] = specifier;
          if (importer === undefined || (first !== "." && first !== "#")) return undefined;
          const path = first === "#" ? join(viteRoot, imports[specifier].node) : resolve(dirname(importer), specifier);
          const name = relative(DIST, path).split(sep).join("/");
          const isLater = kind === "dynamic-import" && OTHERS.test(name);
          if (isLater || name.startsWith("bundled/")) return { id: `../../${name}`, external: "relative" };
          return path;
        },
        // What a module has beside it is still beside its other copy.
        transform: (code, id) => {
          const name = relative(DIST, id).split(sep).join("/");
          return code.replaceAll("import.meta.url", `new URL("../../${name}", import.meta.url).href`);
        },
      },
    ],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      write: false,
      target: "es2022",
      license: { fileName: `${FOLDER}/LICENSES.md` },
      rolldownOptions: {
        input: { program: join(DIST, "cli/program.js") },
        external: (specifier) => installed.some((name) => specifier === name || specifier.startsWith(`${name}/`)),
        output: {
          entryFileNames: `${FOLDER}/[name].js`,
          chunkFileNames: `${FOLDER}/[name].js`,
          // Two files: what starts the server, and what loads meanwhile.
          codeSplitting: {
            groups: [
              { name: "start", test: (id) => START.test(shortenId(id)), priority: 2 },
              { name: "gate", test: (id) => shortenId(id) === "dist/cli/proxy/interceptors.js", priority: 1 },
            ],
          },
          minify: { compress: true, mangle: true },
        },
      },
    },
  });
  return output.map(({ fileName, code, source }) => ({ name: fileName, code: code ?? source }));
}

/**
 * Bundles the page, or the worker, that tries the package: `node bundlers.mjs NAME APP`. The result is in
 * `APP/built/NAME/dist`. A warning is a failure.
 * @module
 */
import { copyFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

const [name, app] = process.argv.slice(2);
const root = join(app, "runtimes/web");
const page = join(root, "page.js");
const dist = join(app, "built", name, "dist");
const core = join(app, "node_modules/mcp-sluice/dist/core/core.wasm");
const documents = join(app, "node_modules/mcp-sluice/dist/documents");
const queries = join(app, "node_modules/mcp-sluice/dist/query/worker-web.js");

/** The modules that a worker of Cloudflare's imports. */
const MODULES = [
  "core.wasm",
  "facts.wasm",
  "tables.wasm",
  ...["pdfium", "png", "jpeg-encoder"].map((module) => `documents/${module}.wasm`),
];

/** What a bundler that knows nothing of `new URL("./core.wasm", import.meta.url)` leaves to its user. */
async function copied() {
  await copyFile(join(root, "index.html"), join(dist, "index.html"));
  for (const module of ["core", "facts", "pdf", "tables"]) {
    await copyFile(join(core, `../${module}.wasm`), join(dist, `${module}.wasm`));
  }
  await mkdir(join(dist, "wasm"), { recursive: true });
  await copyFile(join(documents, "wasm/pdfium.wasm"), join(dist, "wasm/pdfium.wasm"));
}

function refuse(message) {
  // Rollup's remarks on comments and circles of zod are not ours to mend.
  if (message.includes("node_modules/zod/")) return;
  console.error(message);
  process.exit(1);
}

const vite = async () => {
  const { build, createLogger } = await import(name);
  const options = { outDir: dist, emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 10_000 };
  const customLogger = { ...createLogger("warn"), warn: refuse, warnOnce: refuse, error: refuse };
  await build({ root, configFile: false, customLogger, build: options });
};

const bundlers = {
  "vite-7": vite,
  "vite-8": vite,
  async webpack() {
    const { default: webpack } = await import("webpack");
    const compiler = webpack({
      mode: "production",
      context: app,
      entry: page,
      output: { path: dist, filename: "page.js" },
      // Which chunks are large is known.
      performance: false,
    });
    await new Promise((resolve, reject) => {
      compiler.run((error, stats) => {
        const text = error?.message ?? stats.toString("errors-warnings");
        if (error || stats.hasErrors() || stats.hasWarnings()) reject(new Error(text));
        else compiler.close(resolve);
      });
    });
    await copyFile(join(root, "index.html"), join(dist, "index.html"));
  },
  async esbuild() {
    const { build } = await import("esbuild");
    const options = { bundle: true, splitting: true, format: "esm", outdir: dist };
    const { warnings } = await build({
      ...options,
      entryPoints: [page, { in: join(documents, "worker.js"), out: "worker" }, { in: queries, out: "worker-web" }],
    });
    for (const { text } of warnings) refuse(text);
    await copied();
  },
  async rollup() {
    const { rollup } = await import("rollup");
    const { nodeResolve } = await import("@rollup/plugin-node-resolve");
    const plugins = [nodeResolve({ browser: true })];
    const input = { page, worker: join(documents, "worker.js"), "worker-web": queries };
    const bundle = await rollup({ input, plugins, onLog: (_, { message }) => refuse(message) });
    await bundle.write({ dir: dist, format: "es" });
    await copied();
  },
  async workerd() {
    const { build } = await import("esbuild");
    await build({
      entryPoints: [join(app, "runtimes/workerd.js")],
      bundle: true,
      format: "esm",
      // As Wrangler does.
      conditions: ["workerd", "worker", "browser"],
      outfile: join(dist, "worker.js"),
      alias: Object.fromEntries(MODULES.map((path) => [`mcp-sluice/${path}`, `./${basename(path)}`])),
      external: MODULES.map((path) => `./${basename(path)}`),
    });
    const { resolve } = createRequire(join(app, "runtimes/workerd.js"));
    for (const path of MODULES) await copyFile(resolve(`mcp-sluice/${path}`), join(dist, basename(path)));
  },
};

await mkdir(dist, { recursive: true });
await bundlers[name]();

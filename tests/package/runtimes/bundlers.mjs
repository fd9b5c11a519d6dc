/**
 * Bundles the page, or the worker, that tries the package: `node bundlers.mjs NAME APP`. The result is in
 * `APP/built/NAME/dist`.
 * @module
 */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";

const [name, app] = process.argv.slice(2);
const root = join(app, "runtimes/web");
const page = join(root, "page.js");
const dist = join(app, "built", name, "dist");
const core = join(app, "node_modules/mcp-sluice/dist/core/core.wasm");

/** What a bundler that knows nothing of `new URL("./core.wasm", import.meta.url)` leaves to its user. */
async function copied() {
  await copyFile(join(root, "index.html"), join(dist, "index.html"));
  await copyFile(core, join(dist, "core.wasm"));
}

const vite = async () => {
  const { build } = await import(name);
  const options = { outDir: dist, emptyOutDir: true, target: "es2022" };
  await build({ root, configFile: false, logLevel: "warn", build: options });
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
    });
    await new Promise((resolve, reject) => {
      compiler.run((error, stats) => {
        if (error ?? stats.hasErrors()) reject(error ?? new Error(stats.toString("errors-only")));
        else compiler.close(resolve);
      });
    });
    await copyFile(join(root, "index.html"), join(dist, "index.html"));
  },
  async esbuild() {
    const { build } = await import("esbuild");
    await build({ entryPoints: [page], bundle: true, splitting: true, format: "esm", outdir: dist });
    await copied();
  },
  async rollup() {
    const { rollup } = await import("rollup");
    const { nodeResolve } = await import("@rollup/plugin-node-resolve");
    const bundle = await rollup({ input: page, plugins: [nodeResolve({ browser: true })] });
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
      alias: { "mcp-sluice/core.wasm": "./core.wasm" },
      external: ["./core.wasm"],
    });
    await copyFile(core, join(dist, "core.wasm"));
  },
};

await mkdir(dist, { recursive: true });
await bundlers[name]();

/**
 * Vite as every build calls it.
 * @module
 */
import { join } from "node:path";
import { viteRoot } from "./module-paths.mjs";

/**
 * Bundles for those who visit and install, whatever `NODE_ENV` says here.
 * @param {import("vite").InlineConfig} config
 */
export async function bundle(config) {
  const { build } = await import("vite");
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = "production";
  try {
    return await build(config);
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
}

/**
 * The same by a configuration in a file.
 * @param {string} path from the checkout
 * @param {import("vite").InlineConfig} [config] what it lacks
 */
export function bundleBy(path, config = {}) {
  return bundle({ configFile: join(viteRoot, path), logLevel: "warn", ...config });
}

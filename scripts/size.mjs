/**
 * What the package weighs as it travels, and what it may weigh.
 * @module
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./run.mjs";

const DIST = join(root, "dist");

/**
 * Bytes, gzipped, at most. Each entry is its JavaScript bundled and minified with all it reaches: the root entry as a
 * page loads it, glue included and core.wasm not; the others as Node would, without what is installed beside the package.
 */
export const BUDGETS = {
  core: 150_000,
  contract: 24_000,
  "mcp-sluice": 54_000,
  "mcp-sluice/mcp": 83_000,
  "mcp-sluice/browser": 67_500,
  "mcp-sluice/node": 100_700,
  "mcp-sluice/tools": 265_000,
  "mcp-sluice/tools in Node": 335_000,
  "mcp-sluice/planner": 125_000,
  "mcp-sluice/planner/redis": 9_000,
  "mcp-sluice/s3": 17_800,
  "mcp-sluice/files": 50_000,
  "mcp-sluice/serve": 430_000,
  "mcp-sluice/serve/redis": 33_600,
  sluice: 675_000,
  // Of it 200 KB are the page that hosts with MCP Apps show: it must be one file, so it has its own copies of what it is made of.
  tarball: 1_250_000,
};

/** Installed by whoever wants it. */
const OUTSIDE = ["@redis/client", "@aws-sdk/client-s3", "@aws-sdk/s3-request-presigner"];

/** Prints the size of the core that was built; throws when it is over the limit. */
export function checkSize() {
  const total = coreSize();
  const parts = moduleParts("core").map((size) => `${size.name} ${kilo(size.plain)} (${kilo(size.gzipped)} gzipped)`);
  console.log(`size: ${parts.join(", ")}; ${kilo(total)} gzipped of ${kilo(BUDGETS.core)} allowed`);
  if (total >= BUDGETS.core) throw new Error(`The core is ${total} bytes gzipped, and ${BUDGETS.core} are allowed.`);
}

/**
 * Gzipped bytes of everything in `BUDGETS`, of a tarball and the folder that it was installed to.
 * @param {string} tarball
 * @param {string} folder
 * @returns {Promise<Record<keyof typeof BUDGETS, number>>}
 */
export async function measure(tarball, folder) {
  const dist = join(folder, "dist");
  return {
    core: coreSize(dist),
    contract: moduleSize("contract", dist),
    "mcp-sluice": await bundled(join(dist, "index.js"), {}),
    "mcp-sluice/mcp": await bundled(join(dist, "mcp.js"), {}),
    "mcp-sluice/browser": await bundled(join(dist, "browser.js"), {}),
    "mcp-sluice/node": await bundled(join(dist, "node.js"), { ssr: true }),
    "mcp-sluice/tools": await bundled(join(dist, "tools.js"), {}),
    "mcp-sluice/tools in Node": await bundled(join(dist, "tools-node.js"), { ssr: true }),
    "mcp-sluice/planner": await bundled(join(dist, "planner.js"), {}),
    "mcp-sluice/planner/redis": await bundled(join(dist, "planner-redis.js"), { ssr: true }),
    "mcp-sluice/s3": await bundled(join(dist, "s3.js"), { ssr: true }),
    "mcp-sluice/files": await bundled(join(dist, "files.js"), {}),
    "mcp-sluice/serve": await bundled(join(dist, "serve.js"), { ssr: true }),
    "mcp-sluice/serve/redis": await bundled(join(dist, "serve-redis.js"), { ssr: true }),
    sluice: await bundled(join(dist, "cli/main.js"), { ssr: true }),
    tarball: statSync(tarball).size,
  };
}

/** Gzipped bytes of core.wasm and core.mjs together. */
export function coreSize(dist = DIST) {
  return moduleSize("core", dist);
}

function moduleSize(name, dist) {
  return moduleParts(name, dist).reduce((sum, part) => sum + part.gzipped, 0);
}

function moduleParts(module, dist = DIST) {
  return [`${module}.wasm`, `${module}.mjs`].map((name) => {
    const bytes = readFileSync(join(dist, "core", name));
    return { name, plain: bytes.length, gzipped: gzipped(bytes) };
  });
}

async function bundled(input, { ssr = false }) {
  const { build } = await import("vite");
  const { output } = await build({
    configFile: false,
    logLevel: "error",
    root: join(input, ".."),
    ssr: { noExternal: true },
    build: {
      ssr,
      write: false,
      minify: true,
      rolldownOptions: { input, preserveEntrySignatures: "strict", external: OUTSIDE },
    },
  });
  return output.reduce((sum, part) => sum + (part.type === "chunk" ? gzipped(part.code) : 0), 0);
}

/** Bytes as kilobytes of 1000. */
export const kilo = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;

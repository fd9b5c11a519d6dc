/**
 * The size of the core as it travels to a browser.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./run.mjs";

/** Bytes of core.wasm and core.mjs together, gzipped, at most. */
export const LIMIT = 120_000;

/** Prints the size; throws when it is over the limit. */
export function checkSize() {
  const sizes = ["core.wasm", "core.mjs"].map((name) => {
    const bytes = readFileSync(join(root, "dist/core", name));
    return { name, plain: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length };
  });
  const total = sizes.reduce((sum, { gzipped }) => sum + gzipped, 0);
  const parts = sizes.map(({ name, plain, gzipped }) => `${name} ${kilo(plain)} (${kilo(gzipped)} gzipped)`);
  console.log(`size: ${parts.join(", ")}; ${kilo(total)} gzipped of ${kilo(LIMIT)} allowed`);
  if (total >= LIMIT) throw new Error(`The core is ${total} bytes gzipped, and ${LIMIT} are allowed.`);
}

const kilo = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

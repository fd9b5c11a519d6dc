/**
 * What a browser has to fetch.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../run.mjs";
import { LIMIT } from "../size.mjs";

/** Bytes of module and glue, gzipped. */
export function size() {
  const gzipped = ["core.wasm", "core.mjs"]
    .map((name) => gzipSync(readFileSync(join(root, "dist/core", name)), { level: 9 }).length)
    .reduce((sum, bytes) => sum + bytes, 0);
  return {
    seen: `${(gzipped / 1000).toFixed(1)} KB gzipped`,
    bar: `< ${LIMIT / 1000} KB`,
    met: gzipped < LIMIT,
    gzipped,
  };
}

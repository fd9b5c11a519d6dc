/**
 * The package by its own name, for what is made of it: as it was built, and nothing that is not public.
 * @module
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Alias } from "vite";

const home = new URL("../", import.meta.url);

/** Aliases for all entries. */
export function published(): Alias[] {
  const { exports } = JSON.parse(readFileSync(new URL("package.json", home), "utf8")) as {
    exports: Record<string, { default?: string }>;
  };
  return Object.entries(exports)
    .filter(([, { default: file }]) => file?.endsWith(".js") === true)
    .map(([name, { default: file = "" }]) => ({
      find: new RegExp(`^mcp-sluice${name.slice(1)}$`),
      replacement: fileURLToPath(new URL(file, home)),
    }));
}

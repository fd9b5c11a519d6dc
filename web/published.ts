/**
 * The package by its own name, for what is made of it: as it was built, and nothing that is not public.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Alias } from "vite";
import { viteRoot } from "../scripts/module-paths.mjs";

/** Aliases for all entries. */
export function listPublished(): Alias[] {
  const { exports } = JSON.parse(readFileSync(join(viteRoot, "package.json"), "utf8")) as {
    exports: Record<string, { default?: string }>;
  };
  return Object.entries(exports)
    .filter(([, { default: file }]) => file?.endsWith(".js") === true)
    .map(([name, { default: file = "" }]) => ({
      find: new RegExp(`^mcp-sluice${name.slice(1)}$`),
      replacement: join(viteRoot, file),
    }));
}

/**
 * The page of the app in Node: a file beside this one.
 * @module
 */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

let page: Promise<string | undefined> | undefined;

/** The HTML, read once. Undefined where a bundler left the file behind. */
export function readPage(): Promise<string | undefined> {
  // Not `new URL(…, import.meta.url)`: bundlers would make an asset of it.
  return (page ??= readFile(join(dirname(fileURLToPath(import.meta.url)), "artifact-app.html"), "utf8").catch(
    () => undefined,
  ));
}

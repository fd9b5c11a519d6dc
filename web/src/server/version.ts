/**
 * The version of this package, as it is installed.
 * @module
 */
import { readFile } from "node:fs/promises";

/** The version in the nearest `package.json` above this file. */
export async function version(): Promise<string> {
  for (let folder = new URL(".", import.meta.url); ; folder = new URL("..", folder)) {
    const text = await readFile(new URL("package.json", folder), "utf8").catch(() => undefined);
    if (text !== undefined) return String((JSON.parse(text) as { version?: unknown }).version);
    if (folder.pathname === "/" || folder.pathname === new URL("..", folder).pathname) return "unknown";
  }
}

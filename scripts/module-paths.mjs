/**
 * Where the modules of a build lie. A folder above the checkout may have any name, so a build asks its patterns of paths from the
 * checkout, never of a bundler's ids.
 * @module
 */
import { createHash } from "node:crypto";
import { lstatSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import { root } from "./run.mjs";

/**
 * The checkout as Vite has to see it, with `resolve.preserveSymlinks`: Vite cuts a path at its first `#`, so a checkout with one in its
 * path is seen through a link that has none.
 */
export const viteRoot = root.includes("#") ? linkFolder(root) : root;

/**
 * A module's id as a path from the checkout, with forward slashes and without a query. What is no path stays as it is.
 * @param {string} id
 * @returns {string}
 */
export function shortenId(id) {
  const path = id.replace(/^\0/, "");
  if (!isAbsolute(path)) return path;
  const from = [root, viteRoot].find((folder) => path.startsWith(folder)) ?? root;
  return relative(from, path).split(sep).join("/").replace(/\?.*$/, "");
}

/** A link to a folder, the same one each time. */
function linkFolder(folder) {
  const link = join(tmpdir(), `sluice-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`);
  try {
    symlinkSync(folder, link, "junction");
  } catch (error) {
    // The folder for temporary files is everybody's: whoever owns a link can let it lead elsewhere later.
    const isOurs = error.code === "EEXIST" && lstatSync(link).uid === (process.getuid?.() ?? lstatSync(link).uid);
    if (!isOurs || realpathSync(link) !== realpathSync(folder)) {
      throw new Error(`${link} has to be a link to ${folder}: delete it, then run this again.`, { cause: error });
    }
  }
  return link;
}

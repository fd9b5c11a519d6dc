/**
 * The versions of Node that the package is for, each as a program; npm brings them.
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { NPM_QUIET, ROOT, run } from "./run.js";

/** The first that `engines` allows, and one of each later line with long-term support. */
export const NODE_VERSIONS = ["20.19.0", "22.23.3", "24.21.0"] as const;

/** The folder with that version's `node` in it, kept between runs in the build folder. */
export async function nodeFolder(version: string): Promise<string> {
  const folder = join(ROOT, "build", "node", version);
  if (!existsSync(folder)) await install(version, folder);
  return join(folder, "node_modules", "node", "bin");
}

/** It appears under its name when it is complete, so a run that was stopped leaves nothing half-done. */
async function install(version: string, folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  // The `node` package fetches the program for this machine by a script, which npm may want allowed.
  await writeFile(join(unfinished, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  await run("npm", ["install", ...NPM_QUIET, `node@${version}`], { cwd: unfinished });
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
}

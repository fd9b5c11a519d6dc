/**
 * The command that hosts start: an installed one, by its absolute path. Hosts do not see the `PATH` of a terminal, and what
 * npx fetched is gone some day.
 * @module
 */
import { access, realpath } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError, Exit } from "../exit.js";

/** Folders of package managers whose content may be deleted at any time. */
const PASSING = /[\\/](?:_npx|dlx-[^\\/]*|dlx|bunx-[^\\/]*|xfs-[^\\/]*)[\\/]/;

/**
 * The words of the command, up to its first argument: Node and the main file of this installation or, if this one is of a cache,
 * of the one in the PATH.
 *
 * @param main the main file of this installation.
 * @throws CommandError 66 if Sluice is not installed.
 */
export async function findProgram(
  env: NodeJS.ProcessEnv,
  main: string = fileURLToPath(new URL("../main.js", import.meta.url)),
): Promise<readonly string[]> {
  for (const candidate of [main, ...commandsOnPath(env)]) {
    const file = await findMainFile(candidate);
    if (file !== undefined && !PASSING.test(file)) return [process.execPath, file];
  }
  throw new CommandError(
    Exit.input,
    "sluice runs from a cache, which may be emptied, so hosts cannot start it there: install it with `npm install -g mcp-sluice`, then run `sluice install` again",
  );
}

/** `sluice` in each folder of the PATH. */
function commandsOnPath(env: NodeJS.ProcessEnv): readonly string[] {
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, "sluice"));
}

/** The main file behind a command; undefined if there is none. */
async function findMainFile(command: string): Promise<string | undefined> {
  // On Windows the command is a script, and the package is beside it.
  const beside = join(dirname(command), "node_modules", "mcp-sluice", "dist", "cli", "main.js");
  for (const path of [command, ...(process.platform === "win32" ? [beside] : [])]) {
    const file = await realpath(path).catch(() => undefined);
    if (file !== undefined && /[\\/]cli[\\/]main\.js$/.test(file) && (await isThere(file))) return file;
  }
  return undefined;
}

/** Whether a file is there. */
export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Whether there is a program, looked for where starting it would look.
 * @module
 */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { platform } from "node:process";

/** Folders that are looked through. */
const MAX_FOLDERS = 1000;

/** A program without the folders that it is in. */
export function programName(program: string): string {
  return program.split(/[/\\]/).pop() ?? "";
}

/**
 * Whether a command can begin with a program: one on the `PATH` of its environment, or the file of a path. True also where
 * nobody can tell.
 */
export async function isProgram(program: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  const isPath = platform === "win32" ? /[/\\:]/.test(program) : program.includes("/");
  const folders = isPath ? [""] : pathOf(env)?.split(delimiter).slice(0, MAX_FOLDERS);
  if (folders === undefined) return true;
  const endings = platform === "win32" ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT;.COM").split(";")] : [""];
  for (const folder of folders) {
    for (const ending of endings) {
      // An empty folder is the one that we are in.
      if (await mayBeRun(folder === "" ? `${program}${ending}` : join(folder, `${program}${ending}`))) return true;
    }
  }
  return false;
}

function pathOf(env: Readonly<Record<string, string>>): string | undefined {
  if (platform !== "win32") return env["PATH"];
  return Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1];
}

async function mayBeRun(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

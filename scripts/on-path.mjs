/**
 * Programs that are installed on this machine.
 * @module
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The file that a program's name stands for, or nothing. Looks at the file system only. */
export function findOnPath(name) {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isProgram);
}

/** Whether a file is there and may be run. */
export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

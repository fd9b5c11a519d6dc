/**
 * Loaded before a command, makes the disk under its store fail or slow: `SUITE_FAULTS` names a file that says at the moment
 * `write`, `read`, `slow` or nothing, `SUITE_STORE` the folder that it holds for.
 * @module
 */
import { constants, readFileSync } from "node:fs";
import disk from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const { SUITE_FAULTS: said, SUITE_STORE: folder } = process.env;

function failure(code) {
  return Object.assign(new Error(`${code}: the test says so`), { code });
}

/** Fails, or waits, or does nothing. */
async function before(act, path) {
  if (!String(path).startsWith(folder)) return;
  const fault = readFileSync(said, "utf8");
  if (fault === "write" && act === "write") throw failure("ENOSPC");
  if (fault === "read" && act === "read") throw failure("EIO");
  if (fault === "slow") await sleep(3);
}

function isForReading(flags) {
  if (typeof flags === "number") return (flags & (constants.O_WRONLY | constants.O_RDWR)) === 0;
  return flags === undefined || flags === "r";
}

if (said !== undefined && folder !== undefined) {
  const { open, writeFile, rename } = disk;
  disk.open = async (path, flags, mode) => {
    await before(isForReading(flags) ? "read" : "write", path);
    return open(path, flags, mode);
  };
  disk.writeFile = async (path, ...rest) => {
    await before("write", path);
    return writeFile(path, ...rest);
  };
  disk.rename = async (from, to) => {
    await before("write", to);
    return rename(from, to);
  };
  syncBuiltinESMExports();
}

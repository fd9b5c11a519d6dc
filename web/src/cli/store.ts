/**
 * The store a command works on.
 * @module
 */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { ArtifactStore } from "../artifacts/store.js";
import { FileArtifactStore } from "../artifacts/file/file-store.js";
import { MemoryArtifactStore } from "../artifacts/memory.js";
import { CommandError, Exit, UsageError } from "./exit.js";
import { printable } from "./words.js";

/** Opens `--store` to put artifacts into: a folder, or `memory` where nothing needs to be kept. */
export function openStore(where: string | undefined): ArtifactStore {
  return where === "memory" ? new MemoryArtifactStore() : new FileArtifactStore(storeFolder(where));
}

/** Opens `--store` to look at what earlier commands put there. A folder that is not there yet is an empty store. */
export async function openKeptStore(where: string | undefined): Promise<FileArtifactStore> {
  if (where === "memory") throw new UsageError("a memory store is gone when its command ends; give --store DIR");
  const folder = storeFolder(where);
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined || found.isDirectory()) return new FileArtifactStore(folder);
  throw new CommandError(Exit.read, `${printable(folder)} is a file; a store is a folder`);
}

/** The folder that `--store` names, absolute. */
export function storeFolder(where: string | undefined): string {
  return resolve(where ?? defaultFolder(process.env, process.platform, homedir()));
}

/** `sluice` in the folder where the system keeps caches. A relative XDG_CACHE_HOME is ignored, as XDG asks. */
export function defaultFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string): string {
  if (platform === "win32") return join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "sluice");
  if (platform === "darwin") return join(home, "Library", "Caches", "sluice");
  const xdg = env["XDG_CACHE_HOME"];
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, ".cache"), "sluice");
}

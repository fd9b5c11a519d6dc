/**
 * Where the store of a command is.
 * @module
 */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { UsageError } from "./exit.js";

/** The folder that `--store` names, absolute. Throws UsageError for an address: who gives one means what is there. */
export function storeFolder(where: string | undefined): string {
  if (where !== undefined && /^[a-z][a-z0-9+.-]+:\/\//i.test(where)) {
    throw new UsageError("--store takes a folder, and no address; buckets are for programs, see S3ArtifactStore");
  }
  return resolve(where ?? defaultFolder(process.env, process.platform, homedir()));
}

/** `sluice` in the folder where the system keeps caches. A relative XDG_CACHE_HOME is ignored, as XDG asks. */
export function defaultFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string): string {
  if (platform === "win32") return join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "sluice");
  if (platform === "darwin") return join(home, "Library", "Caches", "sluice");
  const xdg = env["XDG_CACHE_HOME"];
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, ".cache"), "sluice");
}

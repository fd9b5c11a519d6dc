/**
 * The folders of a person's machine that commands use.
 * @module
 */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { UsageError } from "../exit.js";

/** The absolute path of the folder that `--store` names. Throws UsageError for a URL. */
export function storeFolder(where: string | undefined): string {
  if (where !== undefined && /^[a-z][a-z0-9+.-]+:\/\//i.test(where)) {
    throw new UsageError("--store takes a folder here, not an address; for a bucket, use S3ArtifactStore in a program");
  }
  return resolve(where ?? defaultFolder(process.env, process.platform, homedir()));
}

/** `sluice` in the system's folder for caches. */
export function defaultFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string): string {
  if (platform === "win32") return join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "sluice");
  if (platform === "darwin") return join(home, "Library", "Caches", "sluice");
  return join(xdgFolder(env["XDG_CACHE_HOME"], join(home, ".cache")), "sluice");
}

/** `sluice/tokens` in the system's folder for configurations. */
export function tokenFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string = homedir()): string {
  if (platform === "win32") return join(env["APPDATA"] ?? join(home, "AppData", "Roaming"), "sluice", "tokens");
  if (platform === "darwin") return join(home, "Library", "Application Support", "sluice", "tokens");
  return join(xdgFolder(env["XDG_CONFIG_HOME"], join(home, ".config")), "sluice", "tokens");
}

/** The XDG specification asks to ignore relative paths. */
function xdgFolder(configured: string | undefined, otherwise: string): string {
  return configured !== undefined && isAbsolute(configured) ? configured : otherwise;
}

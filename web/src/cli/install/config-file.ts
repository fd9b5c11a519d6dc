/**
 * Configuration files: found, read with a limit, written in one step, and kept as they were beside themselves.
 *
 * A backup is named for what was written, so that a file that has not changed since leads to what it was before.
 * @module
 */
import { createHash, randomUUID } from "node:crypto";
import { chmod, chown, lstat, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createSynced } from "../../artifacts/file/plain-file.js";
import { CommandError, Exit, systemReason } from "../exit.js";
import { printable } from "../terminal/terminal.js";
import { parseConfig, type ConfigData } from "./config-text.js";
import type { Host, Machine } from "./hosts.js";

/** Largest configuration that is read, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** A host's configuration, as it was read. */
export interface ConfigFile {
  readonly host: Host;
  /** Where the host looks for it. */
  readonly place: string;
  /** The file itself, where `place` is a link to it. */
  readonly target: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly data: ConfigData;
}

/** The places of a host where there is a file. */
export async function findPlaces(host: Host, machine: Machine): Promise<readonly string[]> {
  const places = await Promise.all(
    host
      .files(machine)
      .map(async (place) => ((await lstat(place).catch(() => undefined)) === undefined ? [] : [place])),
  );
  return places.flat();
}

/** Reads a configuration. Throws CommandError 66 if it cannot be read, SluiceError E_CONFIG_… for what is not valid. */
export async function readConfigFile(host: Host, place: string): Promise<ConfigFile> {
  let target: string;
  let bytes: Uint8Array;
  try {
    target = await realpath(place);
    const found = await stat(target);
    // A pipe would be waited for.
    if (!found.isFile()) throw unreadable(place, "it is not a file");
    if (found.size > MAX_BYTES) throw tooLarge(place, host);
    bytes = await readFile(target);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw unreadable(place, systemReason(error));
  }
  const text = decodeConfig(bytes, place);
  return { host, place, target, bytes, text, data: await parseConfig(text, host.format, printable(place)) };
}

function decodeConfig(bytes: Uint8Array, place: string): string {
  try {
    // The mark at the beginning is part of the text, so that it stays.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unreadable(place, "it is not UTF-8 text; save it as UTF-8");
  }
}

function unreadable(place: string, reason: string): CommandError {
  return new CommandError(Exit.input, `cannot read the configuration ${printable(place)}: ${reason}`);
}

function tooLarge(place: string, host: Host): CommandError {
  const remedy =
    host.id === "claude-code"
      ? "put Sluice in front with `claude mcp add`, as docs/hosts.md shows"
      : "edit it by hand, as docs/hosts.md shows";
  return unreadable(place, `it has more than 1 MiB; ${remedy}`);
}

/**
 * Replaces a configuration in one step. Owner and mode of the file stay.
 *
 * @param keepBackup whether what was there is kept beside the file.
 * @returns the backup's path, if there is one.
 * @throws CommandError 73 if the file changed since it was read, or cannot be written.
 */
export async function replaceConfig(
  file: ConfigFile,
  content: Uint8Array,
  keepBackup: boolean,
): Promise<string | undefined> {
  const temporary = `${file.target}.${randomUUID()}.tmp`;
  let backup: string | undefined;
  try {
    const { mode, uid, gid } = await stat(file.target);
    await writeNew(temporary, content, mode);
    // Without the right to give files away, the file stays the current user's.
    if (process.getuid?.() === 0) await chown(temporary, uid, gid);
    if (keepBackup) backup = await writeBackup(file, content, mode);
    // Looked at last, so that there is next to no time in which another program may write.
    if (!Buffer.from(file.bytes).equals(await readFile(file.target))) throw toChangedError(file);
    await rename(temporary, file.target);
    return backup;
  } catch (error) {
    await rm(temporary, { force: true });
    if (backup !== undefined) await rm(backup, { force: true });
    if (error instanceof CommandError) throw error;
    const sentence = `cannot write the configuration ${printable(file.place)}: ${systemReason(error)}`;
    throw new CommandError(Exit.create, `${sentence}; nothing in it was changed`, { cause: error });
  }
}

function toChangedError({ place, host }: ConfigFile): CommandError {
  return new CommandError(
    Exit.create,
    `${printable(place)} changed meanwhile and was left as it is: quit ${host.title}, and run this again`,
  );
}

async function writeNew(path: string, content: Uint8Array, mode: number): Promise<void> {
  await createSynced(path, content, mode & 0o777);
  // What the process masks out of new files.
  await chmod(path, mode & 0o777);
}

/** Keeps a file as it is, under a name that is made of what is about to be written. It is as private as the file. */
async function writeBackup({ target, bytes }: ConfigFile, written: Uint8Array, mode: number): Promise<string> {
  const backup = toBackupPath(target, written);
  await rm(backup, { force: true });
  await writeNew(backup, bytes, mode);
  return backup;
}

function toBackupPath(target: string, written: Uint8Array): string {
  const hash = createHash("sha256").update(written).digest("hex").slice(0, 12);
  return `${target}.${hash}.sluice-backup`;
}

/** What a configuration was before it became `written`, with the backup's path; undefined if it is unknown. */
export async function backupBefore(
  target: string,
  written: Uint8Array,
): Promise<{ readonly path: string; readonly bytes: Uint8Array } | undefined> {
  const path = toBackupPath(target, written);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.size > MAX_BYTES) return undefined;
  const bytes = await readFile(path).catch(() => undefined);
  return bytes === undefined ? undefined : { path, bytes };
}

/** All backups of a configuration, the latest first. */
export async function listBackups(target: string): Promise<readonly string[]> {
  const names = await readdir(dirname(target)).catch(() => []);
  const prefix = `${basename(target)}.`;
  const paths = names
    .filter((name) => name.startsWith(prefix) && /^[0-9a-f]{12}\.sluice-backup$/.test(name.slice(prefix.length)))
    .map((name) => join(dirname(target), name));
  const dated = await Promise.all(paths.map(async (path) => ({ path, time: (await stat(path)).mtimeMs })));
  return dated.sort((one, other) => other.time - one.time).map(({ path }) => path);
}

/** What a backup says; undefined if it cannot be read. */
export async function readBackup(path: string, { host }: ConfigFile): Promise<ConfigData | undefined> {
  return readConfigFile(host, path).then(
    ({ data }) => data,
    () => undefined,
  );
}

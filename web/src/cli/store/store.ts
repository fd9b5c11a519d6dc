/**
 * Opens the stores that a command line names: folders, buckets, memory.
 * @module
 */
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { FileArtifactStore } from "../../artifacts/file/file-store.js";
import { Folder } from "../../artifacts/file/folder.js";
import { checkPrivate } from "../../artifacts/file/marked-folder.js";
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import { PrivateFolder } from "../../artifacts/private-folder.js";
import type { ArtifactStore, Clock } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import { storageError, systemCode } from "../../errors/storage.js";
import type { S3ArtifactStore } from "../../server/artifacts/s3-store.js";
import { CommandError, Exit, systemReason, UsageError } from "../exit.js";
import { clause, fileName, printable } from "../terminal/terminal.js";
import { storeFolder } from "./folders.js";

/** Opens `--store` to put artifacts into: a folder, or `memory` if nothing needs to be kept. */
export function openStore(where: string | undefined): ArtifactStore {
  return where === "memory" ? new MemoryArtifactStore() : new FileArtifactStore(storeFolder(where));
}

/** Opens `--store` to read what earlier commands stored. A missing folder is an empty store. */
export async function openKeptStore(where: string | undefined): Promise<FileArtifactStore> {
  if (where === "memory") throw new UsageError("a memory store is lost when the command ends; use --store DIR");
  const folder = storeFolder(where);
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined || found.isDirectory()) return new FileArtifactStore(folder);
  throw new CommandError(Exit.read, `the store ${fileName(folder)} is a file; use a folder`);
}

/**
 * Creates the store, and checks that artifacts can be put into it, for programs that run long before they store the first
 * one. Ignores a full disk: that may have changed by then.
 *
 * @param otherwise the remedy that the error names besides another value of `option`.
 * @throws CommandError, exit 2, with a sentence that names the folder and the remedies.
 */
export async function prepareStore(
  where: string | undefined,
  otherwise = "--store session for one that is deleted at the end",
  option = "--store",
): Promise<void> {
  if (where === "memory") return;
  const path = storeFolder(where);
  const folder = new Folder(path, false);
  await usable(path, `${option} DIR, or ${otherwise}`, async () => folder.discard(await folder.temporary()));
}

/** Checks that no other user may write to a folder that stores are to lie in. Throws like {@link prepareStore}. */
export async function checkStoresFolder(where: string, otherwise: string): Promise<void> {
  const path = storeFolder(where);
  await usable(path, `--store DIR, or ${otherwise}`, () => checkPrivate(path));
}

async function usable(path: string, remedy: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (storageError(error, "write").code === "E_STORE_FULL") return;
    const why = await reasonAgainst(path, error, remedy);
    throw new CommandError(Exit.usage, `cannot use the store ${fileName(path)}: ${why}`, { cause: error });
  }
}

/** Errors of the store name a remedy, those of the system do not. */
async function reasonAgainst(path: string, cause: unknown, remedy: string): Promise<string> {
  if (cause instanceof SluiceError) return clause(cause.message);
  const found = await stat(path).catch(() => undefined);
  let reason = systemReason(cause);
  if (found !== undefined && !found.isDirectory()) reason = "it is a file, and a store must be a folder";
  else if (systemCode(cause) === "ENOENT")
    reason = found === undefined ? "the folder cannot be created" : "the folder cannot be written";
  return `${reason}; choose a folder that can be written with ${remedy}`;
}

/**
 * A folder that is deleted when the program ends.
 *
 * @param use what it is for, and `otherwise` the alternative to it, in the error.
 * @throws CommandError, exit 2, if the system's folder for temporary files cannot be written.
 */
export async function sessionFolder(use: string, otherwise: string): Promise<PrivateFolder> {
  try {
    return await PrivateFolder.open("session");
  } catch (error) {
    const sentence = `cannot create a folder in ${printable(tmpdir())}${use}: ${systemReason(error, "folder")}`;
    throw new CommandError(Exit.usage, `${sentence}; name another in TMPDIR, or ${otherwise}`, { cause: error });
  }
}

/** A store, and how to close it. */
interface LargeStore extends AsyncDisposable {
  readonly store: ArtifactStore;
}

/**
 * Opens `--large-store`: a folder, which need not exist yet, or an `s3://` URL.
 *
 * @throws UsageError and CommandError, exit 2; 73 if the bucket does not answer.
 */
export async function openLargeStore(place: string): Promise<LargeStore> {
  if (/^s3:/i.test(place)) {
    const store = await openBucket(place, "--large-store");
    return { store, [Symbol.asyncDispose]: () => store.close() };
  }
  return { store: await openKeptStore(place), [Symbol.asyncDispose]: async () => undefined };
}

/**
 * Opens the store in a bucket, and checks that the bucket answers.
 *
 * @param option the option that errors name.
 * @param clock dates artifacts. Defaults to `Date.now`.
 * @throws CommandError, exit 2, for an invalid URL and for a missing package; 73 if the bucket does not answer.
 */
export async function openBucket(url: string, option: string, clock?: Clock): Promise<S3ArtifactStore> {
  const { s3StoreFrom } = await import("../../server/artifacts/s3-store.js");
  let store: S3ArtifactStore | undefined;
  try {
    store = s3StoreFrom(url, clock && { clock });
    // A wrong name or key shows now, and not to the first user.
    await store.stat("sluice_000000000000");
    return store;
  } catch (error) {
    await store?.close();
    throw toRefusal(error, option);
  }
}

function toRefusal(error: unknown, option: string): unknown {
  if (!(error instanceof SluiceError)) return error;
  if (error.path === "region") {
    const sentence = `the bucket of ${option} needs a region: set AWS_REGION`;
    return new CommandError(Exit.usage, sentence, { cause: error });
  }
  if (error.code === "E_INVALID_ARGUMENT") {
    const sentence = `${option} must be a folder, s3://bucket or s3://bucket/prefix; a bucket has at least 3 characters, a prefix letters, digits, -, _ and .`;
    return new CommandError(Exit.usage, sentence, { cause: error });
  }
  const exit = error.code === "E_MISUSE" ? Exit.usage : Exit.create;
  return new CommandError(exit, `cannot use the bucket of ${option}: ${error.message}`, { cause: error });
}

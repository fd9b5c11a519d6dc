/**
 * Stores beside that of `--store`: buckets, and where large files are kept.
 * @module
 */
import type { ArtifactStore } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import type { S3ArtifactStore } from "../server/artifacts/s3-store.js";
import { CommandError, Exit } from "./exit.js";
import { openKeptStore } from "./store.js";

/** A store, and what ends it. */
export interface LargeStore extends AsyncDisposable {
  readonly store: ArtifactStore;
}

/**
 * Opens the store of a folder, which need not be there yet, or of an `s3://` URL.
 *
 * @throws UsageError and CommandError, exit 2; 73 for a bucket that does not answer.
 */
export async function openLargeStore(place: string): Promise<LargeStore> {
  if (/^s3:/i.test(place)) {
    const store = await openBucket(place, "--large-store");
    return { store, [Symbol.asyncDispose]: () => store.close() };
  }
  return { store: await openKeptStore(place), [Symbol.asyncDispose]: async () => undefined };
}

/**
 * The store in a bucket, which answers. `option` names it in errors.
 *
 * @throws CommandError, exit 2, for what is no address and for a missing package; 73 where it does not answer.
 */
export async function openBucket(url: string, option: string): Promise<S3ArtifactStore> {
  const { s3StoreFrom } = await import("../server/artifacts/s3-store.js");
  let store: S3ArtifactStore | undefined;
  try {
    store = s3StoreFrom(url);
    // A name or a key that is wrong shows now, and not to the first user.
    await store.stat("sluice_000000000000");
    return store;
  } catch (error) {
    await store?.close();
    throw refused(error, option);
  }
}

function refused(error: unknown, option: string): unknown {
  if (!(error instanceof SluiceError)) return error;
  if (error.path === "region") {
    const sentence = `the bucket of ${option} is in a region: name it in the variable AWS_REGION`;
    return new CommandError(Exit.usage, sentence, { cause: error });
  }
  if (error.code === "E_INVALID_ARGUMENT") {
    return new CommandError(Exit.usage, "the store must be a folder, s3://bucket or s3://bucket/prefix", {
      cause: error,
    });
  }
  const exit = error.code === "E_MISUSE" ? Exit.usage : Exit.create;
  return new CommandError(exit, `cannot use the bucket of ${option}: ${error.message}`, { cause: error });
}

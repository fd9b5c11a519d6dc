/**
 * Opens the stores of `sluice serve`, and the state that its processes share.
 * @module
 */
import { join } from "node:path";
import { FileArtifactStore } from "../../artifacts/file/file-store.js";
import type { ArtifactStore, Clock } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import { memoryState, type ServeState } from "../../server/state.js";
import { CommandError, Exit, UsageError } from "../exit.js";
import { openBucket, openLargeStore, checkStoresFolder, prepareStore, sessionFolder } from "../store/store.js";
import type { ServeSettings } from "./settings.js";

/** The alternative to a folder, for errors. */
const OTHERWISE = "no store at all for one that is deleted at the end";

/** The stores for sessions and users' files, and one for large files if configured. */
interface ServeStores extends AsyncDisposable {
  readonly sessions: ArtifactStore;
  readonly files: ArtifactStore;
  readonly large?: ArtifactStore;
}

/**
 * Opens the stores in a folder or an `s3://` URL. Defaults to a private folder that is deleted at the end.
 *
 * @throws CommandError, exit 2, if nothing can be stored there; 73 if a bucket does not answer.
 */
export async function openStores(
  { store, files: { isOn, large_store } }: Pick<ServeSettings, "store" | "files">,
  clock?: Clock,
): Promise<ServeStores> {
  const stores = await openPair(store, clock);
  if (!isOn || large_store === undefined) return stores;
  try {
    if (!/^s3:/i.test(large_store)) {
      await prepareStore(large_store, "leave large_store out, so that one store keeps all", "--large-store");
    }
    const large = await openLargeStore(large_store);
    const close = async (): Promise<void> => {
      await Promise.all([stores[Symbol.asyncDispose](), large[Symbol.asyncDispose]()]);
    };
    return { ...stores, large: large.store, [Symbol.asyncDispose]: close };
  } catch (error) {
    await stores[Symbol.asyncDispose]();
    throw error;
  }
}

type Pair = Omit<ServeStores, "large">;

async function openPair(place: string | undefined, clock: Clock | undefined): Promise<Pair> {
  if (place === undefined) {
    const folder = await sessionFolder("", "a store with --store");
    return storesIn(folder.path, clock, () => folder[Symbol.asyncDispose]());
  }
  if (/^s3:/i.test(place)) return inBucket(place, clock);
  await checkStoresFolder(place, OTHERWISE);
  for (const name of ["sessions", "files"]) await prepareStore(join(place, name), OTHERWISE);
  return storesIn(place, clock, async () => undefined);
}

function storesIn(folder: string, clock: Clock | undefined, close: () => Promise<void>): Pair {
  const dated = clock && { clock };
  return {
    sessions: new FileArtifactStore(join(folder, "sessions"), dated),
    files: new FileArtifactStore(join(folder, "files"), dated),
    [Symbol.asyncDispose]: close,
  };
}

async function inBucket(url: string, clock: Clock | undefined): Promise<Pair> {
  const stem = url.replace(/\/+$/, "");
  const sessions = await openBucket(`${stem}/sessions`, "--store", clock);
  const { s3StoreFrom } = await import("../../server/artifacts/s3-store.js");
  const files = s3StoreFrom(`${stem}/files`, clock && { clock });
  const close = async (): Promise<void> => {
    await Promise.all([sessions.close(), files.close()]);
  };
  return { sessions, files, [Symbol.asyncDispose]: close };
}

/** Opens the state in Redis, or in memory. Throws CommandError if the server does not answer. */
export async function openState({ state: url, secret, oldSecrets }: ServeSettings): Promise<ServeState> {
  if (url === undefined || secret === undefined) return memoryState();
  const { redisState } = await import("../../serve-redis.js");
  let state: ServeState;
  try {
    state = redisState({ url, secret, oldSecrets });
    // Asked before the session below, and so answered before it.
    state.clock?.();
  } catch (error) {
    // The sentence names options that do not exist here.
    throw new UsageError(
      `the state must be the URL of a Redis server, as in redis://127.0.0.1:6379: ${writeSentence(error)}`,
      "serve",
    );
  }
  try {
    // A wrong address shows now, and not to the first user.
    await state.sessions.find("none");
    return state;
  } catch (error) {
    await state[Symbol.asyncDispose]();
    const isMissing = error instanceof SluiceError && error.code === "E_MISUSE";
    const why = isMissing ? "install the package @redis/client beside mcp-sluice" : writeSentence(error);
    const exit = isMissing ? Exit.usage : Exit.create;
    throw new CommandError(exit, `cannot use the Redis server of --state: ${why}`, { cause: error });
  }
}

function writeSentence(error: unknown): string {
  return error instanceof SluiceError ? error.message : "it failed";
}

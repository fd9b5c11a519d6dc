/** Every public name in use, as strictly as the compiler can be. */
import {
  createSluice,
  MemoryArtifactStore,
  NoOpArtifactStore,
  SluiceError,
  type AnswerRef,
  type ArtifactRef,
  type ArtifactStore,
  type Dialect,
  type ErrorCode,
  type Sluice,
  type Transformed,
} from "mcp-sluice";
import { createSluice as createInNode, FileArtifactStore } from "mcp-sluice/node";
import { RedisStateStore, type RedisStateStoreOptions } from "mcp-sluice/planner/redis";
import { memoryState, SluiceServer, type ServeState } from "mcp-sluice/serve";
import { redisState } from "mcp-sluice/serve/redis";

const stores: readonly ArtifactStore[] = [
  new MemoryArtifactStore(),
  new NoOpArtifactStore(),
  new FileArtifactStore("./store"),
];

export async function reduce(sluice: Sluice, result: unknown, dialect: Dialect): Promise<readonly AnswerRef[]> {
  const { artifacts, text, value }: Transformed = await sluice.transform(result, { namespace: "n", dialect });
  await using stream = sluice.open({ dialect });
  await stream.write(new TextEncoder().encode(text));
  return [...artifacts, ...(await stream.close()).artifacts, ...(value === null ? [] : artifacts)];
}

/** Only what was stored has a hash for certain. */
export function stored(artifacts: readonly AnswerRef[]): readonly ArtifactRef[] {
  return artifacts.filter((ref): ref is ArtifactRef => ref.sha256 !== null);
}

export function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof SluiceError ? error.code : undefined;
}

export const made: Promise<Sluice>[] = stores.map((store) =>
  createSluice({ store, config: { max_inline_size: 4000 } }),
);
export const same: typeof createSluice = createInNode;

// @ts-expect-error: the types are there, and not `any`
export const wrong: Promise<Sluice> = createSluice({ store: 1 });

/** Without the package of a client. */
export async function isWaiting(
  client: NonNullable<RedisStateStoreOptions["client"]>,
  token: string,
): Promise<boolean> {
  await using stateStore = new RedisStateStore({ client, maxKept: 10 });
  return (await stateStore.loadPlannerState(token)) !== null;
}

/** One server, whose state others may share. */
export function served(store: ArtifactStore, secret: string, url?: string): SluiceServer {
  const state: ServeState = url === undefined ? memoryState() : redisState({ url, secret });
  return new SluiceServer({ store, state, secret });
}

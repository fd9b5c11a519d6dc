/**
 * What processes of `sluice serve` share.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { memoryState, type ServeState } from "../../server/state.js";
import { CommandError, Exit, UsageError } from "../exit.js";
import type { ServeSettings } from "./settings.js";

/** State in Redis, or in memory. Throws CommandError where the server does not answer. */
export async function openState({ state: url, secret }: ServeSettings): Promise<ServeState> {
  if (url === undefined || secret === undefined) return memoryState();
  const { redisState } = await import("../../serve-redis.js");
  let state: ServeState;
  try {
    state = redisState({ url, secret });
  } catch (error) {
    // What the sentence names is no option here.
    throw new UsageError(
      `the state must be the URL of a Redis server, as in redis://127.0.0.1:6379: ${sentenceOf(error)}`,
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
    const why = isMissing ? "install the package @redis/client beside this one" : sentenceOf(error);
    const exit = isMissing ? Exit.usage : Exit.create;
    throw new CommandError(exit, `cannot use the Redis server of --state: ${why}`, { cause: error });
  }
}

function sentenceOf(error: unknown): string {
  return error instanceof SluiceError ? error.message : "it failed";
}

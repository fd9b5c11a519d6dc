/**
 * The clock that processes share: that of their Redis server.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import { plainScript, textOf, type RedisServer } from "../../redis/server.js";

/** Milliseconds until the server is asked again. Clocks of machines drift by far less in that time. */
const EVERY = 30_000;

/** Most milliseconds of a reply that is believed: it may be off by half of that. */
const LATE = 2000;

/** The server's time, in milliseconds since 1970. */
const TIME = plainScript(
  "read",
  "local time = redis.call('TIME') return string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))",
  { isRepeatable: true },
);

/**
 * A clock by the server's time and this machine's monotonic clock: it is the same in all processes, also where the clock of one is
 * wrong or jumps. So no process ends sessions or takes artifacts away that are young for the others. It is this machine's clock
 * until the server has answered once.
 *
 * @param server asked at the first reading and then each half minute, in the background, while the clock is read.
 */
export function sharedClock(server: Pick<RedisServer, "run">): Clock {
  /** What to add to `performance.now`. */
  let ahead: number | undefined;
  let askedAt = -Infinity;
  const ask = async (): Promise<void> => {
    askedAt = performance.now();
    const time = Number(textOf(await server.run(TIME, [], [])));
    const took = performance.now() - askedAt;
    if (Number.isFinite(time) && took <= LATE) ahead = time + took / 2 - performance.now();
  };
  return () => {
    // A server that is away has its time asked for later.
    if (performance.now() - askedAt >= EVERY) ask().catch(() => undefined);
    return ahead === undefined ? Date.now() : Math.round(performance.now() + ahead);
  };
}

/**
 * The register of work in Redis.
 * @module
 */
import { parseStored } from "../../planner/state-store.js";
import {
  isDone,
  plainScript,
  readReplyTexts,
  type RedisKeys,
  type RedisServer,
  type Script,
} from "../../redis/server.js";
import {
  keyOfWork,
  MAX_WORK,
  WORK_KINDS,
  WORK_LEASE_MS,
  type Work,
  type WorkKind,
  type WorkRegister,
} from "../work/work-register.js";

interface RedisWorkParts {
  readonly server: RedisServer;
  readonly keys: RedisKeys;
  /** Most work of a kind. Defaults to {@link MAX_WORK}. */
  readonly most?: number;
}

/** Most work of one script: other commands wait meanwhile. */
const AT_ONCE = 500;

/** Milliseconds after which work without a holder is forgotten. Sessions end before. */
const FORGOTTEN = 7 * 24 * 60 * 60 * 1000;

/** Remembers work for all processes with the same server and prefix. Work of a kind is a sorted set and its holders. */
export class RedisWorkRegister implements WorkRegister {
  readonly #server: RedisServer;
  readonly #keys: RedisKeys;
  readonly #most: string;

  constructor({ server, keys, most = MAX_WORK }: RedisWorkParts) {
    this.#server = server;
    this.#keys = keys;
    this.#most = String(most);
  }

  hold(holder: string, works: readonly Work[]): Promise<void> {
    return this.#each(HOLD, [holder, this.#most], works);
  }

  free(holder: string, works: readonly Work[]): Promise<void> {
    return this.#each(FREE, [holder], works);
  }

  end(holder: string, works: readonly Work[]): Promise<void> {
    return this.#each(END, [holder], works);
  }

  async due(holder: string, kind: WorkKind, most: number): Promise<readonly Work[]> {
    if (most <= 0) return [];
    const found = readReplyTexts(
      await this.#server.run(DUE, this.#pair(kind), [holder, String(Math.min(most, AT_ONCE))]),
    );
    return found.map((text) => {
      const [session, id] = parseStored(text) as readonly [string, string];
      return { kind, session, id };
    });
  }

  async #each(script: Script, words: readonly string[], works: readonly Work[]): Promise<void> {
    for (const kind of WORK_KINDS) {
      const members = works.filter((work) => work.kind === kind).map(keyOfWork);
      for (let at = 0; at < members.length; at += AT_ONCE) {
        const some = members.slice(at, at + AT_ONCE);
        isDone(await this.#server.run(script, this.#pair(kind), [...words, ...some]));
      }
    }
  }

  #pair(kind: WorkKind): readonly [string, string] {
    const key = this.#keys.all(`work:${kind}`);
    return [key, `${key}:holders`];
  }
}

// KEYS: work by the end of its lease, and its holders. ARGV: a holder; then each script has its own.
const NAMES = `
local leases, holders, holder = KEYS[1], KEYS[2], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function number(text) return string.format('%.0f', text) end
local function hold(member)
  redis.call('ZADD', leases, number(now + ${WORK_LEASE_MS}), member)
  redis.call('HSET', holders, member, holder)
end
local function keep()
  redis.call('PEXPIRE', leases, ${FORGOTTEN})
  redis.call('PEXPIRE', holders, ${FORGOTTEN})
end
`;

/** ARGV: most work, and what is held. */
const HOLD = plainScript(
  "write",
  `${NAMES}
for at = 3, #ARGV do hold(ARGV[at]) end
local over = redis.call('ZCARD', leases) - tonumber(ARGV[2])
if over > 0 then
  local first = redis.call('ZRANGE', leases, 0, over - 1)
  for _, member in ipairs(first) do
    redis.call('ZREM', leases, member)
    redis.call('HDEL', holders, member)
  end
end
keep()
return 1
`,
  { isRepeatable: true },
);

/** ARGV: what is free. */
const FREE = plainScript(
  "write",
  `${NAMES}
for at = 2, #ARGV do
  if redis.call('HGET', holders, ARGV[at]) == holder then
    redis.call('ZADD', leases, 0, ARGV[at])
    redis.call('HSET', holders, ARGV[at], '')
  end
end
return 1
`,
  { isRepeatable: true },
);

/** ARGV: what is over. */
const END = plainScript(
  "write",
  `${NAMES}
for at = 2, #ARGV do
  if redis.call('HGET', holders, ARGV[at]) == holder then
    redis.call('ZREM', leases, ARGV[at])
    redis.call('HDEL', holders, ARGV[at])
  end
end
return 1
`,
  { isRepeatable: true },
);

/** A caller that misses the reply gets the same when the lease is over again. ARGV: most work. */
const DUE = plainScript(
  "write",
  `${NAMES}
local found = redis.call('ZRANGEBYSCORE', leases, '-inf', number(now), 'LIMIT', 0, ARGV[2])
for _, member in ipairs(found) do hold(member) end
if #found > 0 then keep() end
return found
`,
  { isRepeatable: true },
);

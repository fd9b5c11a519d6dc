/**
 * The session register in Redis.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import { isDone, plainScript, textOf, textsOf, hashOf, type RedisKeys, type RedisServer } from "../../redis/server.js";
import { valueOf } from "../../planner/state-store.js";
import {
  MAX_SESSIONS,
  MAX_SUBSCRIPTIONS,
  MAX_TRACES,
  subscriptionKey,
  type EndedSession,
  type SessionRegister,
  type Subscription,
} from "../sessions/session-register.js";
import type { ServedSession } from "../sessions/session.js";

type Kind = "traces" | "subscriptions";

interface RedisRegisterParts {
  readonly server: RedisServer;
  readonly keys: RedisKeys;
  /** Most sessions. Those that expire first are dropped. Defaults to {@link MAX_SESSIONS}. */
  readonly maxSessions?: number;
  /** The clock by which sessions expire, besides the server's. Defaults to `Date.now`. */
  readonly clock?: Clock;
}

/** Stores sessions for all processes with the same server and prefix. Everything of a session expires with it. */
export class RedisSessionRegister implements SessionRegister {
  readonly #server: RedisServer;
  readonly #names: RedisKeys;
  readonly #most: string;
  readonly #clock: Clock;

  constructor({ server, keys, maxSessions = MAX_SESSIONS, clock = Date.now }: RedisRegisterParts) {
    this.#server = server;
    this.#names = keys;
    this.#most = String(maxSessions);
    this.#clock = clock;
  }

  async begin(session: ServedSession): Promise<void> {
    const hash = hashOf(session.id);
    const words = [hash, String(Math.floor(session.expires_at)), this.#most, JSON.stringify(session)];
    isDone(await this.#server.run(BEGIN, this.#keys(hash), words));
  }

  async find(id: string): Promise<ServedSession | null> {
    const text = textOf(await this.#server.run(FIND, [this.#keyOf(hashOf(id))], []));
    const session = valueOf(text) as ServedSession | null;
    return session !== null && session.expires_at > this.#clock() ? session : null;
  }

  async end(id: string): Promise<EndedSession | null> {
    const hash = hashOf(id);
    const reply = await this.#server.run(END, this.#keys(hash), [hash]);
    const [text = null, ...traces] = reply === null ? [] : textsOf(reply);
    const session = valueOf(text) as ServedSession | null;
    return session !== null && session.expires_at > this.#clock() ? { session, traces } : null;
  }

  addTrace(id: string, trace: string): Promise<boolean> {
    return this.#add(id, "traces", trace, MAX_TRACES);
  }

  traces(id: string): Promise<readonly string[]> {
    return this.#members(id, "traces");
  }

  subscribe(id: string, subscription: Subscription): Promise<boolean> {
    return this.#add(id, "subscriptions", subscriptionKey(subscription), MAX_SUBSCRIPTIONS);
  }

  async unsubscribe(id: string, subscription: Subscription): Promise<boolean> {
    return isDone(await this.#server.run(REMOVE, this.#pair(id, "subscriptions"), [subscriptionKey(subscription)]));
  }

  async subscriptions(id: string): Promise<readonly Subscription[]> {
    const members = await this.#members(id, "subscriptions");
    return members.map((member) => {
      const [namespace, uri] = valueOf(member) as readonly [string, string];
      return { namespace, uri };
    });
  }

  async #add(id: string, kind: Kind, member: string, most: number): Promise<boolean> {
    return isDone(await this.#server.run(ADD, this.#pair(id, kind), [member, String(most)]));
  }

  async #members(id: string, kind: Kind): Promise<readonly string[]> {
    return textsOf(await this.#server.run(MEMBERS, this.#pair(id, kind), []));
  }

  #keyOf(hash: string): string {
    return this.#names.one("sessions", hash);
  }

  #pair(id: string, kind: Kind): readonly [string, string] {
    const key = this.#keyOf(hashOf(id));
    return [key, `${key}:${kind}`];
  }

  #keys(hash: string): readonly string[] {
    const key = this.#keyOf(hash);
    return [key, `${key}:traces`, `${key}:subscriptions`, this.#names.all("sessions")];
  }
}

// KEYS: the session, its traces, its subscriptions, and the index of all sessions by their expiry.
const NAMES = `
local session, traces, subscriptions, index = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function drop(hash)
  local key = index .. ':' .. hash
  redis.call('UNLINK', key, key .. ':traces', key .. ':subscriptions')
  redis.call('ZREM', index, hash)
end
local function number(text) return string.format('%.0f', text) end
`;

/**
 * A server without memory refuses the first write, and none after it. ARGV: the session's hash, its expiry, most
 * sessions, the session.
 */
const BEGIN = plainScript(
  "write",
  `${NAMES}
local hash, last, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if last <= now then return 1 end
redis.call('SET', session, ARGV[4])
redis.call('PEXPIREAT', session, ARGV[2])
redis.call('UNLINK', traces, subscriptions)
redis.call('ZADD', index, ARGV[2], hash)
redis.call('ZREMRANGEBYSCORE', index, '-inf', number(now))
local over = math.min(redis.call('ZCARD', index) - most, 100)
if over > 0 then
  for _, each in ipairs(redis.call('ZRANGE', index, 0, over)) do
    if each ~= hash and over > 0 then
      drop(each)
      over = over - 1
    end
  end
end
if redis.call('PTTL', index) < last - now then redis.call('PEXPIREAT', index, ARGV[2]) end
return 1
`,
  { isRepeatable: true },
);

/** The session. */
const FIND = plainScript("read", "return redis.call('GET', KEYS[1])", { isRepeatable: true });

/** Deletes the session, and returns it with its traces. ARGV: its hash. */
const END = plainScript(
  "write",
  `${NAMES}
local found = redis.call('GET', session)
if not found then return false end
local all = redis.call('SMEMBERS', traces)
table.insert(all, 1, found)
drop(ARGV[1])
return all
`,
  { isRepeatable: false },
);

/** ARGV: a member for the set that is the second key, most members. 0 if there is no room. */
const ADD = plainScript(
  "write",
  `
local left = redis.call('PTTL', KEYS[1])
if left <= 0 or redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then return 1 end
if redis.call('SCARD', KEYS[2]) >= tonumber(ARGV[2]) then return 0 end
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], left)
return 1
`,
  { isRepeatable: true },
);

/** ARGV: the member to remove from the set that is the second key. 0 if it was not in it. */
const REMOVE = plainScript(
  "write",
  "if redis.call('PTTL', KEYS[1]) <= 0 then return 0 end return redis.call('SREM', KEYS[2], ARGV[1])",
  { isRepeatable: false },
);

/** The members of the set that is the second key. */
const MEMBERS = plainScript(
  "read",
  "if redis.call('PTTL', KEYS[1]) <= 0 then return {} end return redis.call('SMEMBERS', KEYS[2])",
  { isRepeatable: true },
);

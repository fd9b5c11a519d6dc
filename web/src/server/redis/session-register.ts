/**
 * The session register in Redis.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import {
  isDone,
  plainScript,
  readReplyText,
  readReplyTexts,
  hashName,
  type RedisKeys,
  type RedisServer,
} from "../../redis/server.js";
import { parseStored } from "../../planner/state-store.js";
import {
  keyOfUser,
  MAX_SESSIONS,
  MAX_SUBSCRIPTIONS,
  MAX_TRACES,
  subscriptionKey,
  type EndedSession,
  type SessionRegister,
  type Subscription,
} from "../sessions/session-register.js";
import type { Identity, ServedSession } from "../session.js";

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

  async begin(session: ServedSession, most: number = -1): Promise<boolean> {
    const hash = hashName(session.id);
    const user = hashName(keyOfUser(session.identity));
    const expires = String(Math.floor(session.expires_at));
    const words = [hash, expires, this.#most, JSON.stringify(session), user, String(most), session.id];
    return isDone(await this.#server.run(BEGIN, this.#keys(hash), words));
  }

  async ofUser(identity: Identity): Promise<readonly string[]> {
    const key = this.#names.one("users", hashName(keyOfUser(identity)));
    return readReplyTexts(await this.#server.run(OF_USER, [key], [String(Math.floor(this.#clock()))]));
  }

  async find(id: string): Promise<ServedSession | null> {
    const text = readReplyText(await this.#server.run(FIND, [this.#toKey(hashName(id))], []));
    const session = parseStored(text) as ServedSession | null;
    return session !== null && session.expires_at > this.#clock() ? session : null;
  }

  async end(id: string): Promise<EndedSession | null> {
    const hash = hashName(id);
    const reply = await this.#server.run(END, this.#keys(hash), [hash]);
    const [text = null, ...traces] = reply === null ? [] : readReplyTexts(reply);
    const session = parseStored(text) as ServedSession | null;
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
      const [namespace, uri] = parseStored(member) as readonly [string, string];
      return { namespace, uri };
    });
  }

  async #add(id: string, kind: Kind, member: string, most: number): Promise<boolean> {
    return isDone(await this.#server.run(ADD, this.#pair(id, kind), [member, String(most)]));
  }

  async #members(id: string, kind: Kind): Promise<readonly string[]> {
    return readReplyTexts(await this.#server.run(MEMBERS, this.#pair(id, kind), []));
  }

  #toKey(hash: string): string {
    return this.#names.one("sessions", hash);
  }

  #pair(id: string, kind: Kind): readonly [string, string] {
    const key = this.#toKey(hashName(id));
    return [key, `${key}:${kind}`];
  }

  #keys(hash: string): readonly string[] {
    const key = this.#toKey(hash);
    const index = this.#names.all("sessions");
    return [key, `${key}:traces`, `${key}:subscriptions`, index, this.#names.all("users")];
  }
}

// KEYS: the session, its traces, its subscriptions, the index of all sessions by their expiry, and what the keys of users'
// sessions begin with: each is the ids by their expiry. A session's `user` is a hash of its user and its id.
const NAMES = `
local session, traces, subscriptions, index, users = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local function drop(hash)
  local key = index .. ':' .. hash
  local owner = redis.call('GET', key .. ':user')
  if owner then redis.call('ZREM', users .. ':' .. string.sub(owner, 1, 64), string.sub(owner, 66)) end
  redis.call('UNLINK', key, key .. ':traces', key .. ':subscriptions', key .. ':user')
  redis.call('ZREM', index, hash)
end
local function number(text) return string.format('%.0f', text) end
`;

/**
 * A server without memory refuses the first write, and none after it. ARGV: the session's hash, its expiry, most
 * sessions, the session, its user's hash, most sessions of that user or -1, the session's id. 0 if the user has as many.
 */
const BEGIN = plainScript(
  "write",
  `${NAMES}
local hash, last, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if last <= now then return 1 end
local own, allowed = users .. ':' .. ARGV[5], tonumber(ARGV[6])
if allowed >= 0 then
  local before = tonumber(redis.call('ZSCORE', own, ARGV[7]) or 0)
  if before <= now and redis.call('ZCOUNT', own, '(' .. number(now), '+inf') >= allowed then return 0 end
end
redis.call('SET', session, ARGV[4])
redis.call('PEXPIREAT', session, ARGV[2])
redis.call('UNLINK', traces, subscriptions)
redis.call('SET', session .. ':user', ARGV[5] .. ' ' .. ARGV[7])
redis.call('PEXPIREAT', session .. ':user', ARGV[2])
redis.call('ZADD', own, ARGV[2], ARGV[7])
redis.call('ZREMRANGEBYSCORE', own, '-inf', number(now))
if redis.call('PTTL', own) < last - now then redis.call('PEXPIREAT', own, ARGV[2]) end
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

/** The ids of a user's sessions. ARGV: the time of the process. */
const OF_USER = plainScript("read", "return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf')", {
  isRepeatable: true,
});

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

/**
 * What is done at once to sessions inside the server.
 * @module
 */
import { plainScript } from "../../planner/redis-state/server.js";

// KEYS: the session, its traces, its subscriptions, and the index of all sessions by the time until when they last.
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
 * The first write is one that a server without memory refuses; those behind it are not refused any more.
 * ARGV: the session's hash, until when it lasts, how many there may be, the session.
 */
export const BEGIN = plainScript(
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
export const FIND = plainScript("read", "return redis.call('GET', KEYS[1])", { isRepeatable: true });

/** The session and its traces, and it is gone. ARGV: its hash. */
export const END = plainScript(
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

/** ARGV: what to add to the set that is the second key, how many may be in it. 0 where there is no room. */
export const ADD = plainScript(
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

/** ARGV: what to remove from the set that is the second key. 0 where it was not in it. */
export const REMOVE = plainScript(
  "write",
  "if redis.call('PTTL', KEYS[1]) <= 0 then return 0 end return redis.call('SREM', KEYS[2], ARGV[1])",
  { isRepeatable: false },
);

/** What is in the set that is the second key. */
export const MEMBERS = plainScript(
  "read",
  "if redis.call('PTTL', KEYS[1]) <= 0 then return {} end return redis.call('SMEMBERS', KEYS[2])",
  { isRepeatable: true },
);

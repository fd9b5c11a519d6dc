/**
 * What is done at once to events inside the server.
 *
 * A channel is a stream, and a hash of what is known of it: `last`, the id of its newest event; `floor`, an id behind which is
 * all that is kept; `trimmed` where something went; `bytes` of what is kept; `recent`, who appended the last few; and `ended`.
 * @module
 */
import { plainScript } from "../../planner/redis-state/server.js";

/** Characters of `recent`: some dozen events are known again when they are appended once more. */
const RECENT = 600;

// KEYS: what is known of the channel, its stream, and the index of all channels by when something was appended last.
const NAMES = `
local known, stream, index = KEYS[1], KEYS[2], KEYS[3]
local function number(text) return string.format('%.0f', text) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Adding an event is the first write, which a server without memory refuses; those behind it are not refused any more.
 * ARGV: the event, by whom (known again when it is sent again), where followers are told, the channel's hash, and how many
 * events, bytes, milliseconds and channels there may be.
 */
export const APPEND = plainScript(
  "write",
  `${NAMES}
local text, by, wake, hash = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local most, most_bytes, age, channels = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local field = redis.call('HMGET', known, 'ended', 'recent', 'bytes', 'floor')
if field[1] then return number(now) .. '-0' end
local recent = field[2] or ''
local before = string.match(recent, ' ' .. by .. ' (%d+%-%d+)')
if before then return before end
redis.call('PUBLISH', wake, hash)
local id = redis.call('XADD', stream, '*', 'event', text)
local bytes, floor = tonumber(field[3] or '0') + #text, field[4]
if not floor then floor = number(tonumber(string.match(id, '^%d+')) - 1) .. '-18446744073709551615' end
local length, trimmed = redis.call('XLEN', stream), false
while length > most or (bytes > most_bytes and length > 1) do
  local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  redis.call('XDEL', stream, oldest[1])
  bytes, length, floor, trimmed = bytes - #oldest[2][2], length - 1, oldest[1], true
end
recent = string.sub(recent .. ' ' .. by .. ' ' .. id, -${RECENT})
redis.call('HSET', known, 'last', id, 'bytes', number(bytes), 'floor', floor, 'recent', recent)
if trimmed then redis.call('HSET', known, 'trimmed', '1') end
redis.call('PEXPIRE', known, age)
redis.call('PEXPIRE', stream, age)
redis.call('ZADD', index, number(now), hash)
redis.call('PEXPIRE', index, age)
redis.call('ZREMRANGEBYSCORE', index, '-inf', number(now - age))
local over = math.min(redis.call('ZCARD', index) - channels, 100)
if over > 0 then
  for _, each in ipairs(redis.call('ZRANGE', index, 0, over - 1)) do
    redis.call('UNLINK', index .. ':' .. each, index .. ':' .. each .. ':events')
    redis.call('ZREM', index, each)
  end
end
return id
`,
  { isRepeatable: true },
);

/**
 * Events behind an id, after what is known of the channel: `ended`, `more` where there are more than these, or nothing; `last`,
 * `floor`, `trimmed`. ARGV: the id, empty for all; whether somebody begins, for whom there is nothing in what was ended; how
 * many events, and bytes but for those of the first.
 */
export const READ = plainScript(
  "read",
  `
local known, stream = KEYS[1], KEYS[2]
local most, most_bytes = tonumber(ARGV[3]), tonumber(ARGV[4])
local field = redis.call('HMGET', known, 'ended', 'last', 'floor', 'trimmed')
local found = { field[1] and 'ended' or '', field[2] or '', field[3] or '', field[4] or '' }
if field[1] and ARGV[2] == 'begins' then return found end
local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
local entries = redis.call('XRANGE', stream, from, '+', 'COUNT', most)
local bytes, taken = 0, 0
for _, entry in ipairs(entries) do
  bytes = bytes + #entry[2][2]
  if taken > 0 and bytes > most_bytes then break end
  taken = taken + 1
  found[#found + 1] = entry[1]
  found[#found + 1] = entry[2][2]
end
if taken < #entries or taken == most then found[1] = 'more' end
return found
`,
  { isRepeatable: true },
);

/** Whether there is a channel. */
export const HAS = plainScript(
  "read",
  `
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
return redis.call('EXISTS', KEYS[2])
`,
  { isRepeatable: true },
);

/**
 * Who follows hears the last events meanwhile, and whoever comes later learns that it was ended.
 * ARGV: where followers are told, the channel's hash, how many milliseconds for events, and for that it was ended.
 */
export const END = plainScript(
  "write",
  `
local known, stream, index = KEYS[1], KEYS[2], KEYS[3]
redis.call('ZREM', index, ARGV[2])
redis.call('HSET', known, 'ended', '1')
redis.call('PEXPIRE', stream, ARGV[3])
redis.call('PEXPIRE', known, ARGV[4])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`,
  { isRepeatable: true },
);

/**
 * The last id of each channel, `ended` where it is, empty where there is none. What is followed is kept. Whoever is told of
 * what happens hears something. KEYS: the index, and for each channel what is known of it and its stream.
 * ARGV: where followers are told, how many milliseconds a channel is kept, the channels' hashes.
 */
export const SWEEP = plainScript(
  "read",
  `
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.pcall('PUBLISH', ARGV[1], '')
local found = {}
for at = 2, #KEYS, 2 do
  local field = redis.call('HMGET', KEYS[at], 'ended', 'last')
  if field[1] then found[#found + 1] = 'ended'
  else
    found[#found + 1] = field[2] or ''
    if field[2] then
      redis.pcall('PEXPIRE', KEYS[at], ARGV[2])
      redis.pcall('PEXPIRE', KEYS[at + 1], ARGV[2])
      redis.pcall('ZADD', KEYS[1], 'XX', now, ARGV[at / 2 + 2])
    end
  end
end
return found
`,
  { isRepeatable: true },
);

/**
 * What scripts in Lua are made of.
 *
 * A room is an index and one key for each entry. The index is a sorted set of the entries' names by the time until when they
 * are kept, its microseconds behind the point: the oldest first. Each script's first write is one that a server without
 * memory refuses; the writes behind it are not refused any more, and so it is all or nothing.
 * @module
 */
import { createHash } from "node:crypto";
import type { StorageAct } from "../../errors/storage.js";

/** A script, and what may be done with it. */
export interface Script {
  readonly text: string;
  /** By which the server knows it. */
  readonly sha: string;
  readonly act: StorageAct;
  /** Whether it may be sent again when nobody knows if it was run. */
  readonly isRepeatable: boolean;
}

/** The code of what was not written by a store. */
export const DAMAGED = "DAMAGED";
/** The code of what has more bytes than were asked for. */
export const LARGE = "LARGE";

// ARGV[1] and ARGV[2]: the time in milliseconds and its microseconds as a fraction; empty for the server's own clock.
const TIME = `
local function number(text) return string.format('%.0f', text) end
local function damaged() return redis.error_reply('${DAMAGED} this is not what a store wrote') end
local now, order = tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  order = (time[2] % 1000) / 1000
end
`;

/** Keeping an index, which goes with the last that is in it: nothing is left of a store that nobody uses. */
export const INDEX = `
local function listed(index, name, last)
  redis.call('ZADD', index, string.format('%.3f', last + order), name)
end
local function lasts(index, age)
  if redis.call('PTTL', index) < age then redis.call('PEXPIRE', index, number(age)) end
end
local function drop(index, stem, name)
  redis.call('UNLINK', stem .. name)
  redis.call('ZREM', index, name)
end
`;

/** Of what is claimed, so many are looked at. */
const MAX_CLAIMED = 300;

/**
 * Making room for what is saved. At most so much at once: others wait meanwhile. What is left goes with the next. Where all of
 * the oldest are claimed, they go.
 */
export const ROOM = `
local function make_room(index, stem, most, mine, is_claimed)
  local before = '(' .. number(now + 1)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', before, 'LIMIT', 0, 100)) do drop(index, stem, name) end
  local over = math.min(redis.call('ZCARD', index) - most, 100)
  local claimed, at = {}, 0
  while over > 0 and at < ${MAX_CLAIMED} do
    local names = redis.call('ZRANGE', index, at, at + 99)
    if #names == 0 then break end
    for _, name in ipairs(names) do
      if over <= 0 then break end
      if name == mine then at = at + 1
      elseif is_claimed(stem .. name) then
        claimed[#claimed + 1] = name
        at = at + 1
      else
        drop(index, stem, name)
        over = over - 1
      end
    end
  end
  for _, name in ipairs(claimed) do
    if over <= 0 then break end
    drop(index, stem, name)
    over = over - 1
  end
end
`;

// KEYS: the entry, the index. Others' keys are made of the index's: a client may have put something before both.
const ENTRY = `
local key, index, stem = KEYS[1], KEYS[2], KEYS[2] .. ':'
local name = string.sub(key, #stem + 1)
`;

/** The entry's fields that a claim is made of; nil where there is none, or no longer; and whether it is damaged. */
export const KEPT = `
local function kept()
  local fields = redis.call('HMGET', key, 'until', 'owner', 'leased')
  if not fields[1] then return nil, redis.call('EXISTS', key) == 1 end
  local last, leased = tonumber(fields[1]), tonumber(fields[3] or '0')
  if not last or not leased then return nil, true end
  if now >= last then return nil, false end
  return { last = last, owner = fields[2], leased = leased }, false
end
`;

/** The entry's text; an error where it is too long, or none. */
export const TEXT = `
local function text(most)
  local size = redis.call('HSTRLEN', key, 'text')
  if size == 0 then return damaged() end
  if size > most then return redis.error_reply('${LARGE} more than so many bytes') end
  return redis.call('HGET', key, 'text')
end
`;

/** What stands before a text of a history, and the text's size; nil for what is none. */
export const HEAD = `
local function head(each)
  local _, last, at, total = string.find(each or '', '^(%d+) (%d+) ')
  if not last then return nil end
  return tonumber(at), tonumber(total), #each - last
end
`;

/** A script of these parts, in this order, and what it does. */
export function script(
  act: StorageAct,
  body: string,
  { parts, isRepeatable = false }: { readonly parts: readonly string[]; readonly isRepeatable?: boolean },
): Script {
  return plainScript(act, [TIME, ENTRY, ...parts, body].join(""), { isRepeatable });
}

/** A script as it is. */
export function plainScript(
  act: StorageAct,
  text: string,
  { isRepeatable }: { readonly isRepeatable: boolean },
): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex"), act, isRepeatable };
}

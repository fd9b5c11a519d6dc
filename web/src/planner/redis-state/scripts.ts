/**
 * What is done at once inside the server: nobody sees it half done, and nobody comes in between.
 * @module
 */
import { INDEX, KEPT, ROOM, script, TEXT } from "./lua.js";

/** ARGV: age, how many may be kept, text. */
export const SAVE = script(
  "write",
  `
local age, most = tonumber(ARGV[3]), tonumber(ARGV[4])
listed(index, name, now + age)
redis.call('DEL', key)
redis.call('HSET', key, 'until', number(now + age), 'text', ARGV[5])
redis.call('PEXPIRE', key, ARGV[3])
lasts(index, age)
make_room(index, stem, most, name, function(each)
  local leased = redis.pcall('HGET', each, 'leased')
  return type(leased) == 'string' and now < (tonumber(leased) or 0)
end)
return 1
`,
  { parts: [INDEX, ROOM] },
);

/** ARGV: how many bytes at most. */
export const LOAD = script(
  "read",
  `
local entry, wrong = kept()
if wrong then return damaged() end
if not entry then return false end
return text(tonumber(ARGV[3])) or damaged()
`,
  { parts: [KEPT, TEXT], isRepeatable: true },
);

/** As {@link LOAD}, and it is gone. */
export const TAKE = script(
  "write",
  `
local entry, wrong = kept()
if wrong then return damaged() end
if not entry then return false end
local found = text(tonumber(ARGV[3]))
if not found then return damaged() end
drop(index, stem, name)
return found
`,
  { parts: [INDEX, KEPT, TEXT] },
);

/** Forgets an entry. */
export const FORGET = script("write", `drop(index, stem, name)\nreturn 1\n`, { parts: [INDEX] });

/** ARGV: owner, lease. */
export const CLAIM = script(
  "write",
  `
local entry, wrong = kept()
if wrong then return damaged() end
if not entry or (entry.owner ~= ARGV[3] and now < entry.leased) then return 0 end
local lease = tonumber(ARGV[4])
redis.call('HSET', key, 'owner', ARGV[3], 'leased', number(now + lease))
if now + lease > entry.last then
  redis.call('HSET', key, 'until', number(now + lease))
  redis.call('PEXPIRE', key, ARGV[4])
  listed(index, name, now + lease)
  lasts(index, lease)
end
return 1
`,
  { parts: [INDEX, KEPT], isRepeatable: true },
);

/** ARGV: owner, `wait` or `forget`. */
export const RELEASE = script(
  "write",
  `
local entry, wrong = kept()
if wrong then return damaged() end
if not entry or entry.owner ~= ARGV[3] or now >= entry.leased then return 0 end
if ARGV[4] == 'forget' then drop(index, stem, name) else redis.call('HDEL', key, 'owner', 'leased') end
return 1
`,
  { parts: [INDEX, KEPT] },
);

/** Adds to a history, a list of `time text`. ARGV: age, how many histories may be kept, how many texts of each, text. */
export const ADD = script(
  "write",
  `
local age, most = tonumber(ARGV[3]), tonumber(ARGV[4])
listed(index, name, now + age)
redis.call('RPUSH', key, number(now) .. ' ' .. ARGV[6])
redis.call('LTRIM', key, '-' .. ARGV[5], -1)
while true do
  local at = tonumber(string.match(redis.call('LINDEX', key, 0) or '', '^(%d+) '))
  if not at or now < at + age then break end
  redis.call('LPOP', key)
end
redis.call('PEXPIRE', key, ARGV[3])
lasts(index, age)
make_room(index, stem, most, name, function() return false end)
return 1
`,
  { parts: [INDEX, ROOM] },
);

/** A history's `time text` that are young enough. ARGV: age, how many, how many bytes each. */
export const HISTORY = script(
  "read",
  `
local found = {}
for _, each in ipairs(redis.call('LRANGE', key, '-' .. ARGV[4], -1)) do
  local digits = string.match(each, '^(%d+) ')
  if not digits or #each - #digits - 1 > tonumber(ARGV[5]) then return damaged() end
  if now < tonumber(digits) + tonumber(ARGV[3]) then found[#found + 1] = each end
end
return found
`,
  { parts: [], isRepeatable: true },
);

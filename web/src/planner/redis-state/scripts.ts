/**
 * What is done at once inside the server: nobody sees it half done, and nobody comes in between.
 * @module
 */
import { HEAD, INDEX, KEPT, ROOM, script, TEXT } from "./lua.js";

/** A piece of a history has so many texts at most, */
const PAGE_TEXTS = 200;
/** and ends with the text that brings it to so many bytes: others wait while it is read. */
const PAGE_BYTES = 1024 * 1024;

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
return text(tonumber(ARGV[3]))
`,
  { parts: [KEPT, TEXT], isRepeatable: true },
);

/** As {@link LOAD}, and it is gone. What is too large stays, for a store that can take it. */
export const TAKE = script(
  "write",
  `
local entry, wrong = kept()
if wrong then return damaged() end
if not entry then return false end
local found = text(tonumber(ARGV[3]))
if type(found) ~= 'string' then return found end
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

/** ARGV: owner, age, text. */
export const UPDATE = script(
  "write",
  `
local entry, wrong = kept()
if wrong then return damaged() end
if not entry or entry.owner ~= ARGV[3] or now >= entry.leased then return 0 end
local last = math.max(now + tonumber(ARGV[4]), entry.leased)
listed(index, name, last)
redis.call('HSET', key, 'until', number(last), 'text', ARGV[5])
redis.call('PEXPIRE', key, number(last - now))
lasts(index, last - now)
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

/**
 * Adds to a history, a list of `time total text`; the total is that of all bytes that were ever added, up to and with this text.
 * ARGV: age, how many histories may be kept, how many texts of each, how many bytes of all of them, text.
 */
export const ADD = script(
  "write",
  `
local age, most, bytes = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
local _, last = head(redis.call('LINDEX', key, -1))
local total = (last or 0) + #ARGV[7]
listed(index, name, now + age)
redis.call('RPUSH', key, number(now) .. ' ' .. number(total) .. ' ' .. ARGV[7])
redis.call('LTRIM', key, '-' .. ARGV[5], -1)
while true do
  local at, upto, size = head(redis.call('LINDEX', key, 0))
  if not at or upto >= total or (now < at + age and total - upto + size <= bytes) then break end
  redis.call('LPOP', key)
end
redis.call('PEXPIRE', key, ARGV[3])
lasts(index, age)
make_room(index, stem, most, name, function() return false end)
return 1
`,
  { parts: [INDEX, ROOM, HEAD] },
);

/**
 * A piece of a history: where what is older begins, empty where nothing is, and the piece's `time total text`, newest first.
 * ARGV: age, how many bytes each, how many were seen before, and the total of the last of these: some may be new since then.
 */
export const HISTORY = script(
  "read",
  `
local age, seen, before = tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6])
local found, read = { '' }, 0
for _ = 1, ${PAGE_TEXTS} do
  local each = redis.call('LINDEX', key, number(-1 - seen))
  if not each then return found end
  local at, total, size = head(each)
  if not at then return damaged() end
  seen = seen + 1
  if not before or total < before then
    before = total
    read = read + #each
    if size <= tonumber(ARGV[4]) and now < at + age then found[#found + 1] = each end
    if read >= ${PAGE_BYTES} then break end
  end
end
found[1] = number(seen) .. ' ' .. number(before)
return found
`,
  { parts: [HEAD], isRepeatable: true },
);

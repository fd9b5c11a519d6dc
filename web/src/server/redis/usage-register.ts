/**
 * The register of users' leases and counts in Redis.
 * @module
 */
import {
  hashName,
  isDone,
  plainScript,
  strangeReply,
  readReplyTexts,
  type RedisKeys,
  type RedisServer,
} from "../../redis/server.js";
import {
  ALTERNATING,
  BUCKET_MS,
  FAR,
  LEASE_MS,
  MOST_SETTLED,
  NEAR,
  SETTLED_MS,
  STANDINGS,
  type ClaimUse,
  type CountClaim,
  type HeldLease,
  type Lease,
  type LeaseClaim,
  type UsageRegister,
  type UsageVerdict,
} from "../usage/usage-register.js";

interface RedisUsageParts {
  readonly server: RedisServer;
  readonly keys: RedisKeys;
}

/** Registers for all processes with the same server and prefix. All of an owner is one key, which goes by itself. */
export class RedisUsageRegister implements UsageRegister {
  readonly #server: RedisServer;
  readonly #keys: RedisKeys;

  constructor({ server, keys }: RedisUsageParts) {
    this.#server = server;
    this.#keys = keys;
  }

  async take(
    owner: string,
    { process, id }: Lease,
    claims: readonly LeaseClaim[],
    isTentative: boolean = false,
  ): Promise<UsageVerdict> {
    const words = [process, id, isTentative ? "1" : "0", ...claims.flatMap(toWords)];
    return verdictIn(await this.#server.run(TAKE, [this.#key(owner)], words), claims.length);
  }

  async look(owner: string, process: string, claims: readonly LeaseClaim[]): Promise<readonly number[]> {
    const reply = await this.#server.run(LOOK, [this.#key(owner)], [process, "", "0", ...claims.flatMap(toWords)]);
    return readReplyTexts(reply).map(Number);
  }

  async renew(owner: string, leases: readonly HeldLease[]): Promise<void> {
    const words = leases.flatMap(({ process, id, amounts }) =>
      Object.entries(amounts).flatMap(([kind, amount]) => [toField(process, id, kind), String(amount)]),
    );
    if (words.length > 0) isDone(await this.#server.run(RENEW, [this.#key(owner)], words));
  }

  async end(owner: string, leases: readonly Lease[], { stored } = { stored: false }): Promise<void> {
    const words = leases.map(({ process, id }) => toField(process, id, ""));
    isDone(await this.#server.run(END, [this.#key(owner)], [stored ? "1" : "0", ...words]));
  }

  async note(owner: string, name: string, standing: "far" | "near" | "reached"): Promise<ClaimUse["crossed"]> {
    const words = [name, String(STANDINGS.indexOf(standing))];
    const [level] = readReplyTexts(await this.#server.run(NOTE, [this.#key(owner)], words));
    return toCrossed(Number(level));
  }

  async count(owner: string, claims: readonly CountClaim[]): Promise<UsageVerdict> {
    const words = claims.flatMap(({ kind, amount, most = -1, seconds, isSpent = false }) => [
      kind,
      String(amount),
      String(most),
      String(seconds * 1000),
      isSpent ? "1" : "0",
    ]);
    return verdictIn(await this.#server.run(COUNT, [this.#key(owner)], words), claims.length);
  }

  #key(owner: string): string {
    return this.#keys.one("usage", hashName(owner));
  }
}

function toField(process: string, id: string, kind: string): string {
  return `l|${process}|${id}|${kind}`;
}

function toWords({ kind, amount, most, known }: LeaseClaim): readonly string[] {
  const isAlternating = ALTERNATING.includes(kind) ? "1" : "0";
  return [
    kind,
    String(amount),
    String(most),
    String(known?.amount ?? -1),
    String(Math.ceil(known?.ageMs ?? 0)),
    isAlternating,
  ];
}

/** The first word is the claim that was refused, from 1, or 0; then three for each claim. */
function verdictIn(reply: unknown, claims: number): UsageVerdict {
  const [refused = "", ...words] = readReplyTexts(reply);
  if (words.length !== claims * 3) throw strangeReply();
  const uses = Array.from({ length: claims }, (_, at): ClaimUse => {
    const [used, resetsInMs, crossed] = words.slice(at * 3, at * 3 + 3).map(Number);
    return {
      used: used ?? 0,
      resetsInMs: resetsInMs ?? 0,
      crossed: toCrossed(crossed),
    };
  });
  return { refused: refused === "0" ? null : Number(refused) - 1, uses };
}

function toCrossed(level: number | undefined): ClaimUse["crossed"] {
  return level === 1 ? "near" : level === 2 ? "reached" : null;
}

/** Milliseconds for which a standing is known. */
const NOTED = 24 * 60 * 60 * 1000;

/**
 * KEYS: the hash of an owner. Its fields are leases, `l|process|id|kind` with `expires amount`; what was settled,
 * `s|process|time|kind` with the amount; counts, `c|kind` with `used resets level`; and `n|kind`, what was told.
 */
const READ = `
local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local leases, settled, counts, levels, last = {}, {}, {}, {}, 0
local function text(number) return string.format('%.0f', number) end
local function lasts(till) if till > last then last = till end end
local all = redis.call('HGETALL', key)
for at = 1, #all, 2 do
  local field, value = all[at], all[at + 1]
  local sort, till = string.sub(field, 1, 1), math.huge
  if sort == 'l' then
    local process, id, kind = string.match(field, '^l|([^|]*)|([^|]*)|(.*)$')
    local expires, amount = string.match(value, '^(%d+) (%d+)$')
    till = tonumber(expires)
    if till > now then leases[field] = { process = process, kind = kind, amount = tonumber(amount) } end
  elseif sort == 's' then
    local process, begun, kind = string.match(field, '^s|([^|]*)|([^|]*)|(.*)$')
    till = tonumber(begun) + ${BUCKET_MS + SETTLED_MS}
    if till > now then
      settled[#settled + 1] = { process = process, kind = kind, at = tonumber(begun), amount = tonumber(value) }
    end
  elseif sort == 'c' then
    local used, resets, level = string.match(value, '^(%d+) (%d+) (%d)$')
    till = tonumber(resets)
    if till > now then counts[string.sub(field, 3)] = { used = tonumber(used), resets = till, level = tonumber(level) } end
  else
    levels[string.sub(field, 3)] = tonumber(value)
    till = 0
  end
  if till > now then lasts(till) elseif sort ~= 'n' then redis.call('HDEL', key, field) end
end
local function others(process, own, kind, known, age, shown)
  local sum = math.max(known, 0)
  for field, lease in pairs(leases) do
    local counted = known < 0 or lease.process ~= process
    if lease.kind == kind and field ~= own and counted then sum = sum + lease.amount end
  end
  if known < 0 then return sum end
  for _, bucket in ipairs(settled) do
    local till = bucket.at
    if till % ${BUCKET_MS} == 0 and not shown then till = till + ${BUCKET_MS} end
    local later = till > now - age
    if bucket.kind == kind and bucket.process ~= process and later then sum = sum + bucket.amount end
  end
  return sum
end
local function level(used, most, refused, alternating, before)
  if refused then return 2 end
  if alternating then return 0 end
  if used >= most then return 2 end
  if used >= ${NEAR} * most then return math.max(1, before) end
  if used < ${FAR} * most then return 0 end
  return before
end
local function findCrossed(before, after) if after > before then return text(after) end return '0' end
local function keep()
  if last > now and redis.call('PTTL', key) < last - now then redis.call('PEXPIREAT', key, text(last)) end
end
`;

/** For claims of six words. ARGV: the process, the lease's id, 1 for tentative claims, the claims. */
const SUM = `
local process, id = ARGV[1], ARGV[2]
local function claim(at, shown)
  local kind, amount, most = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local field = 'l|' .. process .. '|' .. id .. '|' .. kind
  local sum = amount + others(process, field, kind, tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), shown)
  return { kind = kind, field = field, amount = amount, most = most, sum = sum, alternating = ARGV[at + 5] == '1' }
end
`;

const TAKE = plainScript(
  "write",
  `${READ}${SUM}
local claims, refused = {}, 0
for at = 4, #ARGV, 6 do
  claims[#claims + 1] = claim(at)
  if refused == 0 and claims[#claims].sum > claims[#claims].most then refused = #claims end
end
local reply = { text(refused) }
for at, each in ipairs(claims) do
  local used = each.sum
  if refused > 0 then used = used - each.amount end
  local before = levels[each.kind] or 0
  local after = before
  if refused == 0 or ARGV[3] == '0' then after = level(used, each.most, refused == at, each.alternating, before) end
  if refused == 0 then redis.call('HSET', key, each.field, text(now + ${LEASE_MS}) .. ' ' .. text(each.amount)) end
  if after ~= before then
    if after == 0 then redis.call('HDEL', key, 'n|' .. each.kind) else redis.call('HSET', key, 'n|' .. each.kind, text(after)) end
  end
  for _, word in ipairs({ text(used), '0', findCrossed(before, after) }) do reply[#reply + 1] = word end
end
lasts(now + ${LEASE_MS})
keep()
return reply
`,
  { isRepeatable: true },
);

const LOOK = plainScript(
  "write",
  `${READ}${SUM}
local reply = {}
for at = 4, #ARGV, 6 do reply[#reply + 1] = text(claim(at, true).sum) end
return reply
`,
  { isRepeatable: true },
);

/** ARGV: fields and amounts. */
const RENEW = plainScript(
  "write",
  `${READ}
for at = 1, #ARGV, 2 do redis.call('HSET', key, ARGV[at], text(now + ${LEASE_MS}) .. ' ' .. ARGV[at + 1]) end
lasts(now + ${LEASE_MS})
keep()
return 1
`,
  { isRepeatable: true },
);

/** ARGV: 1 if what they had is stored, and what the fields of each lease begin with. */
const END = plainScript(
  "write",
  `${READ}
for at = 2, #ARGV do
  for field, lease in pairs(leases) do
    if string.sub(field, 1, #ARGV[at]) == ARGV[at] then
      redis.call('HDEL', key, field)
      if ARGV[1] == '1' then
        local begun = now
        if #settled >= ${MOST_SETTLED} then begun = now - now % ${BUCKET_MS}
        elseif now % ${BUCKET_MS} == 0 then begun = now + 1 end
        redis.call('HINCRBY', key, 's|' .. lease.process .. '|' .. text(begun) .. '|' .. lease.kind, text(lease.amount))
        lasts(begun + ${BUCKET_MS + SETTLED_MS})
      end
    end
  end
end
keep()
return 1
`,
  { isRepeatable: true },
);

/** ARGV: a name and its level. */
const NOTE = plainScript(
  "write",
  `${READ}
local before, after = levels[ARGV[1]] or 0, tonumber(ARGV[2])
if after > 0 then
  redis.call('HSET', key, 'n|' .. ARGV[1], ARGV[2])
  lasts(now + ${NOTED})
  keep()
elseif before > 0 then
  redis.call('HDEL', key, 'n|' .. ARGV[1])
end
return { findCrossed(before, after) }
`,
  { isRepeatable: true },
);

/** ARGV: for each claim its kind, amount, limit or -1, milliseconds, and 1 if it is counted beyond the limit too. */
const COUNT = plainScript(
  "write",
  `${READ}
local claims, refused = {}, 0
for at = 1, #ARGV, 5 do
  local found = counts[ARGV[at]] or { used = 0, resets = now + tonumber(ARGV[at + 3]), level = 0 }
  local most = tonumber(ARGV[at + 2])
  if most < 0 then most = math.huge end
  local each = { kind = ARGV[at], amount = tonumber(ARGV[at + 1]), most = most, found = found }
  claims[#claims + 1] = each
  if refused == 0 and each.amount > 0 and ARGV[at + 4] == '0' and found.used + each.amount > most then refused = #claims end
end
local reply = { text(refused) }
for at, each in ipairs(claims) do
  local used, resets = each.found.used, each.found.resets
  if refused == 0 then used = used + each.amount end
  local after = level(used, each.most, refused == at, false, each.found.level)
  local left = 0
  if used > 0 then
    redis.call('HSET', key, 'c|' .. each.kind, text(used) .. ' ' .. text(resets) .. ' ' .. text(after))
    lasts(resets)
    left = resets - now
  end
  for _, word in ipairs({ text(used), text(left), findCrossed(each.found.level, after) }) do reply[#reply + 1] = word end
end
keep()
return reply
`,
  { isRepeatable: false },
);

/**
 * A state store in Redis, for Node.
 * @module
 */
import { checkRedisOptions, type RedisOptions } from "../redis/options.js";
import {
  hashName,
  isDone,
  plainScript,
  RedisKeys,
  RedisServer,
  type Script,
  strangeReply,
  readReplyText,
} from "../redis/server.js";
import {
  countBytes,
  type DatedText,
  type AfterRelease,
  CollectionStateStore,
  STATE_STORE_OPTIONS,
  StateLimits,
  type StateStoreOptions,
} from "./state-store.js";
import type { StorageAct } from "../errors/storage.js";
import { DAMAGED, LARGE } from "../redis/failures.js";
import { checkOptionNames } from "../errors/arguments.js";

/** Which server, and bounds. Either `url` or `client` is given. */
export interface RedisStateStoreOptions extends StateStoreOptions, RedisOptions {}

/**
 * Stores state in a Redis server, for any number of machines, any of which may be killed at any time. The state
 * survives the server's end as far as the server writes it to disk: completely with `appendonly yes` and `appendfsync
 * always`. Replicas lag behind: after a failover the last save or claim may be missing. A server with a
 * `maxmemory-policy` other than `noeviction` may drop runs.
 *
 * Each change is one script in the server. Claims end by the server's clock unless you give a `clock`. Tokens, ids
 * and owners are hashed; what is stored is not. All keys of a store are in one slot of a cluster, and all of them
 * expire.
 *
 * A call waits for a server that is away or not ready until its `timeoutSeconds` are over. `loadHistory` makes
 * several requests of about a megabyte each. Then, and if the server refuses, it throws SluiceError: E_STORE_FULL if
 * the server has no memory left; E_STORE_DENIED for a wrong password, missing rights, and by a replica;
 * E_STORE_CORRUPT; E_TOO_LARGE for what a store with a larger `maxBytes` saved; E_STORE_CLOSED after disposal;
 * E_MISUSE if `@redis/client` is not installed; else E_STORE_READ or E_STORE_WRITE. A change that throws one of these
 * last two may have been made. The next call reconnects.
 *
 * @example
 * await using stateStore = new RedisStateStore({ url: "redis://localhost:6379" });
 * const planner = new ReactPlanner({ catalog, llm, stateStore, artifactStore });
 */
export class RedisStateStore extends CollectionStateStore implements AsyncDisposable {
  readonly #server: RedisServer;

  /** Connects at first use. Throws SluiceError E_INVALID_ARGUMENT for a wrong server or bound. */
  constructor(options: RedisStateStoreOptions) {
    const own = ["client", "prefix", "timeoutSeconds", "url"] as const;
    checkOptionNames(options, "a RedisStateStore", [...own, ...STATE_STORE_OPTIONS]);
    const { server: given, stem, timeout } = checkRedisOptions(options);
    const limits = new StateLimits(options);
    const keys = new RedisKeys(stem);
    const server = new RedisServer(given, timeout, keys);
    const parts = { server, limits, keys, hasClock: options.clock !== undefined };
    const [runs, events] = [new RedisCollection("runs", parts), new RedisCollection("events", parts)];
    const [bindings, oauth] = [new RedisCollection("bindings", parts), new RedisCollection("oauth", parts)];
    super(limits, { runs, events, bindings, oauth });
    this.#server = server;
  }

  /** Waits for running calls, and closes the connection unless it is your own client. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
  }
}

/** Most milliseconds to keep anything, so that numbers stay exact. */
const MAX_AGE = 10 * 365 * 24 * 60 * 60 * 1000;
const MANY = 1e15;

/** What a collection is made of. */
interface CollectionParts {
  readonly server: RedisServer;
  readonly limits: StateLimits;
  readonly keys: RedisKeys;
  /** False: the server's clock is the one that counts. */
  readonly hasClock: boolean;
}

/** One collection: an index, and a key for each entry. */
class RedisCollection {
  readonly #name: string;
  readonly #parts: CollectionParts;
  #order = 0;

  constructor(name: string, parts: CollectionParts) {
    this.#name = name;
    this.#parts = parts;
  }

  /** Stores a text for at most so many milliseconds, replacing an earlier one and its claim. */
  async save(name: string, text: string, age = Infinity): Promise<void> {
    isDone(await this.#run(SAVE, name, this.#age(age), this.#most, text));
  }

  /** The text, or null. */
  async load(name: string): Promise<string | null> {
    return readReplyText(await this.#run(LOAD, name, amount(this.#parts.limits.maxBytes)));
  }

  /** As `load`, and deletes it. */
  async take(name: string): Promise<string | null> {
    return readReplyText(await this.#run(TAKE, name, amount(this.#parts.limits.maxBytes)));
  }

  async forget(name: string): Promise<void> {
    isDone(await this.#run(FORGET, name));
  }

  /** Claims an entry, `lease` in milliseconds. False if there is none, or another owner has it. */
  async claim(name: string, owner: string, lease: number): Promise<boolean> {
    return isDone(await this.#run(CLAIM, name, hashName(owner), amount(lease)));
  }

  /** Replaces the text of a claimed entry. False if the claim does not hold. */
  async update(name: string, owner: string, text: string): Promise<boolean> {
    return isDone(await this.#run(UPDATE, name, hashName(owner), this.#age(Infinity), text));
  }

  /** Ends a claim. False if it does not hold. */
  async release(name: string, owner: string, then: AfterRelease): Promise<boolean> {
    return isDone(await this.#run(RELEASE, name, hashName(owner), then));
  }

  /** Appends a text. */
  async add(name: string, text: string): Promise<void> {
    const { maxEvents, maxHistoryBytes } = this.#parts.limits;
    const bounds = [this.#most, amount(maxEvents), amount(maxHistoryBytes)];
    isDone(await this.#run(ADD, name, this.#age(Infinity), ...bounds, text));
  }

  /**
   * The appended texts, oldest first, without those that are too large. Read in pages, so that the server serves
   * others in between.
   */
  async all(name: string): Promise<readonly DatedText[]> {
    const { limits } = this.#parts;
    const found: DatedText[] = [];
    const sizes: number[] = [];
    for (let next: Page["next"] = ["0", ""]; next !== undefined;) {
      const bounds = [this.#age(Infinity), amount(limits.maxBytes)];
      const page = readPage(await this.#run(HISTORY, name, ...bounds, ...next), next[0]);
      found.unshift(...page.found.toReversed());
      sizes.unshift(...page.found.map(({ text }) => countBytes(text)).toReversed());
      const first = limits.firstKept(sizes);
      if (first > 0) return found.slice(first);
      next = page.next;
    }
    return found;
  }

  get #most(): string {
    return amount(this.#parts.limits.maxKept);
  }

  #age(wanted: number): string {
    return amount(Math.min(wanted, this.#parts.limits.maxAge, MAX_AGE));
  }

  #run(script: Script, name: string, ...words: readonly string[]): Promise<unknown> {
    const { server, keys } = this.#parts;
    const [entry, index] = [keys.one(this.#name, hashName(name)), keys.all(this.#name)];
    return server.run(script, [entry, index], [...this.#time(), ...words]);
  }

  /** The time, or empty for the server's own, and the order within a millisecond. */
  #time(): readonly [now: string, order: string] {
    if (!this.#parts.hasClock) return ["", ""];
    this.#order = (this.#order + 1) % 1000;
    return [String(this.#parts.limits.now()), String(this.#order / 1000)];
  }
}

/** A whole number above 0 that Lua reads exactly. */
function amount(value: number): string {
  return String(Math.max(1, Math.min(Math.floor(value), MANY)));
}

// Each change is one script, which the server runs as a whole. A collection is one key for each entry and an index: a sorted
// set of the entries' names by the time until when they are kept, the oldest first, with microseconds behind the point. The
// first write of each script is one that a server without memory refuses. It refuses no write behind that, so a script does
// all or nothing.

// ARGV[1] and ARGV[2]: the time in milliseconds and its microseconds as a fraction; empty for the server's own clock.
const TIME = `
local function number(text) return string.format('%.0f', text) end
local function reportDamage() return redis.error_reply('${DAMAGED} this is not what a store wrote') end
local now, order = tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  order = (time[2] % 1000) / 1000
end
`;

/** Functions for the index. It expires with its last entry, so nothing is left of an unused store. */
const INDEX = `
local function addToIndex(index, name, last)
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

/** Most claimed entries to look at. */
const MAX_CLAIMED = 300;

/**
 * Makes room for a new entry: deletes expired entries and the oldest ones. Limited to 100 at once, since other
 * commands wait. If all of the oldest are claimed, they are deleted.
 */
const ROOM = `
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

/** Reads an entry's expiry and claim: nil if there is none or it has expired, and whether it is damaged. */
const KEPT = `
local function readEntry()
  local fields = redis.call('HMGET', key, 'until', 'owner', 'leased')
  if not fields[1] then return nil, redis.call('EXISTS', key) == 1 end
  local last, leased = tonumber(fields[1]), tonumber(fields[3] or '0')
  if not last or not leased then return nil, true end
  if now >= last then return nil, false end
  return { last = last, owner = fields[2], leased = leased }, false
end
`;

/** Reads an entry's text. An error if it is too long or missing. */
const TEXT = `
local function text(most)
  local size = redis.call('HSTRLEN', key, 'text')
  if size == 0 then return reportDamage() end
  if size > most then return redis.error_reply('${LARGE} more than so many bytes') end
  return redis.call('HGET', key, 'text')
end
`;

/** Reads the prefix of a text in a history, and the text's size. Nil if it is invalid. */
const HEAD = `
local function head(each)
  local _, last, at, total = string.find(each or '', '^(%d+) (%d+) ')
  if not last then return nil end
  return tonumber(at), tonumber(total), #each - last
end
`;

/** Builds a script of parts. */
function buildScript(
  act: StorageAct,
  body: string,
  { parts, isRepeatable = false }: { readonly parts: readonly string[]; readonly isRepeatable?: boolean },
): Script {
  return plainScript(act, [TIME, ENTRY, ...parts, body].join(""), { isRepeatable });
}

/** Most texts of a page of a history. */
const PAGE_TEXTS = 200;
/** A page ends with the text that brings it to so many bytes: other commands wait meanwhile. */
const PAGE_BYTES = 1024 * 1024;

/** ARGV: age, how many may be kept, text. */
const SAVE = buildScript(
  "write",
  `
local age, most = tonumber(ARGV[3]), tonumber(ARGV[4])
addToIndex(index, name, now + age)
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
const LOAD = buildScript(
  "read",
  `
local entry, wrong = readEntry()
if wrong then return reportDamage() end
if not entry then return false end
return text(tonumber(ARGV[3]))
`,
  { parts: [KEPT, TEXT], isRepeatable: true },
);

/** As {@link LOAD}, and deletes it. A text that is too large stays, for a store that accepts it. */
const TAKE = buildScript(
  "write",
  `
local entry, wrong = readEntry()
if wrong then return reportDamage() end
if not entry then return false end
local found = text(tonumber(ARGV[3]))
if type(found) ~= 'string' then return found end
drop(index, stem, name)
return found
`,
  { parts: [INDEX, KEPT, TEXT] },
);

/** Deletes an entry. */
const FORGET = buildScript("write", `drop(index, stem, name)\nreturn 1\n`, { parts: [INDEX] });

/** ARGV: owner, lease. */
const CLAIM = buildScript(
  "write",
  `
local entry, wrong = readEntry()
if wrong then return reportDamage() end
if not entry or (entry.owner ~= ARGV[3] and now < entry.leased) then return 0 end
local lease = tonumber(ARGV[4])
redis.call('HSET', key, 'owner', ARGV[3], 'leased', number(now + lease))
if now + lease > entry.last then
  redis.call('HSET', key, 'until', number(now + lease))
  redis.call('PEXPIRE', key, ARGV[4])
  addToIndex(index, name, now + lease)
  lasts(index, lease)
end
return 1
`,
  { parts: [INDEX, KEPT], isRepeatable: true },
);

/** ARGV: owner, age, text. */
const UPDATE = buildScript(
  "write",
  `
local entry, wrong = readEntry()
if wrong then return reportDamage() end
if not entry or entry.owner ~= ARGV[3] or now >= entry.leased then return 0 end
local last = math.max(now + tonumber(ARGV[4]), entry.leased)
addToIndex(index, name, last)
redis.call('HSET', key, 'until', number(last), 'text', ARGV[5])
redis.call('PEXPIRE', key, number(last - now))
lasts(index, last - now)
return 1
`,
  { parts: [INDEX, KEPT], isRepeatable: true },
);

/** ARGV: owner, `wait` or `forget`. */
const RELEASE = buildScript(
  "write",
  `
local entry, wrong = readEntry()
if wrong then return reportDamage() end
if not entry or entry.owner ~= ARGV[3] or now >= entry.leased then return 0 end
if ARGV[4] == 'forget' then drop(index, stem, name) else redis.call('HDEL', key, 'owner', 'leased') end
return 1
`,
  { parts: [INDEX, KEPT] },
);

/**
 * Appends to a history, a list of `time total text`. The total is that of all bytes ever appended, including this
 * text. ARGV: age, most histories, most texts of each, most bytes of all of them, text.
 */
const ADD = buildScript(
  "write",
  `
local age, most, bytes = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
local _, last = head(redis.call('LINDEX', key, -1))
local total = (last or 0) + #ARGV[7]
addToIndex(index, name, now + age)
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
 * Reads a page of a history: the position of the next page, or empty, and the entries `time total text`, newest
 * first. ARGV: age, most bytes of each, how many were read before, and the total of the last of these: some may be
 * new since then.
 */
const HISTORY = buildScript(
  "read",
  `
local age, seen, before = tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6])
local found, read = { '' }, 0
for _ = 1, ${PAGE_TEXTS} do
  local each = redis.call('LINDEX', key, number(-1 - seen))
  if not each then return found end
  local at, total, size = head(each)
  if not at then return reportDamage() end
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

/** A page of a history. */
interface Page {
  /** Newest first. */
  readonly found: readonly DatedText[];
  /** The position of the next page, if any. */
  readonly next: readonly [seen: string, before: string] | undefined;
}

/** Reads a reply as a page. Throws SluiceError E_STORE_READ for anything else. */
function readPage(reply: unknown, seenBefore: string): Page {
  const [next, ...texts]: readonly unknown[] = Array.isArray(reply) ? reply : [];
  const [, seen, before] = /^(\d+) (\d+)$/.exec(readReplyText(next) ?? "") ?? [];
  if (next !== "" && !(before !== undefined && Number(seen) > Number(seenBefore))) throw strangeReply();
  const found = texts.map((each) => {
    const [, at, text] = /^(\d+) \d+ ([^]*)$/.exec(readReplyText(each) ?? "") ?? [];
    if (text === undefined) throw strangeReply();
    return { at: Number(at), text };
  });
  return { found, next: seen === undefined || before === undefined ? undefined : [seen, before] };
}

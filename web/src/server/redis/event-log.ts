/**
 * The event log in Redis.
 * @module
 */
import { randomBytes } from "node:crypto";
import { onAbort, untilAborted } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
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
  CHANNEL_SECONDS,
  ENDED_SECONDS,
  EVENTS_LOST,
  isBefore,
  MAX_CHANNEL_BYTES,
  MAX_CHANNELS,
  MAX_EVENTS,
  placeAfter,
  writeEventText as eventText,
  type EventEntry,
  type EventLog,
  type LoggedEvent,
} from "../sessions/event-log.js";
import { Followers, Subscriber, type Follower } from "./subscriber.js";

export interface RedisEventLogParts {
  readonly server: Pick<RedisServer, "run">;
  readonly keys: RedisKeys;
  /** The server's URL, for a separate connection that receives messages. */
  readonly url: string;
  /** Milliseconds for connecting. */
  readonly timeout: number;
  /** Milliseconds between sweeps, in which followers look without a message. Defaults to 15 seconds. */
  readonly sweepEvery?: number;
  /** @defaultValue {@link MAX_CHANNELS} */
  readonly maxChannels?: number;
}

/** A page of events after an id. */
interface Page {
  readonly state: "ended" | "more" | "";
  readonly newest: string;
  /** An id before all stored events, or empty. */
  readonly floor: string;
  readonly isTrimmed: boolean;
  readonly entries: readonly (readonly [id: string, text: string])[];
}

/** Most events of a page, and most bytes not counting the first event: so much a slow listener holds. */
const PAGE_EVENTS = 100;
const PAGE_BYTES = 64 * 1024;

const SWEEP_EVERY = 15_000;
/** Channels per sweep script: other commands wait meanwhile. */
const SWEEP_CHANNELS = 200;

/** Milliseconds for followers of an ended channel to read its last events. */
const LAST_WORDS = 60_000;

/**
 * Stores events for all processes with the same server and prefix. However many follow in a process, one connection
 * receives messages, and then only the followers concerned read. While the server is away followers wait, and resume
 * where they were.
 */
export class RedisEventLog implements EventLog, AsyncDisposable {
  readonly #parts: Required<RedisEventLogParts>;
  readonly #wakeChannel: string;
  readonly #followers = new Followers();
  readonly #subscriber: Subscriber;
  readonly #over = new AbortController();
  #sweeping: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: RedisEventLogParts) {
    this.#parts = { sweepEvery: SWEEP_EVERY, maxChannels: MAX_CHANNELS, ...parts };
    this.#wakeChannel = parts.keys.all("events");
    this.#subscriber = new Subscriber({
      url: parts.url,
      timeout: parts.timeout,
      channel: this.#wakeChannel,
      onMessage: (channel) => this.#followers.wake(channel),
      onListening: () => this.#followers.wakeAll(),
    });
  }

  async append(channel: string, event: LoggedEvent): Promise<string> {
    const text = eventText(event);
    const hash = hashName(channel);
    const bounds = [MAX_EVENTS, MAX_CHANNEL_BYTES, CHANNEL_SECONDS * 1000, this.#parts.maxChannels];
    const words = [text, randomBytes(9).toString("hex"), this.#wakeChannel, hash, ...bounds.map(String)];
    const id = readReplyText(await this.#parts.server.run(APPEND, this.#keys(hash), words));
    if (id === null)
      throw new SluiceError("E_STORE_WRITE", "The Redis server did not confirm what it stored: try again.");
    return id;
  }

  async *follow(
    channel: string,
    { after, signal }: { readonly after: string | null; readonly signal: AbortSignal },
  ): AsyncIterable<EventEntry> {
    const { until, forget } = this.#whileOpen(signal);
    const isOver = (): boolean => until.aborted;
    const hash = hashName(channel);
    const follower = this.#followers.add(hash);
    let place = placeAfter(after);
    let begins = true;
    this.#listen();
    try {
      while (!isOver()) {
        const page = await this.#look(hash, follower, { place, begins, until });
        if (page === undefined) continue;
        begins = false;
        for (const entry of listEntries(page, place)) {
          place = entry.id;
          yield entry;
          if (isOver()) return;
        }
        if (page.state === "ended") return;
        if (page.state === "") await follower.due(until);
      }
    } finally {
      forget();
      this.#followers.remove(hash, follower);
    }
  }

  async latest(channel: string): Promise<EventEntry | null> {
    const keys = this.#keys(hashName(channel)).slice(0, 2);
    const [id, text] = readReplyTexts(await this.#parts.server.run(LATEST, keys, []));
    return id === undefined || text === undefined ? null : { id, event: parseStored(text) as LoggedEvent };
  }

  async has(channel: string): Promise<boolean> {
    return isDone(await this.#parts.server.run(HAS, this.#keys(hashName(channel)), []));
  }

  async end(channel: string): Promise<void> {
    const hash = hashName(channel);
    const words = [this.#wakeChannel, hash, String(LAST_WORDS), String(ENDED_SECONDS * 1000)];
    isDone(await this.#parts.server.run(END, this.#keys(hash), words));
  }

  /** Ends all followers and the connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    clearTimeout(this.#sweeping);
    await this.#subscriber.close();
  }

  /** Reads a page. Undefined if that failed and is to be tried again. */
  async #look(
    hash: string,
    follower: Follower,
    { place, begins, until }: { readonly place: string | null; readonly begins: boolean; readonly until: AbortSignal },
  ): Promise<Page | undefined> {
    follower.look();
    const words = [place ?? "", begins ? "begins" : "", String(PAGE_EVENTS), String(PAGE_BYTES)];
    try {
      const reply = await untilAborted(this.#parts.server.run(READ, this.#keys(hash).slice(0, 2), words), until);
      const page = parsePage(readReplyTexts(reply));
      if (page.state === "") follower.seen = page.newest;
      return page;
    } catch (error) {
      if (until.aborted) return undefined;
      if (begins || !(error instanceof SluiceError) || error.code !== "E_STORE_READ") throw error;
      // The next sweep that reaches the server wakes the follower if there are events.
      await follower.due(until);
      return undefined;
    }
  }

  /** As `AbortSignal.any`, which leaks with long-lived signals. */
  #whileOpen(signal: AbortSignal): { readonly until: AbortSignal; readonly forget: () => void } {
    const over = new AbortController();
    const both = [signal, this.#over.signal];
    if (both.some(({ aborted }) => aborted)) over.abort();
    const forgets = both.map((each) => onAbort(each, () => over.abort()));
    return { until: over.signal, forget: () => forgets.forEach((each) => each()) };
  }

  #listen(): void {
    this.#subscriber.open();
    this.#sweeping ??= this.#sweepLater();
  }

  #sweepLater(): ReturnType<typeof setTimeout> | undefined {
    if (this.#over.signal.aborted) return undefined;
    return setTimeout(() => void this.#sweep(), this.#parts.sweepEvery).unref();
  }

  /** Looks for events without a message. Ends with the last follower. */
  async #sweep(): Promise<void> {
    const channels = this.#followers.channels;
    try {
      if (channels.length > 0) this.#subscriber.check();
      for (let at = 0; at < channels.length; at += SWEEP_CHANNELS) {
        await this.#compare(channels.slice(at, at + SWEEP_CHANNELS));
      }
    } catch {
      // The server is away. All followers look when it is connected again, or with the next sweep.
    }
    this.#sweeping = this.#followers.isEmpty ? undefined : this.#sweepLater();
  }

  async #compare(channels: readonly string[]): Promise<void> {
    const { server, keys: names } = this.#parts;
    const keys = [names.all("channels"), ...channels.flatMap((hash) => this.#keys(hash).slice(0, 2))];
    const reply = await server.run(SWEEP, keys, [this.#wakeChannel, String(CHANNEL_SECONDS * 1000), ...channels]);
    for (const [at, newest] of readReplyTexts(reply).entries()) this.#followers.compare(channels[at] ?? "", newest);
  }

  #keys(hash: string): readonly string[] {
    const { keys } = this.#parts;
    const known = keys.one("channels", hash);
    return [known, `${known}:events`, keys.all("channels")];
  }
}

function* listEntries({ floor, isTrimmed, entries }: Page, place: string | null): Iterable<EventEntry> {
  const isLost = floor !== "" && (place === null ? isTrimmed : isBefore(place, floor));
  if (isLost) yield { id: floor, event: EVENTS_LOST };
  for (const [id, text] of entries) yield { id, event: parseStored(text) as LoggedEvent };
}

function parsePage([state = "", newest = "", floor = "", trimmed = "", ...rest]: readonly string[]): Page {
  const entries: [string, string][] = [];
  for (let at = 0; at + 1 < rest.length; at += 2) entries.push([rest[at] ?? "", rest[at + 1] ?? ""]);
  return {
    state: state === "ended" || state === "more" ? state : "",
    newest,
    floor,
    isTrimmed: trimmed !== "",
    entries,
  };
}

/** Characters of `recent`: repeated appends of some dozen events are recognised. */
const RECENT = 600;

// KEYS: the channel's fields, its stream, and the index of all channels by the time of their last event.
const NAMES = `
local known, stream, index = KEYS[1], KEYS[2], KEYS[3]
local function number(text) return string.format('%.0f', text) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Adding an event comes first: a server without memory refuses the first write of a script, and none after it. ARGV:
 * the event, its sender's id (by which a repeated append is recognised), the message channel, the channel's hash, and
 * most events, bytes, milliseconds and channels.
 */
const APPEND = plainScript(
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
 * The channel's fields and the events after an id: `ended`, `more` if there are more events, or nothing; `last`,
 * `floor`, `trimmed`. ARGV: the id, empty for all; whether the follower begins, who gets nothing of an ended channel;
 * most events, and most bytes not counting the first event.
 */
const READ = plainScript(
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

/** The id and the text of the last event. */
const LATEST = plainScript(
  "read",
  `
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return {} end
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if not last then return {} end
return { last[1], last[2][2] }
`,
  { isRepeatable: true },
);

/** Whether a channel exists. */
const HAS = plainScript(
  "read",
  `
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
return redis.call('EXISTS', KEYS[2])
`,
  { isRepeatable: true },
);

/**
 * Followers can read the last events meanwhile, and later ones learn that the channel ended. ARGV: the message
 * channel, the channel's hash, milliseconds to keep the events, and to remember the end.
 */
const END = plainScript(
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
 * The last id of each channel, `ended`, or empty. Renews the expiry of followed channels, and sends an empty message
 * so that the connection hears something. KEYS: the index, and for each channel its fields and its stream. ARGV: the
 * message channel, milliseconds to keep a channel, the channels' hashes.
 */
const SWEEP = plainScript(
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

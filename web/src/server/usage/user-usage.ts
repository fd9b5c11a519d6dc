/**
 * Holds users to their limits. Every way in that begins, stores, starts or asks something goes through here.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { KeyedQueue } from "../../core/keyed-work.js";
import { untilLate } from "../../core/abort.js";
import { BoundedMap } from "./bounded-map.js";
import type { Announcer } from "../sessions/announcer.js";
import { keyOfUser, type SessionRegister } from "../sessions/session-register.js";
import type { Identity } from "../session.js";
import {
  BUCKET_MS,
  LEASE_MS,
  NEAR,
  type ClaimUse,
  type CountClaim,
  type CountedKind,
  type HeldLease,
  type Lease,
  type LeaseClaim,
  type LeasedKind,
  type UsageRegister,
} from "./usage-register.js";
import {
  USER_LIMIT_NAMES,
  USER_LIMITS,
  UserLimitReached,
  type LimitUse,
  type UserLimitName,
  type UserLimits,
} from "./user-limits.js";

/** What is stored, and held under leases while it is on its way. */
export type StoredKind = Extract<LeasedKind, "artifactBytes" | "fileBytes" | "files">;

/** What a store has of a user. */
export interface StoredUse {
  readonly amounts: Readonly<Partial<Record<StoredKind, number>>>;
  /** When what other processes stored was read, by `performance.now`. */
  readonly readAt: number;
}

/**
 * Reads what a store has of a user, again if it was read more than `maxAge` milliseconds ago. Calls `onRead` in the moment
 * in which it is so: leases that end later are not in it. Throws SluiceError E_STORE_….
 */
export type ReadUse = (identity: Identity, maxAge: number, onRead: () => void) => Promise<StoredUse>;

interface UserUsageDeps {
  readonly state: {
    readonly usage: UsageRegister;
    readonly sessions: Pick<SessionRegister, "ofUser">;
    readonly isShared: boolean;
  };
  readonly limits: UserLimits;
  readonly announcer: Pick<Announcer, "tell">;
  /** Receives failures. Must not throw. */
  readonly report: (error: unknown) => void;
}

interface Held {
  /** The leases of this process when the store was read. */
  readonly held: readonly HeldLease[];
}

/** A limit as a client is told of it. */
interface ShownLimit {
  readonly used: number;
  readonly limit: number;
  /** Milliseconds since 1970. */
  readonly resets_at?: number;
}

/** What a request used: refused, or the headers of its answer. */
export interface RequestVerdict {
  readonly refused: UserLimitReached | null;
  /** `RateLimit-Policy` and `RateLimit`, of draft-ietf-httpapi-ratelimit-headers. */
  readonly headers: Readonly<Record<string, string>>;
}

const REQUESTS = ["requestsPerMinute", "requestsPerDay"] as const;

/** Milliseconds that a request waits to be counted. One that cannot be counted passes. */
const COUNTING = 1000;

/** Milliseconds by which a reading of a store may be older than it says. */
const MARGIN = 250;

/** Most milliseconds since a store was read: for a claim that was refused, and for what is shown. */
const REFUSED_AGE = 1000;
const SHOWN_AGE = 5000;

/** Milliseconds after which a refused claim is made once more: this process's own work may have been counted twice. */
const AGAIN = 5;

/** Most sessions of a user that are told of a limit. */
const MOST_TOLD = 100;

/** Most users of whom is remembered what they were told or refused. */
const MOST_USERS = 10_000;

/** Counts for one process. */
export class UserUsage implements AsyncDisposable {
  readonly limits: UserLimits;
  readonly #deps: UserUsageDeps;
  readonly #process: string = crypto.randomUUID();
  readonly #held = new Map<string, Map<string, HeldLease>>();
  readonly #turns = new KeyedQueue();
  readonly #reads = new Map<StoredKind, ReadUse>();
  /** Until when a user's claims are refused without waiting, by `performance.now`. */
  readonly #full = new BoundedMap<string, number>(MOST_USERS);
  readonly #timer: ReturnType<typeof setInterval>;
  #last = 0;

  constructor(deps: UserUsageDeps) {
    this.#deps = deps;
    this.limits = deps.limits;
    this.#timer = setInterval(() => this.#renew(), LEASE_MS / 3);
    this.#timer.unref();
  }

  /** Says where the bytes of a kind are. */
  readFrom(kind: StoredKind, read: ReadUse): void {
    this.#reads.set(kind, read);
  }

  /** Counts a request. While the register is away requests pass: these limits protect the services behind. */
  async request(identity: Identity): Promise<RequestVerdict> {
    const claims = REQUESTS.filter((kind) => this.limits[kind] !== undefined).map((kind) => this.#claim(kind, 1));
    if (claims.length === 0) return { refused: null, headers: {} };
    try {
      const countClaims = (): Promise<readonly [ClaimUse[], UserLimitReached | null]> => this.#count(identity, claims);
      const [uses, refused] = await untilLate(countClaims, {
        most: COUNTING,
        late: toUncountedError,
        signal: undefined,
      });
      return { refused, headers: writeHeaders(claims, uses) };
    } catch (error) {
      this.#deps.report(error);
      return { refused: null, headers: {} };
    }
  }

  /** Throws UserLimitReached if no token of the model is left for the user; SluiceError E_STORE_…. */
  async tokensLeft(identity: Identity): Promise<void> {
    const most = this.limits.tokensPerDay;
    if (most === undefined) return;
    const [[use]] = await this.#count(identity, [this.#claim("tokensPerDay", 0)]);
    if (use !== undefined && use.used >= most) throw new UserLimitReached("tokensPerDay", { ...use, most });
  }

  /** Counts tokens that were used, also beyond the limit. Never throws. */
  async spendTokens(identity: Identity, tokens: number): Promise<void> {
    if (this.limits.tokensPerDay === undefined || tokens <= 0) return;
    const { state, report } = this.#deps;
    try {
      const claim = { ...this.#claim("tokensPerDay", tokens), isSpent: true };
      const { uses } = await state.usage.count(keyOfUser(identity), [claim]);
      this.#tell(identity, "tokensPerDay", uses[0]);
    } catch (error) {
      report(error);
    }
  }

  /** Tells a user of their sessions, after one was begun or refused. Never throws. */
  async sessionBegun(identity: Identity, isRefused: boolean): Promise<void> {
    const most = this.limits.sessions;
    if (most === undefined) return;
    const key = keyOfUser(identity);
    const used = await this.#sessions(identity).catch(() => 0);
    const standing = isRefused ? "reached" : used >= NEAR * most ? "near" : "far";
    const crossed = await this.#deps.state.usage.note(key, "sessions", standing).catch((error: unknown) => {
      this.#deps.report(error);
      return null;
    });
    this.#tell(identity, "sessions", { used, resetsInMs: 0, crossed });
  }

  /** The error for a user with too many sessions. */
  async sessionsReached(identity: Identity): Promise<UserLimitReached> {
    const { sessions: most = 0 } = this.limits;
    await this.sessionBegun(identity, true);
    return new UserLimitReached("sessions", { used: await this.#sessions(identity), most });
  }

  /**
   * Holds one program or one run until it is disposed of, or this process dies.
   *
   * @throws UserLimitReached; SluiceError E_STORE_….
   */
  async hold(identity: Identity, kind: "programs" | "runs"): Promise<Disposable> {
    const most = this.limits[kind];
    if (most === undefined) return NOTHING_HELD;
    const lease = this.#newLease();
    const owner = keyOfUser(identity);
    const { refused, uses } = await this.#deps.state.usage.take(owner, lease, [{ kind, amount: 1, most }]);
    this.#tell(identity, kind, uses[0]);
    if (refused !== null) throw new UserLimitReached(kind, { used: uses[0]?.used ?? most, most });
    this.#keep(owner, { ...lease, amounts: { [kind]: 1 } });
    return { [Symbol.dispose]: () => this.#end(owner, lease, false) };
  }

  /** Begins to store something for a user. Nothing is held before it is covered. */
  storing(identity: Identity): StoringLease {
    const owner = keyOfUser(identity);
    const lease = this.#newLease();
    return {
      cover: (amounts, isAhead) => this.#turns.take(owner, () => this.#cover(identity, lease, { amounts, isAhead })),
      end: ({ isStored }) => this.#end(owner, lease, isStored),
    };
  }

  /** What a user uses of each limit that is set. Throws SluiceError E_STORE_…. */
  async shown(identity: Identity): Promise<Readonly<Record<string, ShownLimit>>> {
    const owner = keyOfUser(identity);
    const { usage } = this.#deps.state;
    const nothing = { artifactBytes: 0, fileBytes: 0, files: 0, programs: 0, runs: 0 };
    const leased = await this.#claims(identity, nothing, { margin: 0, maxAge: SHOWN_AGE });
    const counted = (Object.keys(USER_LIMITS) as UserLimitName[])
      .filter((name): name is CountedKind => isCounted(name) && this.limits[name] !== undefined)
      .map((name) => this.#claim(name, 0));
    const [sums, { uses }] = await Promise.all([
      leased.length === 0 ? [] : usage.look(owner, this.#process, leased),
      counted.length === 0 ? { uses: [] } : usage.count(owner, counted),
    ]);
    const used = new Map<UserLimitName, Pick<ClaimUse, "used" | "resetsInMs">>();
    leased.forEach(({ kind }, at) => used.set(kind, { used: sums[at] ?? 0, resetsInMs: 0 }));
    counted.forEach(({ kind }, at) => used.set(kind, uses[at] ?? { used: 0, resetsInMs: 0 }));
    if (this.limits.sessions !== undefined)
      used.set("sessions", { used: await this.#sessions(identity), resetsInMs: 0 });
    const shown: Record<string, ShownLimit> = {};
    for (const name of USER_LIMIT_NAMES) {
      const [use, limit] = [used.get(name), this.limits[name]];
      if (use === undefined || limit === undefined) continue;
      const resets = use.resetsInMs > 0 && { resets_at: Math.ceil(Date.now() + use.resetsInMs) };
      shown[USER_LIMITS[name].key] = { used: use.used, limit, ...resets };
    }
    return shown;
  }

  /** Gives back what is held. Never throws. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const held = [...this.#held];
    this.#held.clear();
    const { usage } = this.#deps.state;
    await Promise.allSettled(held.map(([owner, leases]) => usage.end(owner, [...leases.values()])));
  }

  async #sessions(identity: Identity): Promise<number> {
    return (await this.#deps.state.sessions.ofUser(identity)).length;
  }

  #claim(kind: CountedKind, amount: number): CountClaim {
    return { kind, amount, most: this.limits[kind], seconds: USER_LIMITS[kind].seconds ?? 0 };
  }

  async #count(
    identity: Identity,
    claims: readonly CountClaim[],
  ): Promise<readonly [ClaimUse[], UserLimitReached | null]> {
    const { refused, uses } = await this.#deps.state.usage.count(keyOfUser(identity), claims);
    claims.forEach(({ kind }, at) => this.#tell(identity, kind, uses[at]));
    const [claim, use] = refused === null ? [] : [claims[refused], uses[refused]];
    if (claim?.most === undefined || use === undefined) return [[...uses], null];
    return [[...uses], new UserLimitReached(claim.kind, { ...use, most: claim.most })];
  }

  /** Claims for what is limited, with what the stores have. */
  async #claims(
    identity: Identity,
    amounts: Readonly<Partial<Record<LeasedKind, number>>>,
    { except = "", maxAge = Infinity, margin = MARGIN } = {},
  ): Promise<readonly LeaseClaim[]> {
    const claims: LeaseClaim[] = [];
    const read = new Map<ReadUse, Promise<StoredUse & Held>>();
    const readNow = async (reading: ReadUse): Promise<StoredUse & Held> => {
      let held: readonly HeldLease[] = [];
      const use = await reading(identity, maxAge, () => {
        held = [...(this.#held.get(keyOfUser(identity))?.values() ?? [])].filter(({ id }) => id !== except);
      });
      return { ...use, held };
    };
    for (const [kind, amount] of Object.entries(amounts) as [LeasedKind, number][]) {
      const most = this.limits[kind];
      if (most === undefined) continue;
      const reading = this.#reads.get(kind as StoredKind);
      if (kind === "programs" || kind === "runs") claims.push({ kind, amount, most });
      if (reading === undefined) continue;
      const found = read.get(reading) ?? readNow(reading);
      read.set(reading, found);
      const { amounts: stored, readAt, held } = await found;
      const under = held.reduce((sum, each) => sum + (each.amounts[kind] ?? 0), 0);
      const known = { amount: (stored[kind as StoredKind] ?? 0) + under, ageMs: performance.now() - readAt + margin };
      claims.push({ kind, amount, most, known });
    }
    return claims;
  }

  /** Called in the turn of its user. Throws UserLimitReached, SluiceError E_STORE_…. */
  async #cover(
    identity: Identity,
    lease: Lease,
    { amounts, isAhead }: { readonly amounts: StoredUse["amounts"]; readonly isAhead: boolean },
  ): Promise<boolean> {
    const owner = keyOfUser(identity);
    const { usage, isShared } = this.#deps.state;
    // What others stored a moment ago may be counted twice: it is waited for, but not again and again.
    const waits = [0, AGAIN, ...(isShared ? [BUCKET_MS + 2 * MARGIN] : [])];
    for (const [attempt, wait] of waits.entries()) {
      if (wait > 0) await sleep(wait);
      const isFull = (this.#full.get(owner) ?? 0) > performance.now();
      const maxAge = attempt > 0 || isFull ? REFUSED_AGE : Infinity;
      const claims = await this.#claims(identity, amounts, { except: lease.id, maxAge });
      if (claims.length === 0) return true;
      const isLast = attempt === waits.length - 1 || isFull;
      const { refused, uses } = await usage.take(owner, lease, claims, isAhead || !isLast);
      if (refused !== null && isAhead) return false;
      if (refused !== null && !isLast) continue;
      claims.forEach(({ kind }, at) => this.#tell(identity, kind, uses[at]));
      if (refused === null) {
        this.#keep(owner, { ...lease, amounts });
        return true;
      }
      if (!isFull) this.#full.set(owner, performance.now() + 2 * BUCKET_MS);
      const [claim, use] = [claims[refused], uses[refused]];
      if (claim !== undefined) throw new UserLimitReached(claim.kind, { used: use?.used ?? 0, most: claim.most });
    }
    return false;
  }

  #newLease(): Lease {
    return { process: this.#process, id: String(++this.#last) };
  }

  #keep(owner: string, lease: HeldLease): void {
    const leases = this.#held.get(owner) ?? new Map<string, HeldLease>();
    this.#held.set(owner, leases.set(lease.id, lease));
  }

  /** A lease that cannot be ended ends by itself. */
  #end(owner: string, lease: Lease, stored: boolean): void {
    const leases = this.#held.get(owner);
    if (leases?.delete(lease.id) !== true) return;
    if (leases.size === 0) this.#held.delete(owner);
    this.#deps.state.usage.end(owner, [lease], { stored }).catch(this.#deps.report);
  }

  #renew(): void {
    const { usage } = this.#deps.state;
    for (const [owner, leases] of this.#held) {
      usage.renew(owner, [...leases.values()]).catch(this.#deps.report);
    }
  }

  /** Tells the user's sessions what was crossed, without waiting for it. */
  #tell(identity: Identity, name: UserLimitName, use: ClaimUse | undefined): void {
    const limit = this.limits[name];
    if (use === undefined || use.crossed === null || limit === undefined) return;
    const { used, resetsInMs, crossed } = use;
    const kind = crossed === "near" ? "limit_near" : "limit_reached";
    const resets = resetsInMs > 0 && { resets_at: Math.ceil(Date.now() + resetsInMs) };
    const event = { kind, limit: USER_LIMITS[name].key, used, most: limit, ...resets } as const;
    const telling = async (): Promise<void> => {
      const sessions = await this.#deps.state.sessions.ofUser(identity);
      await Promise.all(sessions.slice(0, MOST_TOLD).map((id) => this.#deps.announcer.tell(id, event)));
    };
    telling().catch(this.#deps.report);
  }
}

/** A lease on room for what is being stored. */
export interface StoringLease {
  /**
   * Makes sure that there is room for so much in all. With `isAhead` it is not needed yet: returns false if there is none.
   *
   * @throws UserLimitReached; SluiceError E_STORE_….
   */
  readonly cover: (amounts: StoredUse["amounts"], isAhead: boolean) => Promise<boolean>;
  /** Gives back what was held. Called in the very moment in which what was stored is counted by its store. */
  readonly end: (how: { readonly isStored: boolean }) => void;
}

const NOTHING_HELD: Disposable = { [Symbol.dispose]: () => undefined };

function toUncountedError(): Error {
  return new Error("The requests of a user were not counted in time.");
}

function isCounted(name: UserLimitName): name is CountedKind {
  return USER_LIMITS[name].seconds !== undefined;
}

/** The headers for what was counted. */
function writeHeaders(claims: readonly CountClaim[], uses: readonly LimitUseOf[]): Readonly<Record<string, string>> {
  const policies = claims.map(({ kind, most = 0, seconds }) => `"${USER_LIMITS[kind].key}";q=${most};w=${seconds}`);
  const left = claims.map(({ kind, most = 0 }, at) => {
    const { used = 0, resetsInMs = 0 } = uses[at] ?? {};
    return `"${USER_LIMITS[kind].key}";r=${Math.max(0, most - used)};t=${Math.ceil(resetsInMs / 1000)}`;
  });
  return { "RateLimit-Policy": policies.join(", "), RateLimit: left.join(", ") };
}

type LimitUseOf = Partial<Pick<LimitUse, "used" | "resetsInMs">>;

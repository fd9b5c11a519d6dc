/**
 * What users have under way and have used, over all processes: leases, which end with their process, and counts, which
 * reset.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";

/** What is held under a lease. */
export type LeasedKind = "artifactBytes" | "fileBytes" | "files" | "programs" | "runs";

/** What is counted in a window of time. */
export type CountedKind = "requestsPerMinute" | "requestsPerDay" | "tokensPerDay";

/** A part of a lease, and the limit that it is held to. */
export interface LeaseClaim {
  readonly kind: LeasedKind;
  /** How much the whole lease has of it from now on. A whole number of at least 0. */
  readonly amount: number;
  /** The limit. */
  readonly most: number;
  /**
   * What this process knows of it: what it sees stored, with its own leases except this one. Left out where leases are
   * all that there is.
   */
  readonly known?: KnownUse;
}

/** What a process knows to be stored. */
export interface KnownUse {
  readonly amount: number;
  /** Milliseconds since what other processes stored was read. What they stored later is added. */
  readonly ageMs: number;
}

/** A lease of a process. */
export interface Lease {
  /** The process: 1 to 64 letters, digits and `-`. */
  readonly process: string;
  /** Its own in the process: as above. */
  readonly id: string;
}

/** A lease and what it has. */
export interface HeldLease extends Lease {
  readonly amounts: Readonly<Partial<Record<LeasedKind, number>>>;
}

/** An amount to count, and the limit. */
export interface CountClaim {
  readonly kind: CountedKind;
  /** A whole number of at least 0. 0 looks only. */
  readonly amount: number;
  /** The limit. Undefined counts without one. */
  readonly most: number | undefined;
  /** Seconds from the first that was counted until it resets. */
  readonly seconds: number;
  /** Whether it is counted beyond the limit too, since it has happened. Defaults to false. */
  readonly isSpent?: boolean;
}

/** What is used of a claim's kind. */
export interface ClaimUse {
  /** After the claim, or without it if it was refused. */
  readonly used: number;
  /** Milliseconds until a count resets. 0 for leases, and for counts that have not begun. */
  readonly resetsInMs: number;
  /**
   * What is to be told: `near` from 80 % on, `reached` if it was refused, or all of an amount that adds up is used. Null
   * if that was told already, by whatever process, and it has not fallen below 70 % since.
   */
  readonly crossed: "near" | "reached" | null;
}

/** The outcome: what is used of each claim, in their order, and the first that was refused. Then nothing is taken. */
export interface UsageVerdict {
  readonly refused: number | null;
  readonly uses: readonly ClaimUse[];
}

/** Milliseconds until a lease ends that its process does not renew. */
export const LEASE_MS = 30_000;

/**
 * Milliseconds for which what was settled is added to what other processes know. They read a store again within this
 * time, unless reading it takes longer than half a minute.
 */
export const SETTLED_MS = 10 * 60_000;

/** What is settled in these milliseconds is kept as one amount, beyond so many amounts of a user. */
export const BUCKET_MS = 1000;
export const MOST_SETTLED = 200;

/** Shares of a limit: from the first on it is near, below the second it is not any more. */
export const NEAR = 0.8;
export const FAR = 0.7;

/** How something stands, as a level. */
export const STANDINGS = ["far", "near", "reached"] as const;

/** Kinds of which all may be in use without anything being refused: that is not told. */
export const ALTERNATING: readonly (LeasedKind | CountedKind)[] = ["programs", "runs"];

/**
 * Registers leases and counts, by owner: any string. Claims are decided one at a time, over all processes.
 *
 * All methods throw SluiceError E_STORE_READ or E_STORE_WRITE if the register fails.
 */
export interface UsageRegister {
  /**
   * Gives a lease these amounts if every limit holds then; otherwise it stays as it was. The refusal of a tentative claim,
   * which will be made again, is not to be told.
   */
  take(owner: string, lease: Lease, claims: readonly LeaseClaim[], isTentative?: boolean): Promise<UsageVerdict>;
  /**
   * What is used with these amounts. Changes nothing, and refuses nothing. Of what was stored about when a process read
   * the store, `take` counts all, and this nothing: it is not to be shown twice.
   */
  look(owner: string, process: string, claims: readonly LeaseClaim[]): Promise<readonly number[]>;
  /** Makes leases last. Those that have ended begin again, whatever limits say: what they stand for is there. */
  renew(owner: string, leases: readonly HeldLease[]): Promise<void>;
  /** Ends leases. With `stored` others add what the leases had to what they know, until they have read it themselves. */
  end(owner: string, leases: readonly Lease[], how?: { readonly stored: boolean }): Promise<void>;
  /** Notes how something stands that is counted elsewhere. Returns what is to be told: null if it was told already. */
  note(owner: string, name: string, standing: "far" | "near" | "reached"): Promise<ClaimUse["crossed"]>;
  /** Counts if every limit holds then; otherwise counts nothing. */
  count(owner: string, claims: readonly CountClaim[]): Promise<UsageVerdict>;
}

interface LeaseEntry {
  readonly process: string;
  readonly kind: LeasedKind;
  readonly amount: number;
  expires: number;
}

interface Bucket {
  readonly process: string;
  readonly kind: LeasedKind;
  readonly at: number;
  amount: number;
}

interface Count {
  used: number;
  resets: number;
  level: number;
}

interface OwnerEntry {
  /** By process, id and kind. */
  readonly leases: Map<string, LeaseEntry>;
  /** By process, time and kind. */
  readonly settled: Map<string, Bucket>;
  readonly counts: Map<CountedKind, Count>;
  /** What was told of each kind that is leased, and of what is counted elsewhere. */
  readonly levels: Map<string, number>;
}

/** Owners are looked through for those of whom nothing is left when there are so many more. */
const SWEEP_AFTER = 1000;

/** Registers in the memory of this process. */
export class MemoryUsageRegister implements UsageRegister {
  readonly #owners = new Map<string, OwnerEntry>();
  readonly #clock: Clock;
  #sweepAt = SWEEP_AFTER;

  /** The clock does not follow the machine's by default: a machine that sets its clock changes no lease. */
  constructor(clock: Clock = () => performance.now()) {
    this.#clock = clock;
  }

  async take(
    owner: string,
    { process, id }: Lease,
    claims: readonly LeaseClaim[],
    isTentative: boolean = false,
  ): Promise<UsageVerdict> {
    const now = this.#clock();
    const entry = this.#entry(owner, now);
    const sums = claims.map((claim) => claim.amount + sumOthers(entry, { process, id }, claim, now));
    const refused = firstIndex(claims, ({ most }, at) => (sums[at] ?? 0) > most);
    const uses = claims.map(({ kind, amount, most }, at) => {
      const used = (sums[at] ?? 0) - (refused === null ? 0 : amount);
      const before = entry.levels.get(kind) ?? 0;
      const isQuiet = isTentative && refused !== null;
      const level = isQuiet ? before : computeLevel(kind, { used, most, isRefused: at === refused }, before);
      entry.levels.set(kind, level);
      return { used, resetsInMs: 0, crossed: crossing(before, level) };
    });
    if (refused === null) {
      for (const { kind, amount } of claims) {
        entry.leases.set(`${process} ${id} ${kind}`, { process, kind, amount, expires: now + LEASE_MS });
      }
    }
    return { refused, uses };
  }

  async look(owner: string, process: string, claims: readonly LeaseClaim[]): Promise<readonly number[]> {
    const now = this.#clock();
    const entry = this.#entry(owner, now);
    return claims.map((claim) => claim.amount + sumOthers(entry, { process, id: "" }, claim, now, true));
  }

  async renew(owner: string, leases: readonly HeldLease[]): Promise<void> {
    const now = this.#clock();
    const entry = this.#entry(owner, now);
    for (const { process, id, amounts } of leases) {
      for (const [kind, amount] of Object.entries(amounts) as [LeasedKind, number][]) {
        entry.leases.set(`${process} ${id} ${kind}`, { process, kind, amount, expires: now + LEASE_MS });
      }
    }
  }

  async end(owner: string, leases: readonly Lease[], { stored } = { stored: false }): Promise<void> {
    const now = this.#clock();
    const entry = this.#entry(owner, now);
    const at = roundTime(now, entry.settled.size);
    for (const { process, id } of leases) {
      for (const [key, { kind, amount }] of entry.leases) {
        if (!key.startsWith(`${process} ${id} `)) continue;
        entry.leases.delete(key);
        if (!stored) continue;
        const name = `${process} ${at} ${kind}`;
        const before = entry.settled.get(name)?.amount ?? 0;
        entry.settled.set(name, { process, kind, at, amount: before + amount });
      }
    }
  }

  async note(owner: string, name: string, standing: "far" | "near" | "reached"): Promise<ClaimUse["crossed"]> {
    const { levels } = this.#entry(owner, this.#clock());
    const [before, level] = [levels.get(name) ?? 0, STANDINGS.indexOf(standing)];
    levels.set(name, level);
    return crossing(before, level);
  }

  async count(owner: string, claims: readonly CountClaim[]): Promise<UsageVerdict> {
    const now = this.#clock();
    const { counts } = this.#entry(owner, now);
    const found = claims.map(({ kind }) => counts.get(kind) ?? { used: 0, resets: 0, level: 0 });
    const refused = firstIndex(
      claims,
      ({ amount, most = Infinity, isSpent = false }, at) =>
        amount > 0 && !isSpent && (found[at]?.used ?? 0) + amount > most,
    );
    const uses = claims.map(({ kind, amount, most = Infinity, seconds }, at): ClaimUse => {
      const before = found[at] as Count;
      const used = before.used + (refused === null ? amount : 0);
      const level = computeLevel(kind, { used, most, isRefused: at === refused }, before.level);
      const resets = before.resets === 0 ? now + seconds * 1000 : before.resets;
      if (used > 0) counts.set(kind, { used, resets, level });
      return { used, resetsInMs: used > 0 ? resets - now : 0, crossed: crossing(before.level, level) };
    });
    return { refused, uses };
  }

  /** The entry of an owner, without what is over. */
  #entry(owner: string, now: number): OwnerEntry {
    if (this.#owners.size >= this.#sweepAt) this.#sweep(now);
    const known = this.#owners.get(owner);
    const entry = known ?? { leases: new Map(), settled: new Map(), counts: new Map(), levels: new Map() };
    if (known === undefined) this.#owners.set(owner, entry);
    forgetOver(entry, now);
    return entry;
  }

  #sweep(now: number): void {
    for (const [owner, entry] of this.#owners) {
      forgetOver(entry, now);
      if (entry.leases.size + entry.settled.size + entry.counts.size === 0) this.#owners.delete(owner);
    }
    this.#sweepAt = this.#owners.size + SWEEP_AFTER;
  }
}

function forgetOver({ leases, settled, counts }: OwnerEntry, now: number): void {
  for (const [key, { expires }] of leases) if (expires <= now) leases.delete(key);
  for (const [key, { at }] of settled) if (at + BUCKET_MS + SETTLED_MS <= now) settled.delete(key);
  for (const [kind, { resets }] of counts) if (resets <= now) counts.delete(kind);
}

/** What is used of a claim's kind by everything but its lease. */
function sumOthers(
  { leases, settled }: OwnerEntry,
  { process, id }: Lease,
  { kind, known }: Pick<LeaseClaim, "kind" | "known">,
  now: number,
  isShown: boolean = false,
): number {
  let sum = known?.amount ?? 0;
  const own = `${process} ${id} ${kind}`;
  for (const [key, lease] of leases) {
    const isKnown = known !== undefined && lease.process === process;
    if (lease.kind === kind && key !== own && !isKnown) sum += lease.amount;
  }
  if (known === undefined) return sum;
  for (const bucket of settled.values()) {
    const until = bucket.at % BUCKET_MS === 0 && !isShown ? bucket.at + BUCKET_MS : bucket.at;
    const isLater = until > now - known.ageMs;
    if (bucket.kind === kind && bucket.process !== process && isLater) sum += bucket.amount;
  }
  return sum;
}

/** The time that something is settled at: exact, or, where there is much, that of its second, which ends in zeros. */
function roundTime(now: number, count: number): number {
  if (count >= MOST_SETTLED) return now - (now % BUCKET_MS);
  const exact = Math.floor(now);
  return exact % BUCKET_MS === 0 ? exact + 1 : exact;
}

function firstIndex<T>(all: readonly T[], is: (each: T, at: number) => boolean): number | null {
  const at = all.findIndex(is);
  return at === -1 ? null : at;
}

/** 0, 1 for near, 2 for reached. */
function computeLevel(
  kind: LeasedKind | CountedKind,
  { used, most, isRefused }: { readonly used: number; readonly most: number; readonly isRefused: boolean },
  before: number,
): number {
  if (isRefused) return 2;
  if (ALTERNATING.includes(kind)) return 0;
  if (used >= most) return 2;
  if (used >= NEAR * most) return Math.max(1, before);
  return used < FAR * most ? 0 : before;
}

function crossing(before: number, level: number): ClaimUse["crossed"] {
  if (level <= before) return null;
  return level === 1 ? "near" : "reached";
}

/**
 * Holds a store to its retention: who may come in, who has to go.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { inMilliseconds, stampOf, Stamps } from "../stamps.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, Clock, StoredArtifact } from "../store.js";
import { Ledger } from "./ledger.js";
import { largest, limitsOf, type Limit, type Measured } from "./limits.js";
import type { Retention } from "./policy.js";
import { isExpired, makeRoom, type Case, type Room } from "./room.js";

/** What a collection took away. */
export interface Collected {
  /** How many. */
  readonly artifacts: number;
  /** Bytes of them, a content that others share included. */
  readonly bytes: number;
}

/** After so many milliseconds it is looked anew at what other processes did to a store. */
const FRESH = 60_000;

/** Artifacts in a row that would not leave, before making room is given up until the next time. */
const MOST_REFUSALS = 16;

/** Decisions over one store, one after the other. */
export class Keeper {
  readonly #store: ArtifactStore;
  readonly #retention: Retention;
  readonly #limits: readonly Limit[];
  readonly #clock: Clock;
  readonly #stamps: Stamps;
  readonly #ledger: Ledger;
  #read: number | undefined;
  /** What was begun last; settles, never rejects. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: ArtifactStore, retention: Retention, clock: Clock) {
    this.#store = store;
    this.#retention = retention;
    this.#limits = limitsOf(retention);
    this.#clock = clock;
    this.#stamps = new Stamps(clock);
    this.#ledger = new Ledger(this.#limits);
  }

  /** Whether anything ever expires. */
  get expiring(): boolean {
    return this.#retention.ttl_seconds !== null;
  }

  /** What an artifact of that scope and namespace is measured by while it is written. */
  boundOf(claim: Omit<Measured, "size_bytes">): Bound {
    const bound = largest(this.#retention, this.#limits, { ...claim, size_bytes: 0 });
    return (bytes) => {
      if (bound === null || bytes <= bound.most) return;
      throw refusal("E_TOO_LARGE", bound.key, `The artifact has more than the ${bound.most} bytes that`);
    };
  }

  /**
   * Lets an artifact in and makes room for it, both in one turn.
   *
   * @param publish stores it; not called when there is no room
   * @throws SluiceError E_STORE_FULL where nothing may leave for it.
   */
  admit(coming: Measured, publish: () => Promise<ArtifactRef>): Promise<ArtifactRef> {
    return this.#inTurn(async () => {
      await this.#refresh(FRESH);
      await this.#expireAll();
      const { full } = await this.#roomFor(coming);
      if (full)
        throw refusal("E_STORE_FULL", full.key, `There is no room left within the ${full.most} ${full.counts} that`);
      const ref = await publish();
      const now = inMilliseconds(this.#stamps.next());
      this.#ledger.enter({ ...ref, stored_at: now, used_at: now });
      await this.#evictExcess(ref);
      return ref;
    });
  }

  /** Whether an artifact's time is over; then it is taken away. */
  async expires(seen: StoredArtifact): Promise<boolean> {
    if (!isExpired(seen, this.#retention, this.#clock())) return false;
    // Stored anew since it was seen? Then it is not the one that is over.
    return (await this.evict(seen)) || (await this.#isOver(seen));
  }

  async #isOver({ id, scope }: StoredArtifact): Promise<boolean> {
    const now = await this.#store.stat(id, scope);
    return now === null || isExpired(now, this.#retention, this.#clock());
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    if (!(await this.#store.evict(seen))) return false;
    this.#ledger.depart(seen);
    return true;
  }

  hasDeparted(id: string, scope: ArtifactScope | undefined): boolean {
    return this.#ledger.hasDeparted(id, scope);
  }

  noteUsed(id: string, scope: ArtifactScope | undefined): void {
    const known = this.#ledger.find(id, scope);
    if (known) this.#ledger.enter({ ...known, used_at: inMilliseconds(this.#stamps.next()) });
  }

  /** Someone deleted it: that is not for retention to explain. */
  forget(id: string, scope: ArtifactScope | undefined): void {
    this.#ledger.strike(id, scope);
  }

  exclusively<T>(work: () => Promise<T>): Promise<T | null> {
    return this.#store.exclusively ? this.#store.exclusively(work) : work();
  }

  collect(): Promise<Collected | null> {
    return this.#inTurn(() =>
      this.exclusively(async () => {
        await this.#refresh(0);
        const expired = await this.#expireAll();
        const excess = await this.#evictExcess();
        const gone = [...expired, ...excess];
        return { artifacts: gone.length, bytes: gone.reduce((sum, { size_bytes }) => sum + size_bytes, 0) };
      }),
    );
  }

  /** Reads the store again when what is known of it is older than `age` milliseconds. */
  async #refresh(age: number): Promise<void> {
    const now = this.#clock();
    if (this.#read !== undefined && Math.abs(now - this.#read) < age) return;
    const all: StoredArtifact[] = [];
    for await (const artifact of this.#store.list()) all.push(artifact);
    this.#ledger.reset(all);
    for (const { used_at } of all) this.#stamps.after(stampOf(used_at));
    this.#read = now;
  }

  /** Before anyone is turned away, it is looked whether others have left meanwhile. */
  async #roomFor(coming: Measured): Promise<Room> {
    const room = (): Room => makeRoom({ ...this.#case(), coming: { ...coming, sha256: null } });
    const first = room();
    if (first.full === null || !this.#store.exclusively) return first;
    await this.#refresh(0);
    return room();
  }

  async #expireAll(): Promise<StoredArtifact[]> {
    const gone: StoredArtifact[] = [];
    if (!this.expiring) return gone;
    const now = this.#clock();
    for (const known of Array.from(this.#ledger.kept)) {
      if (!isExpired(known, this.#retention, now)) continue;
      const seen = await this.#seen(known);
      if (seen && isExpired(seen, this.#retention, now) && (await this.evict(seen))) gone.push(seen);
    }
    return gone;
  }

  /** Evicts until every limit holds; `stays` is never among those who leave. */
  async #evictExcess(stays?: ArtifactRef): Promise<StoredArtifact[]> {
    const gone: StoredArtifact[] = [];
    for (let refusals = 0; refusals < MOST_REFUSALS;) {
      const outcome = await this.#evictThese(this.#excess(stays), gone);
      if (outcome === "done") break;
      if (outcome === "refused") refusals += 1;
    }
    return gone;
  }

  #excess(stays: ArtifactRef | undefined): readonly StoredArtifact[] {
    const staying = stays && this.#ledger.find(stays.id, stays.scope);
    return makeRoom({ ...this.#case(), staying }).leaving;
  }

  /** Ends at the first that is not as it was noted: then who has to leave is another question. */
  async #evictThese(
    leaving: readonly StoredArtifact[],
    gone: StoredArtifact[],
  ): Promise<"done" | "changed" | "refused"> {
    for (const known of leaving) {
      const seen = await this.#seen(known);
      if (seen === null || isLater(seen, known)) return "changed";
      if (!(await this.evict(seen))) return "refused";
      gone.push(seen);
    }
    return "done";
  }

  #case(): Case {
    const { kept, tally } = this.#ledger;
    return { kept, tally, retention: this.#retention, now: this.#clock() };
  }

  /** What the store itself says of an artifact now, noted; null, and struck out, when it is gone. */
  async #seen(known: StoredArtifact): Promise<StoredArtifact | null> {
    const seen = await this.#store.stat(known.id, known.scope);
    if (seen === null) this.#ledger.strike(known.id, known.scope);
    else if (isLater(seen, known)) this.#ledger.enter(seen);
    return seen;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}

/** Checks a number of bytes. Throws SluiceError E_TOO_LARGE when so many can never be kept. */
export type Bound = (bytes: number) => void;

/** Whether another object or process used an artifact since; one's own notes are off by microseconds. */
function isLater(seen: StoredArtifact, known: StoredArtifact): boolean {
  return seen.used_at - known.used_at >= 1;
}

function refusal(code: "E_TOO_LARGE" | "E_STORE_FULL", key: keyof Retention, what: string): SluiceError {
  return new SluiceError(code, `${what} retention.${key} allows: raise it, set it to null, or delete artifacts.`, {
    path: `retention.${key}`,
  });
}

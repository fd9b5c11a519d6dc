/**
 * Holds a store to its retention: who may come in, who has to go.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { guarded, storageError } from "../../errors/storage.js";
import { inMilliseconds, stampOf, Stamps } from "../stamps.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, Clock, StoredArtifact } from "../store.js";
import { keyOf, Ledger } from "./ledger.js";
import { largest, limitsOf, type Limit, type Measured } from "./limits.js";
import type { Retention } from "./policy.js";
import { isExpired, makeRoom, type Room } from "./room.js";

/** What a collection took away. */
export interface Collected {
  /** How many. */
  readonly artifacts: number;
  /** Bytes of them, a content that others share included. */
  readonly bytes: number;
}

/** After so many milliseconds it is looked anew at what other processes did to a store. */
const FRESH = 60_000;

/** Artifacts that would not leave, before making room is given up until the next time. */
const MOST_REFUSALS = 16;

/** What came of an artifact that had to go: it went; it is not as it was noted, which now is; or it would not. */
type Departure = "gone" | "changed" | "stuck";

/** What was taken away in one go, and why not more. */
interface Departures {
  readonly gone: StoredArtifact[];
  /** What the store failed at first. */
  failure: SluiceError | undefined;
}

/** Decisions over one store, one after the other. */
export class Keeper {
  readonly #store: ArtifactStore;
  readonly #retention: Retention;
  readonly #limits: readonly Limit[];
  readonly #stamps: Stamps;
  readonly #ledger: Ledger;
  #read: number | undefined;
  /** What was begun last; settles, never rejects. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: ArtifactStore, retention: Retention, clock: Clock) {
    this.#store = store;
    this.#retention = retention;
    this.#limits = limitsOf(retention);
    this.#stamps = new Stamps(clock);
    this.#ledger = new Ledger(this.#limits, retention);
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
      // Who cannot be taken away is looked at again the next time: it is no fault of who comes.
      await this.#expireAll(departures());
      const { full } = await this.#roomFor(coming);
      if (full)
        throw refusal("E_STORE_FULL", full.key, `There is no room left within the ${full.most} ${full.counts} that`);
      const ref = await publish();
      const now = inMilliseconds(this.#stamps.next());
      // What was measured is what counts, whatever the store says of it.
      const { scope, namespace, size_bytes } = coming;
      this.#ledger.enter({ ...ref, scope, namespace, size_bytes, stored_at: now, used_at: now });
      await this.#evictExcess(departures(), keyOf({ id: ref.id, scope }));
      return ref;
    });
  }

  /** Whether an artifact's time is over; then it is taken away. */
  async expires(seen: StoredArtifact): Promise<boolean> {
    if (!isExpired(seen, this.#retention, this.#stamps.now())) return false;
    // Where nothing can be taken away it is over all the same.
    const evicted = await this.evict(seen).catch(() => false);
    // Stored anew since it was seen? Then it is not the one that is over.
    return evicted || (await this.#isOver(seen));
  }

  async #isOver({ id, scope }: StoredArtifact): Promise<boolean> {
    const now = await this.#store.stat(id, scope);
    return now === null || isExpired(now, this.#retention, this.#stamps.now());
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

  /** Throws what the store failed at when all that can go has gone. */
  collect(): Promise<Collected | null> {
    return this.#inTurn(() =>
      this.exclusively(async () => {
        await this.#refresh(0);
        const all = departures();
        await this.#expireAll(all);
        await this.#evictExcess(all);
        if (all.failure) throw all.failure;
        return { artifacts: all.gone.length, bytes: all.gone.reduce((sum, { size_bytes }) => sum + size_bytes, 0) };
      }),
    );
  }

  /** Reads the store again when what is known of it is older than `age` milliseconds. */
  async #refresh(age: number): Promise<void> {
    const now = this.#stamps.now();
    if (this.#read !== undefined && Math.abs(now - this.#read) < age) return;
    const all: StoredArtifact[] = [];
    await guarded("read", async () => {
      for await (const artifact of this.#store.list()) all.push(artifact);
    });
    this.#ledger.reset(all);
    for (const { used_at } of all) this.#stamps.after(stampOf(used_at));
    this.#read = now;
  }

  /** Before anyone is turned away, it is looked whether others have left meanwhile. */
  async #roomFor(coming: Measured): Promise<Room> {
    const { scope, namespace, size_bytes } = coming;
    const room = (): Room => makeRoom({ ...this.#case(), coming: { scope, namespace, size_bytes, sha256: null } });
    const first = room();
    if (first.full === null || !this.#store.exclusively) return first;
    await this.#refresh(0);
    return room();
  }

  #case(): { readonly ledger: Ledger; readonly retention: Retention; readonly now: number } {
    return { ledger: this.#ledger, retention: this.#retention, now: this.#stamps.now() };
  }

  async #expireAll(all: Departures): Promise<void> {
    if (!this.expiring) return;
    const now = this.#stamps.now();
    const isOver = (artifact: StoredArtifact): boolean => isExpired(artifact, this.#retention, now);
    const over: StoredArtifact[] = [];
    for (const [, artifact] of this.#ledger.expiring()) {
      if (!isOver(artifact)) break;
      over.push(artifact);
    }
    let stuck = 0;
    for (const artifact of over) {
      if ((await this.#takeAway(artifact, isOver, all)) === "stuck") stuck += 1;
      if (stuck === MOST_REFUSALS) return;
    }
  }

  /** Evicts until every limit holds; `stays` is never among those who leave. */
  async #evictExcess(all: Departures, stays?: string): Promise<void> {
    const staying = new Set(stays === undefined ? [] : [stays]);
    const moved = new Set<string>();
    for (let stuck = 0; stuck < MOST_REFUSALS;) {
      const departure = await this.#evictThese(makeRoom({ ...this.#case(), staying }).leaving, all);
      if (departure === null) return;
      const { key, came } = departure;
      // One that never is as it was noted would be tried for ever.
      if (came === "stuck" || moved.has(key)) {
        staying.add(key);
        stuck += 1;
      }
      moved.add(key);
    }
  }

  /** Ends at the first that does not go: then who has to leave is another question. */
  async #evictThese(
    leaving: readonly StoredArtifact[],
    all: Departures,
  ): Promise<{ readonly key: string; readonly came: Departure } | null> {
    for (const known of leaving) {
      const came = await this.#takeAway(known, (seen) => !isLater(seen, known), all);
      if (came !== "gone") return { key: keyOf(known), came };
    }
    return null;
  }

  /** Takes away one that is still what it has to go for. */
  async #takeAway(
    known: StoredArtifact,
    hasToGo: (seen: StoredArtifact) => boolean,
    all: Departures,
  ): Promise<Departure> {
    try {
      const seen = await this.#seen(known);
      if (seen === null || !hasToGo(seen)) return "changed";
      if (!(await this.evict(seen))) return "stuck";
      all.gone.push(seen);
      return "gone";
    } catch (error) {
      all.failure ??= storageError(error, "write");
      return "stuck";
    }
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

function departures(): Departures {
  return { gone: [], failure: undefined };
}

function refusal(code: "E_TOO_LARGE" | "E_STORE_FULL", key: keyof Retention, what: string): SluiceError {
  return new SluiceError(code, `${what} retention.${key} allows: raise it, set it to null, or delete artifacts.`, {
    path: `retention.${key}`,
  });
}

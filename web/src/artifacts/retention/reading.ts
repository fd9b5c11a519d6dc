/**
 * What a store holds, read anew now and then: other processes store and delete there too.
 * @module
 */
import { guarded } from "../../errors/storage.js";
import { stampOf, type Stamps } from "../stamps.js";
import type { ArtifactStore, StoredArtifact } from "../store.js";
import type { Ledger } from "./ledger.js";

/** After so many milliseconds it is looked anew at what other processes did. */
const FRESH = 60_000;

/** Milliseconds that whoever stores waits for that. Of a large store it takes longer, and comes into effect later. */
const PATIENCE = 250;

/** The same where nothing is known yet. */
const FIRST = 10_000;

/** It is read again after so many times as long as it took. */
const REST = 20;

type Listed = readonly StoredArtifact[];

/** One reading under way. */
interface UnderWay {
  readonly begun: number;
  readonly listed: Promise<Listed>;
  /** What is not to be taken from it. */
  readonly changed: ReadonlySet<string>;
  /** Whether it comes into effect without anybody's waiting for it. */
  isLeft: boolean;
}

/** Fills the books of a store. */
export class Reading {
  readonly #store: ArtifactStore;
  readonly #ledger: Ledger;
  readonly #stamps: Stamps;
  readonly #inTurn: (work: () => Promise<void>) => Promise<void>;
  #read: number | undefined;
  /** Milliseconds that reading took. */
  #took = 0;
  #underWay: UnderWay | undefined;

  /** @param inTurn does work when nobody else decides. */
  constructor(
    store: ArtifactStore,
    ledger: Ledger,
    stamps: Stamps,
    inTurn: (work: () => Promise<void>) => Promise<void>,
  ) {
    this.#store = store;
    this.#ledger = ledger;
    this.#stamps = stamps;
    this.#inTurn = inTurn;
  }

  /** Has what is known be no older than a minute, in the turn of whoever asks; or somewhat older, where it takes long to read. */
  async freshen(): Promise<void> {
    if (!this.#isOlder(Math.max(FRESH, REST * this.#took))) return;
    const reading = this.#begin();
    if (reading.isLeft) return;
    const listed = await this.#orLate(reading, this.#read === undefined ? FIRST : PATIENCE);
    if (listed !== undefined) return this.#take(reading, listed);
    reading.isLeft = true;
    // What it fails at is tried again by whoever comes next.
    reading.listed.then((all) => this.#inTurn(async () => this.#take(reading, all))).catch(() => undefined);
  }

  /** Has it be as it is now, in the turn of whoever asks; where that takes long, as `freshen`. */
  async refresh(): Promise<void> {
    if (this.#took > PATIENCE) return this.freshen();
    const reading = this.#begin();
    this.#take(reading, await reading.listed);
  }

  /** Has it be as it is now, while others go on. Not to be waited for in a turn. */
  async aside(): Promise<void> {
    const reading = this.#begin();
    const listed = await reading.listed;
    await this.#inTurn(async () => this.#take(reading, listed));
  }

  #isOlder(age: number): boolean {
    return this.#read === undefined || Math.abs(this.#stamps.now() - this.#read) >= age;
  }

  #begin(): UnderWay {
    this.#underWay ??= this.#begun();
    return this.#underWay;
  }

  #begun(): UnderWay {
    const changed = this.#ledger.watch();
    const reading = { begun: this.#stamps.now(), listed: this.#list(), changed, isLeft: false };
    reading.listed.catch(() => this.#leave(reading));
    return reading;
  }

  async #list(): Promise<Listed> {
    const begun = performance.now();
    const all: StoredArtifact[] = [];
    await guarded("read", async () => {
      for await (const artifact of this.#store.list()) all.push(artifact);
    });
    this.#took = performance.now() - begun;
    return all;
  }

  #orLate({ listed }: UnderWay, milliseconds: number): Promise<Listed | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), milliseconds);
    });
    return Promise.race([listed, late]).finally(() => clearTimeout(timer));
  }

  /** In a turn: whoever decides goes by one state of things. */
  #take(reading: UnderWay, all: Listed): void {
    if (this.#underWay !== reading) return;
    this.#leave(reading);
    this.#ledger.reset(all, reading.changed);
    for (const { used_at } of all) this.#stamps.after(stampOf(used_at));
    this.#read = reading.begun;
  }

  #leave(reading: UnderWay): void {
    this.#ledger.unwatch(reading.changed);
    if (this.#underWay === reading) this.#underWay = undefined;
  }
}

/**
 * Runs that wait, of which each is claimed by one at a time, without a lock.
 *
 * A run is a file in a folder of its own, and the file's name says until when it is kept, until when it is claimed, and by
 * whom. Whoever changes that renames the file from the very name that they saw: of any number who try at the same time one
 * succeeds, and the others look again.
 * @module
 */
import { mkdir, rename, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FILE_MODE, FOLDER_MODE } from "../../artifacts/file/layout.js";
import { isTaken } from "../../artifacts/file/plain.js";
import { SluiceError } from "../../errors/error.js";
import type { Released } from "../state-store.js";
import { hashed, moved, textAt, type StateFolder } from "./state-folder.js";

/** A run, as its file's name says; times in milliseconds. */
interface Entry {
  /** The name of its folder. */
  readonly key: string;
  readonly name: string;
  readonly until: number;
  readonly leasedUntil: number;
  /** Hashed; `free` where there is none. */
  readonly owner: string;
}

type Said = Pick<Entry, "until" | "leasedUntil" | "owner">;

const ROOM = "runs";
const NAME = /^(\d{1,16})\.(\d{1,16})\.([0-9a-f]{64}|free)$/;
const FREE = { leasedUntil: 0, owner: "free" } as const;
// Each attempt fails only because another process changed the same run in between.
const ATTEMPTS = 64;

/** Runs by tokens that may be any string. */
export class WaitingRuns {
  readonly #folder: StateFolder;

  constructor(folder: StateFolder) {
    this.#folder = folder;
  }

  /** Keeps a run until then, in place of what was there. */
  async put(token: string, text: string, until: number): Promise<void> {
    const path = this.#folder.at(ROOM, hashed(token));
    await this.#folder.aside(async (aside) => {
      await mkdir(aside, { mode: FOLDER_MODE });
      await writeFile(join(aside, nameOf({ until, ...FREE })), text, { flag: "wx", mode: FILE_MODE });
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await placed(aside, path)) return;
        await this.#folder.remove(path);
      }
      throw new SluiceError("E_STORE_WRITE", "Many save the same run at the same time: try again.");
    });
  }

  /** The text; null where there is none, or no longer. Throws SluiceError E_TOO_LARGE where it has more than `most` bytes. */
  async get(token: string, now: number, most: number): Promise<string | null> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await this.#entry(token, now);
      if (entry === null) return null;
      const text = await textAt(this.#at(entry), most);
      if (text !== null) return text;
    }
    return null;
  }

  /** Claims a run from now for so long. False where there is none, or it is another's. */
  async claim(token: string, owner: string, now: number, lease: number): Promise<boolean> {
    const claimant = hashed(owner);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await this.#entry(token, now);
      if (entry === null || (entry.owner !== claimant && now < entry.leasedUntil)) return false;
      const leasedUntil = now + lease;
      const until = Math.max(entry.until, leasedUntil);
      if (await this.#renamed(entry, { until, leasedUntil, owner: claimant })) return true;
    }
    return false;
  }

  /** Ends a claim. False where it does not hold. */
  async release(token: string, owner: string, now: number, then: Released): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await this.#entry(token, now);
      if (entry === null || entry.owner !== hashed(owner) || now >= entry.leasedUntil) return false;
      const { until } = entry;
      const done = then === "forget" ? this.#removed(entry) : this.#renamed(entry, { until, ...FREE });
      if (await done) return true;
    }
    return false;
  }

  /** Forgets a run, claimed or not. */
  async remove(token: string): Promise<void> {
    await this.#folder.remove(this.#folder.at(ROOM, hashed(token)));
  }

  /** Forgets what is too old; and of what is more than `most`, the oldest, those that are claimed last. */
  async sweep(now: number, most: number): Promise<void> {
    const kept: Entry[] = [];
    for (const key of await this.#folder.entries(ROOM)) {
      const entry = await this.#seen(key);
      if (entry === null) await rmdir(this.#folder.at(ROOM, key)).catch(() => undefined);
      else if (entry.until <= now) await this.#removed(entry);
      else kept.push(entry);
    }
    const isClaimed = ({ leasedUntil }: Entry): number => Number(now < leasedUntil);
    kept.sort((left, right) => isClaimed(left) - isClaimed(right) || left.until - right.until);
    for (const entry of kept.slice(0, Math.max(0, kept.length - most))) await this.#removed(entry);
  }

  #at({ key, name }: Pick<Entry, "key" | "name">): string {
    return this.#folder.at(ROOM, join(key, name));
  }

  async #entry(token: string, now: number): Promise<Entry | null> {
    const entry = await this.#seen(hashed(token));
    if (entry === null || now < entry.until) return entry;
    await this.#removed(entry);
    return null;
  }

  async #seen(key: string): Promise<Entry | null> {
    for (const name of (await this.#folder.within(ROOM, key)) ?? []) {
      const [, until, leasedUntil, owner] = NAME.exec(name) ?? [];
      if (owner !== undefined) return { key, name, until: Number(until), leasedUntil: Number(leasedUntil), owner };
    }
    return null;
  }

  #renamed(entry: Entry, next: Said): Promise<boolean> {
    return moved(this.#at(entry), this.#at({ key: entry.key, name: nameOf(next) }));
  }

  /** Takes a run away as it was seen, and its folder, unless there is another by now. */
  async #removed(entry: Entry): Promise<boolean> {
    if (!(await this.#folder.remove(this.#at(entry)))) return false;
    await rmdir(this.#folder.at(ROOM, entry.key)).catch(() => undefined);
    return true;
  }
}

function nameOf({ until, leasedUntil, owner }: Said): string {
  return `${until}.${leasedUntil}.${owner}`;
}

/** False where there is something already. */
async function placed(aside: string, path: string): Promise<boolean> {
  try {
    await rename(aside, path);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

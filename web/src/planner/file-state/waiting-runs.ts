/**
 * Runs that wait, of which each is claimed by one at a time, without a lock.
 *
 * A run is a file in a folder of its own, and the file's name says until when it is kept, until when it is claimed, and by
 * whom. Whoever changes that renames the file from the very name that they saw: of any number who try at the same time one
 * succeeds, and the others look again. A run that was updated has its text in a second file, which the name of the first one
 * names.
 * @module
 */
import { randomBytes } from "node:crypto";
import { lstat, mkdir, rename, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FILE_MODE, FOLDER_MODE, isTaken, orNull } from "../../artifacts/file/plain.js";
import { SluiceError } from "../../errors/error.js";
import type { AfterRelease } from "../state-store.js";
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
  /** The file that has the text; undefined where that is the one with this name. */
  readonly text: string | undefined;
}

type Said = Pick<Entry, "until" | "leasedUntil" | "owner" | "text">;

/** A run as its owner would have it. */
interface RunUpdate {
  readonly token: string;
  readonly owner: string;
  readonly text: string;
  /** Milliseconds, as `until`. */
  readonly now: number;
  /** Until when it is kept, or longer where the claim holds longer. */
  readonly until: number;
}

const ROOM = "runs";
const NAME = /^(\d{1,16})\.(\d{1,16})\.([0-9a-f]{64}|free)(?:\.([0-9a-f]{32}))?$/;
const TEXT = /^[0-9a-f]{32}$/;
/** Milliseconds after which a text that no run names was left by who died. */
const LEFT_AFTER = 60 * 60 * 1000;
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
      await writeFile(join(aside, nameOf({ until, ...FREE, text: undefined })), text, { flag: "wx", mode: FILE_MODE });
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
      const text = await textAt(this.#textOf(entry), most);
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
      if (await this.#renamed(entry, { ...entry, until, leasedUntil, owner: claimant })) return true;
    }
    return false;
  }

  /** Keeps another text, claimed as before. False where the claim does not hold. */
  async update({ token, owner, text, now, until: wanted }: RunUpdate): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await this.#entry(token, now);
      if (entry === null || entry.owner !== hashed(owner) || now >= entry.leasedUntil) return false;
      const next = { ...entry, until: Math.max(wanted, entry.leasedUntil), text: randomBytes(16).toString("hex") };
      const path = this.#textOf(next);
      const isWritten = await orNull(writeFile(path, text, { flag: "wx", mode: FILE_MODE }).then(() => true));
      const isDone = isWritten === true && (await this.#renamed(entry, next));
      const old = isDone ? entry.text && this.#textOf(entry) : path;
      if (old !== undefined) await orNull(unlink(old));
      if (isDone) return true;
    }
    return false;
  }

  /** Ends a claim. False where it does not hold. */
  async release(token: string, owner: string, now: number, then: AfterRelease): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await this.#entry(token, now);
      if (entry === null || entry.owner !== hashed(owner) || now >= entry.leasedUntil) return false;
      const done = then === "forget" ? this.#removed(entry) : this.#renamed(entry, { ...entry, ...FREE });
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
      if (entry === null) await this.#emptied(key);
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

  #textOf({ key, name, text }: Pick<Entry, "key" | "name" | "text">): string {
    return this.#at({ key, name: text ?? name });
  }

  async #entry(token: string, now: number): Promise<Entry | null> {
    const entry = await this.#seen(hashed(token));
    if (entry === null || now < entry.until) return entry;
    await this.#removed(entry);
    return null;
  }

  async #seen(key: string): Promise<Entry | null> {
    for (const name of (await this.#folder.within(ROOM, key)) ?? []) {
      const [, until, leasedUntil, owner, text] = NAME.exec(name) ?? [];
      if (owner !== undefined)
        return { key, name, until: Number(until), leasedUntil: Number(leasedUntil), owner, text };
    }
    return null;
  }

  #renamed(entry: Entry, next: Said): Promise<boolean> {
    return moved(this.#at(entry), this.#at({ key: entry.key, name: nameOf(next) }));
  }

  /** Takes a run away as it was seen, and its folder, unless there is another by now. */
  async #removed(entry: Entry): Promise<boolean> {
    if (!(await this.#folder.remove(this.#at(entry)))) return false;
    if (entry.text !== undefined) await orNull(unlink(this.#textOf(entry)));
    await rmdir(this.#folder.at(ROOM, entry.key)).catch(() => undefined);
    return true;
  }

  /** Takes the folder away of what is no run any more. Somebody may be about to update one that was there a moment ago. */
  async #emptied(key: string): Promise<void> {
    for (const name of (await this.#folder.within(ROOM, key)) ?? []) {
      const path = this.#at({ key, name });
      const stat = TEXT.test(name) ? await orNull(lstat(path)) : null;
      if (stat !== null && Date.now() - stat.mtimeMs > LEFT_AFTER) await orNull(unlink(path));
    }
    await rmdir(this.#folder.at(ROOM, key)).catch(() => undefined);
  }
}

function nameOf({ until, leasedUntil, owner, text }: Said): string {
  return `${until}.${leasedUntil}.${owner}${text === undefined ? "" : `.${text}`}`;
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

/**
 * What was saved one after the other: a folder for each key, and in it a file for each text, which is there whole or not at all.
 * @module
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FILE_MODE, FOLDER_MODE, isPlainFolder, orNull } from "../../artifacts/file/plain.js";
import { inMilliseconds } from "../../artifacts/stamps.js";
import { SluiceError } from "../../errors/error.js";
import { bytesOf, type DatedText } from "../state-store.js";
import { hashed, moved, textAt, type CollectionName, type StateFolder } from "./state-folder.js";

/** Of texts by their sizes in bytes, the oldest first: the first that is kept. */
export type FirstKept = (sizes: readonly number[]) => number;

/** When it was saved, in microseconds; a number of what is saved; what tells it from all others. */
const NAME = /^(\d{17})-(\d{1,16})-[0-9a-f]{16}$/;
// Each attempt fails only because another process changed the same folder in between.
const ATTEMPTS = 64;

/** The files of one room, by the hashed keys that their folders are named by. */
class StampedTexts {
  readonly folder: StateFolder;
  readonly room: CollectionName;

  constructor(folder: StateFolder, room: CollectionName) {
    this.folder = folder;
    this.room = room;
  }

  at(key: string, name: string): string {
    return this.folder.at(this.room, join(key, name));
  }

  /** Oldest first. */
  async names(key: string): Promise<readonly string[]> {
    return oldestFirst((await this.folder.within(this.room, key)) ?? []);
  }

  /** Saves a text behind all others. Gives its name. */
  async append(key: string, text: string, stamp: number, number: number): Promise<string> {
    // Clocks tick slowly: another process may have saved with this very stamp, or a later one.
    const newest = stampOf((await this.names(key)).at(-1) ?? "");
    const next = String(Math.max(stamp, newest + 1)).padStart(17, "0");
    const name = `${next}-${number}-${randomBytes(8).toString("hex")}`;
    await this.folder.aside(async (aside) => {
      await writeFile(aside, text, { flag: "wx", mode: FILE_MODE });
      await this.#place(aside, key, name);
    });
    return name;
  }

  /** The text that was saved last; null where there is none, or it is over. */
  async newest(key: string, most: number, isOver: (name: string) => boolean): Promise<string | null> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const name = (await this.names(key)).at(-1);
      if (name === undefined || isOver(name)) return null;
      const text = await textAt(this.at(key, name), most);
      if (text !== null) return text;
    }
    return null;
  }

  async remove(key: string, name: string): Promise<void> {
    await orNull(unlink(this.at(key, name)));
  }

  /** The folder may be taken or swept away at any time. */
  async #place(aside: string, key: string, name: string): Promise<void> {
    const folder = this.folder.at(this.room, key);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await mkdir(folder, { mode: FOLDER_MODE, recursive: true });
      if (await moved(aside, join(folder, name))) return;
    }
    throw new SluiceError("E_STORE_WRITE", "What is saved here is forgotten at the same time: try again.");
  }
}

/** Histories by keys that may be any string. The number of a text is how many bytes it has. */
export class Histories extends StampedTexts {
  /** Keeps a text, and of its history no more than may be. `stamp` in microseconds, see `Stamps`. */
  async add(key: string, text: string, stamp: number, firstKept: FirstKept): Promise<void> {
    const history = hashed(key);
    await this.append(history, text, stamp, bytesOf(text));
    const names = await this.names(history);
    for (const oldest of names.slice(0, firstKept(names.map(numberOf)))) await this.remove(history, oldest);
  }

  /** What was saved after that time and may be kept, oldest first, without what has more than `most` bytes. */
  async since(key: string, since: number, most: number, firstKept: FirstKept): Promise<readonly DatedText[]> {
    const found: DatedText[] = [];
    const history = hashed(key);
    const all = await this.names(history);
    const names = all.filter((name) => timeOf(name) > since && numberOf(name) <= most);
    for (const name of names.slice(firstKept(names.map(numberOf)))) {
      const text = await textAt(this.at(history, name), most);
      if (text !== null) found.push({ at: timeOf(name), text });
    }
    return found;
  }

  /** What was saved last, and after that time. */
  async last(key: string, since: number, most: number): Promise<string | null> {
    return this.newest(hashed(key), most, (name) => timeOf(name) <= since);
  }

  /** Forgets what was saved then or before; and of more histories than `most`, those that nothing was added to for longest. */
  async sweep(since: number, most: number): Promise<void> {
    const kept: { readonly history: string; readonly last: number }[] = [];
    for (const history of await this.folder.entries(this.room)) {
      const names = await this.names(history);
      for (const name of names) if (timeOf(name) <= since) await this.remove(history, name);
      const last = timeOf(names.at(-1) ?? "");
      if (last > since) kept.push({ history, last });
      else await rmdir(this.folder.at(this.room, history)).catch(() => undefined);
    }
    kept.sort((left, right) => left.last - right.last);
    for (const { history } of kept.slice(0, Math.max(0, kept.length - most))) {
      await this.folder.remove(this.folder.at(this.room, history));
    }
  }
}

/**
 * What waits for a provider's answer, and is taken by one; times in milliseconds. The number of a text is until when it is kept.
 *
 * The newest text of a state counts: so there is always one while it is saved anew. Whoever takes it renames the folder: of any
 * number who try at the same time one succeeds.
 */
export class OAuthStates extends StampedTexts {
  /** Keeps a text until then, in place of what was there. `stamp` in microseconds, see `Stamps`. */
  async put(state: string, text: string, stamp: number, until: number): Promise<void> {
    const key = hashed(state);
    const name = await this.append(key, text, stamp, until);
    for (const each of await this.names(key)) if (each < name) await this.remove(key, each);
  }

  /** The text; null where there is none, or no longer. Throws SluiceError E_TOO_LARGE where it has more than `most` bytes. */
  async get(state: string, now: number, most: number): Promise<string | null> {
    return this.newest(hashed(state), most, (name) => numberOf(name) <= now);
  }

  /** As `get`, and it is gone. What is too large stays, for a store that can take it. */
  async take(state: string, now: number, most: number): Promise<string | null> {
    if ((await this.get(state, now, most)) === null) return null;
    return this.folder.aside(async (aside) => {
      const isMine = await moved(this.folder.at(this.room, hashed(state)), aside);
      if (!isMine || !(await isPlainFolder(aside))) return null;
      const name = oldestFirst(await readdir(aside)).at(-1);
      return name === undefined || numberOf(name) <= now ? null : textAt(join(aside, name), most);
    });
  }

  /** Forgets what is over; and of what is more than `most`, the oldest. What is saved meanwhile stays. */
  async sweep(now: number, most: number): Promise<void> {
    const kept: { readonly key: string; readonly names: readonly string[]; readonly newest: string }[] = [];
    for (const key of await this.folder.entries(this.room)) {
      const names = await this.names(key);
      const newest = names.at(-1) ?? "";
      if (numberOf(newest) > now) kept.push({ key, names, newest });
      else await this.#forget(key, names);
    }
    kept.sort((left, right) => (left.newest < right.newest ? -1 : 1));
    for (const { key, names } of kept.slice(0, Math.max(0, kept.length - most))) await this.#forget(key, names);
  }

  async #forget(key: string, names: readonly string[]): Promise<void> {
    for (const name of names) await this.remove(key, name);
    await rmdir(this.folder.at(this.room, key)).catch(() => undefined);
  }
}

function oldestFirst(names: readonly string[]): readonly string[] {
  return names.filter((name) => NAME.test(name)).sort();
}

/** In microseconds; 0 for what has no such name. */
function stampOf(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0);
}

/** 0 for what has no such name. */
function numberOf(name: string): number {
  return Number(NAME.exec(name)?.[2] ?? 0);
}

/** Whole milliseconds. */
function timeOf(name: string): number {
  return Math.floor(inMilliseconds(stampOf(name)));
}

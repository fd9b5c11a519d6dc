/**
 * What waits for a provider's answer, and is taken by one.
 *
 * Each state has a folder of its own, and the newest file in it counts: so there is always one while it is saved anew.
 * Whoever takes it renames the folder: of any number who try at the same time one succeeds.
 * @module
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FILE_MODE, FOLDER_MODE, isPlainFolder, orNull } from "../../artifacts/file/plain.js";
import { SluiceError } from "../../errors/error.js";
import { hashed, moved, textAt, type StateFolder } from "./state-folder.js";

const ROOM = "oauth";
const NAME = /^(\d{17})-(\d{1,16})-[0-9a-f]{16}$/;
// Each attempt fails only because another process changed the same state in between.
const ATTEMPTS = 64;

/** Texts by states that may be any string; times in milliseconds. */
export class OAuthStates {
  readonly #folder: StateFolder;

  constructor(folder: StateFolder) {
    this.#folder = folder;
  }

  /** Keeps a text until then, in place of what was there. `stamp` in microseconds, see `Stamps`. */
  async put(state: string, text: string, stamp: number, until: number): Promise<void> {
    const key = hashed(state);
    // Clocks tick slowly: another process may have saved with this very stamp, or a later one.
    const newest = stampOf((await this.#names(key)).at(-1) ?? "");
    const next = String(Math.max(stamp, newest + 1)).padStart(17, "0");
    const name = `${next}-${until}-${randomBytes(8).toString("hex")}`;
    await this.#folder.aside(async (aside) => {
      await writeFile(aside, text, { flag: "wx", mode: FILE_MODE });
      await this.#place(aside, key, name);
    });
    const older = (await this.#names(key)).filter((each) => each < name);
    for (const each of older) await orNull(unlink(this.#at(key, each)));
  }

  /** The text; null where there is none, or no longer. Throws SluiceError E_TOO_LARGE where it has more than `most` bytes. */
  async get(state: string, now: number, most: number): Promise<string | null> {
    const key = hashed(state);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const name = (await this.#names(key)).at(-1);
      if (name === undefined || untilOf(name) <= now) return null;
      const text = await textAt(this.#at(key, name), most);
      if (text !== null) return text;
    }
    return null;
  }

  /** As `get`, and it is gone. What is too large stays, for a store that can take it. */
  async take(state: string, now: number, most: number): Promise<string | null> {
    if ((await this.get(state, now, most)) === null) return null;
    return this.#folder.aside(async (aside) => {
      const isMine = await moved(this.#folder.at(ROOM, hashed(state)), aside);
      if (!isMine || !(await isPlainFolder(aside))) return null;
      const name = oldestFirst(await readdir(aside)).at(-1);
      return name === undefined || untilOf(name) <= now ? null : textAt(join(aside, name), most);
    });
  }

  /** Forgets what is over; and of what is more than `most`, the oldest. What is saved meanwhile stays. */
  async sweep(now: number, most: number): Promise<void> {
    const kept: { readonly key: string; readonly names: readonly string[]; readonly newest: string }[] = [];
    for (const key of await this.#folder.entries(ROOM)) {
      const names = await this.#names(key);
      const newest = names.at(-1) ?? "";
      if (untilOf(newest) > now) kept.push({ key, names, newest });
      else await this.#forget(key, names);
    }
    kept.sort((left, right) => (left.newest < right.newest ? -1 : 1));
    for (const { key, names } of kept.slice(0, Math.max(0, kept.length - most))) await this.#forget(key, names);
  }

  #at(key: string, name: string): string {
    return this.#folder.at(ROOM, join(key, name));
  }

  /** Oldest first. */
  async #names(key: string): Promise<readonly string[]> {
    return oldestFirst((await this.#folder.within(ROOM, key)) ?? []);
  }

  async #forget(key: string, names: readonly string[]): Promise<void> {
    for (const name of names) await orNull(unlink(this.#at(key, name)));
    await rmdir(this.#folder.at(ROOM, key)).catch(() => undefined);
  }

  /** The folder may be taken or swept away at any time. */
  async #place(aside: string, key: string, name: string): Promise<void> {
    const folder = this.#folder.at(ROOM, key);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await mkdir(folder, { mode: FOLDER_MODE, recursive: true });
      if (await moved(aside, join(folder, name))) return;
    }
    throw new SluiceError("E_STORE_WRITE", "What is saved here is taken at the same time: try again.");
  }
}

function oldestFirst(names: readonly string[]): readonly string[] {
  return names.filter((name) => NAME.test(name)).sort();
}

/** 0 for what has no such name. */
function untilOf(name: string): number {
  return Number(NAME.exec(name)?.[2] ?? 0);
}

/** 0 for what has no such name. */
function stampOf(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0);
}

/**
 * The folder of a state store: made when first written to, checked before it is used.
 *
 * ```
 * sluice-state.json                             the marker: this folder is a state store, of this version
 * runs/<token>/<until>.<leased until>.<owner>   a run that waits, see `WaitingRuns`
 * runs/<token>/<the same>.<text>                one that was updated, with its text in <text> beside it
 * events/<trace>/<stamp>-<bytes>-<random>       an event, see `Histories`
 * bindings/<trace and task>/<the same>          a binding: a history of one
 * oauth/<state>/<stamp>-<until>-<random>        what waits for a provider's answer, see `OAuthStates`
 * moving/<owner>-<random>                       on its way in or out; swept when its owner is gone, see `TemporaryFolder`
 * ```
 *
 * Tokens and ids may hold anything, and so are hashed. Whatever is changed is changed by one rename, so it is there whole or
 * not at all, whatever dies when.
 * @module
 */
import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, rename, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MarkedFolder } from "../artifacts/file/marked-folder.js";
import {
  FOLDER_MODE,
  isPlainFolder,
  isTaken,
  movePath,
  NEW_FILE,
  orNull,
  readPlain,
} from "../artifacts/file/plain-file.js";
import { SWEEP_AFTER, TemporaryFolder } from "../artifacts/file/temporaries.js";
import { SluiceError } from "../errors/error.js";
import { TEXT_TOO_LARGE } from "../errors/storage.js";
import { type AfterRelease, countBytes, type DatedText } from "./state-store.js";
import { inMilliseconds } from "../artifacts/reference.js";

/** The collections of a state store. */
export type CollectionName = "runs" | "bindings" | "events" | "oauth";

/** All of them. */
export const COLLECTIONS: readonly CollectionName[] = ["runs", "bindings", "events", "oauth"];
const OCCUPIED =
  "The folder is not a state store and already has entries named runs, bindings, events or oauth: use a new or empty folder.";
/** Each attempt fails only because another process changed the same entry in between. */
const ATTEMPTS = 64;
const ENTRY: RegExp = /^[0-9a-f]{64}$/;

/** The file name for a token, an id or an owner. JSON distinguishes strings that are the same in UTF-8. */
function hashName(name: string): string {
  return createHash("sha256").update(JSON.stringify(name)).digest("hex");
}

/** The text of a file, or null. Throws SluiceError E_TOO_LARGE if it has more than `most` bytes. */
function textAt(path: string, most: number): Promise<string | null> {
  return orNull(readPlain(path, most, () => new SluiceError("E_TOO_LARGE", TEXT_TOO_LARGE)));
}

/** Layout and safety of one folder. */
export class StateFolder extends MarkedFolder {
  readonly #root: string;
  readonly #moving: TemporaryFolder;

  constructor(root: string) {
    const [rooms, moving] = [COLLECTIONS.map((collection) => join(root, collection)), join(root, "moving")];
    const marker = join(root, "sluice-state.json");
    super({ marker, kind: "state store", rooms, others: [moving], occupied: OCCUPIED });
    this.#root = root;
    this.#moving = new TemporaryFolder(moving);
  }

  at(collection: CollectionName, name: string): string {
    return join(this.#root, collection, name);
  }

  /** The entries of a collection. */
  async entries(collection: CollectionName): Promise<string[]> {
    const names = (await orNull(readdir(join(this.#root, collection)))) ?? [];
    return names.filter((name) => ENTRY.test(name));
  }

  /** The files of an entry, or null. Throws SluiceError E_STORE_DENIED if it is no folder. */
  async within(collection: CollectionName, name: string): Promise<string[] | null> {
    const path = this.at(collection, name);
    return (await isPlainFolder(path)) ? orNull(readdir(path)) : null;
  }

  /** Works on a temporary path, which is removed at the end unless it was moved. */
  async aside<T>(work: (path: string) => Promise<T>): Promise<T> {
    return this.#moving.aside(work);
  }

  /** Removes a file or folder as a whole. False if another was faster. */
  async remove(path: string): Promise<boolean> {
    return this.aside((aside) => movePath(path, aside));
  }

  protected override async prepare(): Promise<void> {
    await super.prepare();
    // Another process, of a newer Sluice, may have made it meanwhile.
    await this.isStore();
    await this.#moving.sweep(SWEEP_AFTER);
  }
}

/** A run, by its file's name; times in milliseconds. */
interface Entry {
  /** The name of its folder. */
  readonly key: string;
  readonly name: string;
  readonly until: number;
  readonly leasedUntil: number;
  /** Hashed, or `free`. */
  readonly owner: string;
  /** The file with the text, if it is another one. */
  readonly text: string | undefined;
}

type Said = Pick<Entry, "until" | "leasedUntil" | "owner" | "text">;

/** An update of a run by its owner. */
interface RunUpdate {
  readonly token: string;
  readonly owner: string;
  readonly text: string;
  /** Milliseconds, as `until`. */
  readonly now: number;
  /** When it expires, unless the claim holds longer. */
  readonly until: number;
}

const RUNS = "runs";
const RUN_NAME = /^(\d{1,16})\.(\d{1,16})\.([0-9a-f]{64}|free)(?:\.([0-9a-f]{32}))?$/;
const UPDATED_TEXT = /^[0-9a-f]{32}$/;
/** Milliseconds until a text that no run names counts as left behind by a dead process. */
const LEFT_AFTER = 60 * 60 * 1000;
const FREE = { leasedUntil: 0, owner: "free" } as const;

/** Runs by tokens that may be any string. */
export class WaitingRuns {
  readonly #folder: StateFolder;

  constructor(folder: StateFolder) {
    this.#folder = folder;
  }

  /** Stores a run until then, replacing an earlier one. */
  async put(token: string, text: string, until: number): Promise<void> {
    const path = this.#folder.at(RUNS, hashName(token));
    await this.#folder.aside(async (aside) => {
      await mkdir(aside, { mode: FOLDER_MODE });
      await writeFile(join(aside, toFileName({ until, ...FREE, text: undefined })), text, NEW_FILE);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await placeRun(aside, path)) return;
        await this.#folder.remove(path);
      }
      throw new SluiceError("E_STORE_WRITE", "Too many processes are saving the same run: try again.");
    });
  }

  /** The text; null where there is none, or no longer. Throws SluiceError E_TOO_LARGE where it has more than `most` bytes. */
  async get(token: string, now: number, most: number): Promise<string | null> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await this.#entry(token, now);
      if (entry === null) return null;
      const text = await textAt(this.#writeText(entry), most);
      if (text !== null) return text;
    }
    return null;
  }

  /** Claims a run from now for so long. False if there is none, or another owner has it. */
  async claim(token: string, owner: string, now: number, lease: number): Promise<boolean> {
    const claimant = hashName(owner);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await this.#entry(token, now);
      if (entry === null || (entry.owner !== claimant && now < entry.leasedUntil)) return false;
      const leasedUntil = now + lease;
      const until = Math.max(entry.until, leasedUntil);
      if (await this.#rename(entry, { ...entry, until, leasedUntil, owner: claimant })) return true;
    }
    return false;
  }

  /** Replaces the text of a claimed run. False if the claim does not hold. */
  async update({ token, owner, text, now, until: wanted }: RunUpdate): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await this.#entry(token, now);
      if (entry === null || entry.owner !== hashName(owner) || now >= entry.leasedUntil) return false;
      const next = { ...entry, until: Math.max(wanted, entry.leasedUntil), text: randomBytes(16).toString("hex") };
      const path = this.#writeText(next);
      const isWritten = await orNull(writeFile(path, text, NEW_FILE).then(() => true));
      const isDone = isWritten === true && (await this.#rename(entry, next));
      const old = isDone ? entry.text && this.#writeText(entry) : path;
      if (old !== undefined) await orNull(unlink(old));
      if (isDone) return true;
    }
    return false;
  }

  /** Ends a claim. False if it does not hold. */
  async release(token: string, owner: string, now: number, then: AfterRelease): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = await this.#entry(token, now);
      if (entry === null || entry.owner !== hashName(owner) || now >= entry.leasedUntil) return false;
      const done = then === "forget" ? this.#remove(entry) : this.#rename(entry, { ...entry, ...FREE });
      if (await done) return true;
    }
    return false;
  }

  /** Deletes a run, claimed or not. */
  async remove(token: string): Promise<void> {
    await this.#folder.remove(this.#folder.at(RUNS, hashName(token)));
  }

  /** Deletes expired runs, and the oldest of more than `most`, claimed ones last. */
  async sweep(now: number, most: number): Promise<void> {
    const kept: Entry[] = [];
    for (const key of await this.#folder.entries(RUNS)) {
      const entry = await this.#look(key);
      if (entry === null) await this.#empty(key);
      else if (entry.until <= now) await this.#remove(entry);
      else kept.push(entry);
    }
    const isClaimed = ({ leasedUntil }: Entry): number => Number(now < leasedUntil);
    kept.sort((left, right) => isClaimed(left) - isClaimed(right) || left.until - right.until);
    for (const entry of kept.slice(0, Math.max(0, kept.length - most))) await this.#remove(entry);
  }

  #at({ key, name }: Pick<Entry, "key" | "name">): string {
    return this.#folder.at(RUNS, join(key, name));
  }

  #writeText({ key, name, text }: Pick<Entry, "key" | "name" | "text">): string {
    return this.#at({ key, name: text ?? name });
  }

  async #entry(token: string, now: number): Promise<Entry | null> {
    const entry = await this.#look(hashName(token));
    if (entry === null || now < entry.until) return entry;
    await this.#remove(entry);
    return null;
  }

  async #look(key: string): Promise<Entry | null> {
    for (const name of (await this.#folder.within(RUNS, key)) ?? []) {
      const [, until, leasedUntil, owner, text] = RUN_NAME.exec(name) ?? [];
      if (owner !== undefined)
        return { key, name, until: Number(until), leasedUntil: Number(leasedUntil), owner, text };
    }
    return null;
  }

  #rename(entry: Entry, next: Said): Promise<boolean> {
    return movePath(this.#at(entry), this.#at({ key: entry.key, name: toFileName(next) }));
  }

  /** Deletes a run as it was read, and its folder unless there is another run in it. */
  async #remove(entry: Entry): Promise<boolean> {
    if (!(await this.#folder.remove(this.#at(entry)))) return false;
    if (entry.text !== undefined) await orNull(unlink(this.#writeText(entry)));
    await rmdir(this.#folder.at(RUNS, entry.key)).catch(() => undefined);
    return true;
  }

  /** Deletes the folder of a former run. A text may still be in use by an update that just started. */
  async #empty(key: string): Promise<void> {
    for (const name of (await this.#folder.within(RUNS, key)) ?? []) {
      const path = this.#at({ key, name });
      const stat = UPDATED_TEXT.test(name) ? await orNull(lstat(path)) : null;
      if (stat !== null && Date.now() - stat.mtimeMs > LEFT_AFTER) await orNull(unlink(path));
    }
    await rmdir(this.#folder.at(RUNS, key)).catch(() => undefined);
  }
}

function toFileName({ until, leasedUntil, owner, text }: Said): string {
  return `${until}.${leasedUntil}.${owner}${text === undefined ? "" : `.${text}`}`;
}

/** Moves a new run to its place. False if there is one already. */
async function placeRun(aside: string, path: string): Promise<boolean> {
  try {
    await rename(aside, path);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

/** The index of the first text to keep, by the sizes in bytes, oldest first. */
export type FirstKept = (sizes: readonly number[]) => number;

/** A file name: the time in microseconds, a number, and random digits. */
const TEXT_NAME = /^(\d{17})-(\d{1,16})-[0-9a-f]{16}$/;

/** The files of one collection, in folders named by hashed keys. */
class StampedTexts {
  readonly folder: StateFolder;
  readonly collection: CollectionName;

  constructor(folder: StateFolder, collection: CollectionName) {
    this.folder = folder;
    this.collection = collection;
  }

  at(key: string, name: string): string {
    return this.folder.at(this.collection, join(key, name));
  }

  /** Oldest first. */
  async names(key: string): Promise<readonly string[]> {
    return oldestFirst((await this.folder.within(this.collection, key)) ?? []);
  }

  /** Appends a text, and returns its file's name. */
  async append(key: string, text: string, stamp: number, number: number): Promise<string> {
    // Another process may have saved with the same time, or a later one.
    const newest = readStamp((await this.names(key)).at(-1) ?? "");
    const next = String(Math.max(stamp, newest + 1)).padStart(17, "0");
    const name = `${next}-${number}-${randomBytes(8).toString("hex")}`;
    await this.folder.aside(async (aside) => {
      await writeFile(aside, text, NEW_FILE);
      await this.#place(aside, key, name);
    });
    return name;
  }

  /** The newest text, or null if there is none or it has expired. */
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

  /** Retries, since the folder may be taken or swept at any time. */
  async #place(aside: string, key: string, name: string): Promise<void> {
    const folder = this.folder.at(this.collection, key);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await mkdir(folder, { mode: FOLDER_MODE, recursive: true });
      if (await movePath(aside, join(folder, name))) return;
    }
    throw new SluiceError("E_STORE_WRITE", "The run was deleted while it was being saved: try again.");
  }
}

/** Histories by keys, which may be any string. The number in a file name is the text's bytes. */
export class Histories extends StampedTexts {
  /** Appends a text, and drops old ones of its history. `stamp` in microseconds, see `Stamps`. */
  async add(key: string, text: string, stamp: number, firstKept: FirstKept): Promise<void> {
    const history = hashName(key);
    await this.append(history, text, stamp, countBytes(text));
    const names = await this.names(history);
    for (const oldest of names.slice(0, firstKept(names.map(readNumber)))) await this.remove(history, oldest);
  }

  /** The texts saved after that time, oldest first, without those of more than `most` bytes. */
  async since(key: string, since: number, most: number, firstKept: FirstKept): Promise<readonly DatedText[]> {
    const found: DatedText[] = [];
    const history = hashName(key);
    const all = await this.names(history);
    const names = all.filter((name) => readTime(name) > since && readNumber(name) <= most);
    for (const name of names.slice(firstKept(names.map(readNumber)))) {
      const text = await textAt(this.at(history, name), most);
      if (text !== null) found.push({ at: readTime(name), text });
    }
    return found;
  }

  /** The newest text, if saved after that time. */
  async last(key: string, since: number, most: number): Promise<string | null> {
    return this.newest(hashName(key), most, (name) => readTime(name) <= since);
  }

  /** Deletes what was saved until then, and of more histories than `most` those with the oldest last text. */
  async sweep(since: number, most: number): Promise<void> {
    const kept: { readonly history: string; readonly last: number }[] = [];
    for (const history of await this.folder.entries(this.collection)) {
      const names = await this.names(history);
      for (const name of names) if (readTime(name) <= since) await this.remove(history, name);
      const last = readTime(names.at(-1) ?? "");
      if (last > since) kept.push({ history, last });
      else await rmdir(this.folder.at(this.collection, history)).catch(() => undefined);
    }
    kept.sort((left, right) => left.last - right.last);
    for (const { history } of kept.slice(0, Math.max(0, kept.length - most))) {
      await this.folder.remove(this.folder.at(this.collection, history));
    }
  }
}

/**
 * OAuth states, each taken once; times in milliseconds. The number in a file name is the expiry. The newest text of a
 * state counts, so there is always one while it is saved again. Taking a state renames its folder: of concurrent
 * attempts one succeeds.
 */
export class OAuthStates extends StampedTexts {
  /** Stores a text until then, replacing an earlier one. `stamp` in microseconds, see `Stamps`. */
  async put(state: string, text: string, stamp: number, until: number): Promise<void> {
    const key = hashName(state);
    const name = await this.append(key, text, stamp, until);
    for (const each of await this.names(key)) if (each < name) await this.remove(key, each);
  }

  /** The text; null where there is none, or no longer. Throws SluiceError E_TOO_LARGE where it has more than `most` bytes. */
  async get(state: string, now: number, most: number): Promise<string | null> {
    return this.newest(hashName(state), most, (name) => readNumber(name) <= now);
  }

  /** As `get`, and deletes it. A text that is too large stays, for a store that accepts it. */
  async take(state: string, now: number, most: number): Promise<string | null> {
    if ((await this.get(state, now, most)) === null) return null;
    return this.folder.aside(async (aside) => {
      const isMine = await movePath(this.folder.at(this.collection, hashName(state)), aside);
      if (!isMine || !(await isPlainFolder(aside))) return null;
      const name = oldestFirst(await readdir(aside)).at(-1);
      return name === undefined || readNumber(name) <= now ? null : textAt(join(aside, name), most);
    });
  }

  /** Deletes expired states, and the oldest of more than `most`. What is saved meanwhile stays. */
  async sweep(now: number, most: number): Promise<void> {
    const kept: { readonly key: string; readonly names: readonly string[]; readonly newest: string }[] = [];
    for (const key of await this.folder.entries(this.collection)) {
      const names = await this.names(key);
      const newest = names.at(-1) ?? "";
      if (readNumber(newest) > now) kept.push({ key, names, newest });
      else await this.#forget(key, names);
    }
    kept.sort((left, right) => (left.newest < right.newest ? -1 : 1));
    for (const { key, names } of kept.slice(0, Math.max(0, kept.length - most))) await this.#forget(key, names);
  }

  async #forget(key: string, names: readonly string[]): Promise<void> {
    for (const name of names) await this.remove(key, name);
    await rmdir(this.folder.at(this.collection, key)).catch(() => undefined);
  }
}

function oldestFirst(names: readonly string[]): readonly string[] {
  return names.filter((name) => TEXT_NAME.test(name)).sort();
}

/** In microseconds; 0 for other names. */
function readStamp(name: string): number {
  return Number(TEXT_NAME.exec(name)?.[1] ?? 0);
}

/** 0 for what has no such name. */
function readNumber(name: string): number {
  return Number(TEXT_NAME.exec(name)?.[2] ?? 0);
}

/** Whole milliseconds. */
function readTime(name: string): number {
  return Math.floor(inMilliseconds(readStamp(name)));
}

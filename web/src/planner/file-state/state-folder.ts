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
import { createHash } from "node:crypto";
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import {
  FOLDER_MODE,
  isMarked,
  isPlainFolder,
  mark,
  openPlain,
  orNull,
  type Marked,
} from "../../artifacts/file/plain.js";
import { SWEEP_AFTER, TemporaryFolder } from "../../artifacts/file/temporaries.js";
import { SluiceError } from "../../errors/error.js";
import { TEXT_TOO_LARGE } from "../../errors/storage.js";

/** The rooms of a state store. */
export type CollectionName = "runs" | "bindings" | "events" | "oauth";

/** All of them. */
export const COLLECTIONS: readonly CollectionName[] = ["runs", "bindings", "events", "oauth"];
const OCCUPIED =
  "The folder is not a state store and holds runs, bindings, events or oauth already: name a new or empty folder.";
const ENTRY: RegExp = /^[0-9a-f]{64}$/;

/** The name of what belongs to a token or an id, and of a claim's owner. JSON tells apart what UTF-8 cannot say. */
export function hashed(name: string): string {
  return createHash("sha256").update(JSON.stringify(name)).digest("hex");
}

/** Moves a file or folder. False where there is none any more. */
export async function moved(from: string, to: string): Promise<boolean> {
  return (await orNull(rename(from, to).then(() => true))) !== null;
}

/** A file's text; null where there is none. Throws SluiceError E_TOO_LARGE where it has more than `most` bytes. */
export async function textAt(path: string, most: number): Promise<string | null> {
  const opened = await orNull(openPlain(path));
  if (opened === null) return null;
  const { file, size } = opened;
  try {
    if (size > most) throw new SluiceError("E_TOO_LARGE", TEXT_TOO_LARGE);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Layout and safety of one folder. */
export class StateFolder {
  readonly #root: string;
  readonly #moving: TemporaryFolder;
  readonly #marked: Marked;
  #ready: Promise<void> | undefined;
  #present = false;

  constructor(root: string) {
    this.#root = root;
    this.#moving = new TemporaryFolder(join(root, "moving"));
    const rooms = COLLECTIONS.map((room) => join(root, room));
    this.#marked = { path: join(root, "sluice-state.json"), kind: "state store", rooms, occupied: OCCUPIED };
  }

  /** Whether the folder is a state store. Throws SluiceError E_STORE_READ, E_STORE_CORRUPT, E_STORE_DENIED. */
  async present(): Promise<boolean> {
    this.#present ||= await this.#isStore();
    return this.#present;
  }

  /** Makes it one. */
  async ready(): Promise<void> {
    this.#ready ??= this.#prepare();
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
  }

  at(room: CollectionName, name: string): string {
    return join(this.#root, room, name);
  }

  /** The entries of a room. */
  async entries(room: CollectionName): Promise<string[]> {
    const names = (await orNull(readdir(join(this.#root, room)))) ?? [];
    return names.filter((name) => ENTRY.test(name));
  }

  /** What is in an entry, or null where there is none. Throws SluiceError E_STORE_DENIED for what is no folder. */
  async within(room: CollectionName, name: string): Promise<string[] | null> {
    const path = this.at(room, name);
    return (await isPlainFolder(path)) ? orNull(readdir(path)) : null;
  }

  /** Makes something aside, at a path that nobody else has, to move it from there. What is still there in the end is removed. */
  async aside<T>(work: (path: string) => Promise<T>): Promise<T> {
    return this.#moving.aside(work);
  }

  /** Takes a file or folder away, whole. False where another was quicker. */
  async remove(path: string): Promise<boolean> {
    return this.aside((aside) => moved(path, aside));
  }

  async #prepare(): Promise<void> {
    if (!(await this.#isStore())) await mark(this.#marked);
    for (const room of [...COLLECTIONS, "moving"]) await mkdir(join(this.#root, room), MAKING);
    await this.#isStore();
    await this.#moving.sweep(SWEEP_AFTER);
  }

  async #isStore(): Promise<boolean> {
    if (!(await isMarked(this.#marked))) return false;
    for (const room of [...COLLECTIONS, "moving"]) await isPlainFolder(join(this.#root, room));
    return true;
  }
}

/** Recursive so that it may be there: only the last name can be missing. */
const MAKING = { mode: FOLDER_MODE, recursive: true } as const;

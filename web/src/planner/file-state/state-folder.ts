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
 * moving/<owner>-<random>                       on its way in or out; swept when its owner is gone
 * ```
 *
 * Tokens and ids may hold anything, and so are hashed. Whatever is changed is changed by one rename, so it is there whole or
 * not at all, whatever dies when.
 * @module
 */
import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  FOLDER_MODE,
  isMarked,
  isPlainFolder,
  isStale,
  mark,
  openPlain,
  orNull,
  temporaryName,
  type Marked,
} from "../../artifacts/file/plain.js";
import { SluiceError } from "../../errors/error.js";
import { TOO_LARGE } from "../state-store.js";

/** The rooms of a state store. */
export type Room = "runs" | "bindings" | "events" | "oauth";

/** All of them. */
export const ROOMS: readonly Room[] = ["runs", "bindings", "events", "oauth"];
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
    if (size > most) throw new SluiceError("E_TOO_LARGE", TOO_LARGE);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Layout and safety of one folder. */
export class StateFolder {
  readonly #root: string;
  readonly #moving: string;
  readonly #marked: Marked;
  #ready: Promise<void> | undefined;
  #present = false;

  constructor(root: string) {
    this.#root = root;
    this.#moving = join(root, "moving");
    const rooms = ROOMS.map((room) => join(root, room));
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

  at(room: Room, name: string): string {
    return join(this.#root, room, name);
  }

  /** The entries of a room. */
  async entries(room: Room): Promise<string[]> {
    const names = (await orNull(readdir(join(this.#root, room)))) ?? [];
    return names.filter((name) => ENTRY.test(name));
  }

  /** What is in an entry, or null where there is none. Throws SluiceError E_STORE_DENIED for what is no folder. */
  async within(room: Room, name: string): Promise<string[] | null> {
    const path = this.at(room, name);
    return (await isPlainFolder(path)) ? orNull(readdir(path)) : null;
  }

  /** Makes something aside, at a path that nobody else has, to move it from there. What is still there in the end is removed. */
  async aside<T>(work: (path: string) => Promise<T>): Promise<T> {
    const path = join(this.#moving, temporaryName());
    try {
      return await work(path);
    } finally {
      // What cannot be removed now is swept later.
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  /** Takes a file or folder away, whole. False where another was quicker. */
  async remove(path: string): Promise<boolean> {
    return this.aside((aside) => moved(path, aside));
  }

  async #prepare(): Promise<void> {
    if (!(await this.#isStore())) await mark(this.#marked);
    for (const room of [...ROOMS, "moving"]) await mkdir(join(this.#root, room), MAKING);
    await this.#isStore();
    await this.#sweep();
  }

  async #isStore(): Promise<boolean> {
    if (!(await isMarked(this.#marked))) return false;
    for (const room of [...ROOMS, "moving"]) await isPlainFolder(join(this.#root, room));
    return true;
  }

  /** Removes what died on its way. */
  async #sweep(): Promise<void> {
    for (const name of await readdir(this.#moving)) {
      const path = join(this.#moving, name);
      const stat = await orNull(lstat(path));
      if (stat && isStale(name, Date.now() - stat.mtimeMs)) await rm(path, { recursive: true, force: true });
    }
  }
}

/** Recursive so that it may be there: only the last name can be missing. */
const MAKING = { mode: FOLDER_MODE, recursive: true } as const;

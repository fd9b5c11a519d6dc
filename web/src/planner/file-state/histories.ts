/**
 * What was saved one after the other: a file for each, which is there whole or not at all.
 * @module
 */
import { randomBytes } from "node:crypto";
import { mkdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FILE_MODE, FOLDER_MODE } from "../../artifacts/file/layout.js";
import { orNull } from "../../artifacts/file/plain.js";
import { inMilliseconds } from "../../artifacts/stamps.js";
import { SluiceError } from "../../errors/error.js";
import { bytesOf } from "../state-store.js";
import { hashed, moved, textAt, type Room, type StateFolder } from "./state-folder.js";

/** A text, and when it was saved, in milliseconds. */
interface SavedText {
  readonly at: number;
  readonly text: string;
}

/** Of texts by their sizes in bytes, the oldest first: the first that is kept. */
export type FirstKept = (sizes: readonly number[]) => number;

const NAME = /^(\d{17})-(\d{1,16})-[0-9a-f]{16}$/;
// Each attempt fails only because another process changed the same history in between.
const ATTEMPTS = 64;

/** Histories by keys that may be any string. */
export class Histories {
  readonly #folder: StateFolder;
  readonly #room: Room;

  constructor(folder: StateFolder, room: Room) {
    this.#folder = folder;
    this.#room = room;
  }

  /** Keeps a text, and of its history no more than may be. `stamp` in microseconds, see `Stamps`. */
  async add(key: string, text: string, stamp: number, firstKept: FirstKept): Promise<void> {
    const history = hashed(key);
    // Clocks tick slowly: another process may have saved with this very stamp, or a later one.
    const newest = stampOf((await this.#names(history)).at(-1) ?? "");
    const next = String(Math.max(stamp, newest + 1)).padStart(17, "0");
    const name = `${next}-${bytesOf(text)}-${randomBytes(8).toString("hex")}`;
    await this.#folder.aside(async (aside) => {
      await writeFile(aside, text, { flag: "wx", mode: FILE_MODE });
      await this.#place(aside, history, name);
    });
    const names = await this.#names(history);
    for (const oldest of names.slice(0, firstKept(names.map(sizeOf)))) await this.#remove(history, oldest);
  }

  /** What was saved after that time and may be kept, oldest first, without what has more than `most` bytes. */
  async *since(key: string, since: number, most: number, firstKept: FirstKept): AsyncIterable<SavedText> {
    const history = hashed(key);
    const names = (await this.#names(history)).filter((name) => timeOf(name) > since && sizeOf(name) <= most);
    for (const name of names.slice(firstKept(names.map(sizeOf)))) {
      const text = await this.#read(history, name, most);
      if (text !== null) yield { at: timeOf(name), text };
    }
  }

  /** What was saved last, and after that time. */
  async last(key: string, since: number, most: number): Promise<string | null> {
    const history = hashed(key);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const name = (await this.#names(history)).at(-1);
      if (name === undefined || timeOf(name) <= since) return null;
      const text = await this.#read(history, name, most);
      if (text !== null) return text;
    }
    return null;
  }

  /** Forgets what was saved then or before; and of more histories than `most`, those that nothing was added to for longest. */
  async sweep(since: number, most: number): Promise<void> {
    const kept: { readonly history: string; readonly last: number }[] = [];
    for (const history of await this.#folder.entries(this.#room)) {
      const names = await this.#names(history);
      for (const name of names) if (timeOf(name) <= since) await this.#remove(history, name);
      const last = timeOf(names.at(-1) ?? "");
      if (last > since) kept.push({ history, last });
      else await rmdir(this.#folder.at(this.#room, history)).catch(() => undefined);
    }
    kept.sort((left, right) => left.last - right.last);
    for (const { history } of kept.slice(0, Math.max(0, kept.length - most))) {
      await this.#folder.remove(this.#folder.at(this.#room, history));
    }
  }

  /** Oldest first. */
  async #names(history: string): Promise<readonly string[]> {
    const names = (await this.#folder.within(this.#room, history)) ?? [];
    return names.filter((name) => NAME.test(name)).sort();
  }

  #read(history: string, name: string, most: number): Promise<string | null> {
    return textAt(this.#folder.at(this.#room, join(history, name)), most);
  }

  async #remove(history: string, name: string): Promise<void> {
    await orNull(unlink(this.#folder.at(this.#room, join(history, name))));
  }

  /** A sweep may take an empty folder away at any time. */
  async #place(aside: string, history: string, name: string): Promise<void> {
    const folder = this.#folder.at(this.#room, history);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await mkdir(folder, { mode: FOLDER_MODE, recursive: true });
      if (await moved(aside, join(folder, name))) return;
    }
    throw new SluiceError("E_STORE_WRITE", "What is saved here is forgotten at the same time: try again.");
  }
}

/** 0 for what has no such name. */
function stampOf(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0);
}

/** In bytes; 0 for what has no such name. */
function sizeOf(name: string): number {
  return Number(NAME.exec(name)?.[2] ?? 0);
}

/** Whole milliseconds; 0 for what has no such name. */
function timeOf(name: string): number {
  return Math.floor(inMilliseconds(stampOf(name)));
}

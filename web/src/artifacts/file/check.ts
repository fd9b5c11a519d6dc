/**
 * Checks a whole store: every content by its hash, every record, every name; and repairs what there is a sound copy of.
 *
 * Other processes may use the store meanwhile. Whatever looks wrong is looked at once more before it is reported, since it may have
 * been written or deleted in between.
 * @module
 */
import { chmod, link, lstat, rename } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import type { Hashing } from "../hash.js";
import { scopeKey } from "../scope.js";
import type { ArtifactScope } from "../store.js";
import { BLOB, BLOB_NAME, toId, REF, SCOPE_NAME, scopeName, withdraw, type Folder } from "./folder.js";
import { isFoundByName, noteName } from "./names.js";
import { isNamedBy, readRecord, rebuildRef, keepUsedTime, type Recorded } from "./refs.js";
import { FILE_MODE, FOLDER_MODE, isOpenToOthers, isPlainFolder, namesIn, openPlain, orNull } from "./plain-file.js";
import { sweep, type SweepReport } from "./sweep.js";

/**
 * What is wrong: bytes that changed or are missing; a record that cannot be read; an artifact that is not
 * found by its name; a file that others may read; anything but a plain file or folder.
 */
export type StoreFaultKind = "content" | "missing" | "record" | "name" | "access" | "foreign";

/** One thing that is wrong in a store. */
export interface StoreFault {
  readonly kind: StoreFaultKind;
  /** The artifact. Null where there is none, as for a content that no artifact has. */
  readonly id: string | null;
  /** Its owner, if the record tells. */
  readonly scope: ArtifactScope | null;
  /** `repairable` needs another check with `repair`; `lost` has no sound copy, and stays. */
  readonly state: "repaired" | "repairable" | "lost";
}

/** What a check found. */
export interface CheckReport {
  /** Artifacts that were looked at, sound or not. */
  readonly artifacts: number;
  /** Contents that were read, each once, however many artifacts share it; and their bytes. */
  readonly contents: number;
  readonly bytes: number;
  readonly faults: readonly StoreFault[];
  /** What crashes had left behind, if it was removed. */
  readonly swept: SweepReport | null;
}

/** How a store is checked. */
export interface CheckOptions {
  /** Whether to repair what can be. Defaults to false: nothing is changed. */
  readonly repair?: boolean;
  /** Called with the bytes of each piece that was read. */
  readonly onProgress?: (bytes: number) => void | Promise<void>;
}

interface CheckDeps extends CheckOptions {
  readonly folder: Folder;
  readonly hashing: Hashing;
  /** Milliseconds, as for `sweep`. */
  readonly sweepAfter: number;
}

/** Runs a check. Throws SluiceError E_NOT_FOUND for a folder that is no store, E_STORE_…. */
export async function checkFolder(deps: CheckDeps): Promise<CheckReport> {
  if (!(await deps.folder.isStore())) {
    throw new SluiceError(
      "E_NOT_FOUND",
      "The folder is not a Sluice store, so there is nothing to check: check its path.",
    );
  }
  return new Check(deps).run();
}

const PIECE = 256 * 1024;

/** In place of the hash of a file: nothing is there, or no plain file. */
const ABSENT = "absent";
const FOREIGN = "foreign";

type Faulty = Pick<StoreFault, "scope"> & { readonly id: string };

/** A ref's place: the names of its folders. */
interface Place {
  readonly scope: string;
  readonly name: string;
}

class Check {
  readonly #deps: CheckDeps;
  readonly #folder: Folder;
  readonly #faults: StoreFault[] = [];
  /** The hashes of files that were read, by inode and times: refs share files, and numbers of inodes are used again. */
  readonly #read = new Map<string, string>();
  /** A file with the sound bytes of a content, by its hash. */
  readonly #sound = new Map<string, string>();
  /** Refs whose bytes are not sound. They are looked at again once all sound copies are known. */
  readonly #broken: Place[] = [];
  #artifacts = 0;
  #bytes = 0;

  constructor(deps: CheckDeps) {
    this.#deps = deps;
    this.#folder = deps.folder;
  }

  async run(): Promise<CheckReport> {
    const damaged = await this.#checkShared();
    await this.#refs();
    for (const sha256 of damaged) await this.#unshare(sha256);
    for (const place of this.#broken) await this.#content(place);
    const swept = this.#isRepairing ? await sweep(this.#folder, this.#deps.sweepAfter) : null;
    const contents = this.#read.size;
    return { artifacts: this.#artifacts, contents, bytes: this.#bytes, faults: this.#faults, swept };
  }

  get #isRepairing(): boolean {
    return this.#deps.repair === true;
  }

  /** Reads the contents that are shared, and returns the hashes of those that are not sound. */
  async #checkShared(): Promise<readonly string[]> {
    const { at } = this.#folder;
    const damaged: string[] = [];
    for await (const prefix of namesIn(at.blobs, /^[0-9a-f]{2}$/)) {
      if (!(await this.#isFolder(join(at.blobs, prefix)))) continue;
      for await (const sha256 of namesIn(join(at.blobs, prefix), BLOB_NAME)) {
        const path = join(at.blobs, prefix, sha256);
        const content = await this.#hashContent(path);
        if (content === sha256) this.#sound.set(sha256, path);
        else if (content !== ABSENT) damaged.push(sha256);
      }
    }
    return damaged;
  }

  async #refs(): Promise<void> {
    for await (const scope of namesIn(this.#folder.at.refs, SCOPE_NAME)) {
      if (!(await this.#isFolder(join(this.#folder.at.refs, scope)))) continue;
      const lost: string[] = [];
      let owner: ArtifactScope | null = scope === scopeName(scopeKey({})) ? {} : null;
      for await (const name of namesIn(join(this.#folder.at.refs, scope), /./)) {
        const recorded = await this.#ref({ scope, name });
        if (recorded === null) lost.push(name);
        else owner = recorded === undefined ? owner : recorded.ref.scope;
      }
      for (const name of lost) await this.#record({ scope, name }, owner);
    }
  }

  /** Looks at one ref. Null if its record cannot be read, undefined if it is gone. */
  async #ref(place: Place): Promise<Recorded | null | undefined> {
    if (!(await this.#isFolder(this.#toPath(place)))) return undefined;
    const recorded = await this.#readRecord(place);
    if (recorded === undefined) return undefined;
    this.#artifacts += 1;
    if (recorded === null) return null;
    const { sha256 } = recorded.ref;
    const blob = join(this.#toPath(place), BLOB);
    if ((await this.#hashContent(blob)) === sha256) {
      if (!this.#sound.has(sha256)) this.#sound.set(sha256, blob);
    } else this.#broken.push(place);
    await this.#checkNamed(place, recorded);
    await this.#private(place, recorded);
    return recorded;
  }

  /** The record of a ref: null if it cannot be read, undefined if the ref is gone. */
  async #readRecord({ scope, name }: Place): Promise<Recorded | null | undefined> {
    const found = await readRecord(this.#folder, { scope, name }).catch(() => null);
    if (found !== null) return found.recorded;
    return (await orNull(lstat(this.#toPath({ scope, name })))) === null ? undefined : null;
  }

  /** Takes a damaged content out of use, and shares a sound copy instead, if an artifact has one. */
  async #unshare(sha256: string): Promise<void> {
    const path = this.#folder.at.blob(sha256);
    const content = await this.#hashContent(path, true);
    if (content === sha256 || content === ABSENT) return;
    const copy = this.#sound.get(sha256);
    // Artifacts that hold it are reported on their own.
    const isHeld = ((await orNull(lstat(path)))?.nlink ?? 0) > 1;
    if (this.#isRepairing) {
      await withdraw(this.#folder, sha256);
      if (copy !== undefined) await orNull(link(copy, path)).catch(() => undefined);
    }
    if (!isHeld) this.#report("content", null, this.#isRepairing);
  }

  /** Reports a ref whose bytes are not sound, and gives it a sound copy. */
  async #content(place: Place): Promise<void> {
    const recorded = await this.#readRecord(place);
    if (recorded == null) return;
    const { id, sha256, scope } = recorded.ref;
    const blob = join(this.#toPath(place), BLOB);
    const content = await this.#hashContent(blob, true);
    if (content === sha256) return;
    const copy = this.#sound.get(sha256);
    const isRepaired = this.#isRepairing && copy !== undefined && (await this.#replace(place, copy));
    this.#report(content === ABSENT ? "missing" : "content", { id, scope }, isRepaired, copy !== undefined);
  }

  /** Puts another link to sound bytes in the place of a ref's own. False if the ref is gone. */
  async #replace(place: Place, copy: string): Promise<boolean> {
    const refFolder = this.#toPath(place);
    return keepUsedTime(refFolder, () =>
      this.#folder.temporaries.aside(async (temporary) => {
        await link(copy, temporary);
        const isMoved = await orNull(rename(temporary, join(refFolder, BLOB)).then(() => true));
        await this.#folder.sync(refFolder);
        return isMoved === true;
      }),
    ).catch(() => false);
  }

  /** Reports a ref without a readable record. It is written again if the content is the one that its id names, and the owner is known. */
  async #record(place: Place, owner: ArtifactScope | null): Promise<void> {
    const id = toId(place.name);
    if ((await this.#readRecord(place)) !== null) return;
    const blob = join(this.#toPath(place), BLOB);
    const sha256 = await this.#hashContent(blob, true);
    const isKnown = owner !== null && scopeName(scopeKey(owner)) === place.scope && isNamedBy(id, sha256);
    const isRepaired =
      this.#isRepairing && isKnown && (await rebuildRef(this.#folder, { id, scope: owner, sha256 }).catch(() => false));
    this.#report("record", { id, scope: owner }, isRepaired, isKnown);
  }

  async #checkNamed(place: Place, recorded: Recorded): Promise<void> {
    const key = scopeKey(recorded.ref.scope);
    if (await isFoundByName(this.#folder, key, recorded)) return;
    const now = await this.#readRecord(place);
    if (now == null) return;
    const isSame = now.created === recorded.created && now.ref.filename === recorded.ref.filename;
    // It was renamed or stored again meanwhile.
    if (!isSame) return this.#checkNamed(place, now);
    if (await isFoundByName(this.#folder, key, now)) return;
    if (this.#isRepairing) await noteName(this.#folder, key, now);
    this.#report("name", now.ref, this.#isRepairing);
  }

  /** Reports a ref that others may read. */
  async #private(place: Place, { ref }: Recorded): Promise<void> {
    const refFolder = this.#toPath(place);
    const modes: readonly (readonly [path: string, mode: number])[] = [
      [refFolder, FOLDER_MODE],
      [join(refFolder, BLOB), FILE_MODE],
      [join(refFolder, REF), FILE_MODE],
    ];
    let isOpen = false;
    for (const [path, mode] of modes) {
      const found = await orNull(lstat(path));
      if (found === null || found.isSymbolicLink() || !isOpenToOthers(found.mode, 0o077)) continue;
      isOpen = true;
      if (this.#isRepairing) await chmod(path, mode);
    }
    if (isOpen) this.#report("access", ref, this.#isRepairing);
  }

  #toPath({ scope, name }: Place): string {
    return join(this.#folder.at.refs, scope, name);
  }

  /** Whether a folder is there. What is something else is reported. */
  async #isFolder(path: string): Promise<boolean> {
    try {
      return await isPlainFolder(path);
    } catch {
      this.#report("foreign", null, false, false);
      return false;
    }
  }

  /** The hash of a file. Each file is read once, unless `isFresh` asks for another look. */
  async #hashContent(path: string, isFresh = false): Promise<string> {
    const opened = await orNull(openPlain(path)).catch(() => FOREIGN);
    if (opened === null) return ABSENT;
    if (typeof opened === "string") return opened;
    const { file } = opened;
    try {
      const { dev, ino, size, mtimeNs, birthtimeNs } = await file.stat({ bigint: true });
      const key = [dev, ino, size, mtimeNs, birthtimeNs].join(" ");
      const known = isFresh ? undefined : this.#read.get(key);
      if (known !== undefined) return known;
      const hash = await this.#deps.hashing.stream();
      const buffer = new Uint8Array(PIECE);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, PIECE);
        if (bytesRead === 0) break;
        hash.update(buffer.subarray(0, bytesRead));
        if (isFresh) continue;
        this.#bytes += bytesRead;
        await this.#deps.onProgress?.(bytesRead);
      }
      const digest = hash.digest();
      if (!isFresh) this.#read.set(key, digest);
      return digest;
    } finally {
      await file.close();
    }
  }

  #report(kind: StoreFaultKind, of: Faulty | null, isRepaired: boolean, isRepairable = true): void {
    const state = isRepaired ? "repaired" : isRepairable && !this.#isRepairing ? "repairable" : "lost";
    this.#faults.push({ kind, id: of?.id ?? null, scope: of?.scope ?? null, state });
  }
}

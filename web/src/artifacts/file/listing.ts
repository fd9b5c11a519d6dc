/**
 * What a store holds, oldest first.
 * @module
 */
import { join } from "node:path";
import { inMilliseconds } from "../stamps.js";
import type { StoredArtifact } from "../store.js";
import type { Folder } from "./folder.js";
import { SCOPE_NAME, scopeName } from "./layout.js";
import { orNull } from "./plain.js";
import { readFrom, readRef, type Recorded } from "./refs.js";
import { namesIn } from "./sweep.js";
import { timesOf } from "./times.js";

const AT_ONCE = 16;

interface Listed {
  readonly created: number;
  readonly stored: StoredArtifact;
}

/** An artifact with its times; null when there is none. */
export async function statRef(folder: Folder, key: string, id: string): Promise<StoredArtifact | null> {
  const recorded = await readRef(folder, key, id);
  return recorded && ((await dated(recorded, folder.at.refFolder(key, id)))?.stored ?? null);
}

/** What the scope with this key holds, or what all do. Damaged refs and those deleted meanwhile are left out. */
export async function listRefs(folder: Folder, key: string | undefined): Promise<readonly StoredArtifact[]> {
  const found: Listed[] = [];
  let reading: Promise<Listed | null>[] = [];
  const gather = async (): Promise<void> => {
    for (const listed of await Promise.all(reading)) if (listed) found.push(listed);
    reading = [];
  };
  const scopes = key === undefined ? namesIn(folder.at.refs, SCOPE_NAME) : [scopeName(key)];
  for await (const scope of scopes) {
    for await (const name of namesIn(join(folder.at.refs, scope), /./)) {
      reading.push(listedRef(folder, scope, name).catch(() => null));
      if (reading.length === AT_ONCE) await gather();
    }
  }
  await gather();
  found.sort((left, right) => left.created - right.created || (left.stored.id < right.stored.id ? -1 : 1));
  return found.map(({ stored }) => stored);
}

async function listedRef(folder: Folder, scope: string, name: string): Promise<Listed | null> {
  return dated(await readFrom(folder, scope, name), join(folder.at.refs, scope, name));
}

async function dated(recorded: Recorded | null, refFolder: string): Promise<Listed | null> {
  const times = recorded && (await orNull(timesOf(refFolder)));
  if (!times) return null;
  const { created, ref } = recorded;
  const stored = { ...ref, stored_at: inMilliseconds(times.stored), used_at: inMilliseconds(times.used) };
  return { created, stored };
}

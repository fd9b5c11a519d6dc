/**
 * A user's files, found among the artifacts that keep them.
 * @module
 */
import type { ScopedArtifacts } from "../artifacts/scoped.js";
import type { StoredArtifact } from "../artifacts/store.js";
import { fileName } from "./file-name.js";
import { isExpired, markOf, userFile, type UserFile } from "./user-file.js";

/** One file, found. */
export interface ListedFile {
  readonly file: UserFile;
  /** Oldest first. */
  readonly versions: readonly StoredArtifact[];
}

/** By name, which is unique: of two files with one name the later one has a number. Drafts whose time is over are deleted. */
export async function listedFiles(artifacts: ScopedArtifacts, now: number): Promise<ReadonlyMap<string, ListedFile>> {
  const found = new Map<string, ListedFile>();
  for (const versions of (await byNamespace(artifacts, now)).values()) {
    // What was stored again is the newest.
    versions.sort((left, right) => left.stored_at - right.stored_at);
    const name = free(fileName(versions.at(-1)?.filename ?? ""), found);
    const file = userFile(name, versions);
    if (file !== undefined) found.set(name, { file, versions });
  }
  return found;
}

/** The versions of each file, without those whose time is over. */
async function byNamespace(artifacts: ScopedArtifacts, now: number): Promise<ReadonlyMap<string, StoredArtifact[]>> {
  const found = new Map<string, StoredArtifact[]>();
  const over: StoredArtifact[] = [];
  for await (const artifact of artifacts.list()) {
    if (markOf(artifact) === undefined) continue;
    const versions = found.get(artifact.namespace);
    if (isExpired(artifact, now)) over.push(artifact);
    else if (versions === undefined) found.set(artifact.namespace, [artifact]);
    else versions.push(artifact);
  }
  for (const { id } of over) await artifacts.delete(id);
  return found;
}

function free(name: string, others: ReadonlyMap<string, unknown>): string {
  const dot = name.lastIndexOf(".") > 0 ? name.lastIndexOf(".") : name.length;
  let own = name;
  for (let number = 2; others.has(own); number += 1) own = `${name.slice(0, dot)} (${number})${name.slice(dot)}`;
  return own;
}

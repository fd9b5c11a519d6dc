/**
 * Records of what is made of artifacts, where the bytes are an artifact already. Same content has the same id, and so one record: it
 * stays as it is. What else it would be is noted with what it is made of.
 * @module
 */
import type { ArtifactPatch, ArtifactRef, StoredArtifact } from "../../artifacts/store.js";
import { isObject } from "../../errors/arguments.js";
import type { ReadSource } from "./source.js";

/**
 * The record of content that is there already, such as what an edit undoes, a query that asks for all, or a file that is in an archive
 * too: given to `close`, it stays as it is. Undefined where there is none.
 */
export async function findRecord(
  source: ReadSource,
  origin: ArtifactRef,
  hash: string,
): Promise<Required<ArtifactPatch> | undefined> {
  const known = await source.stat(`${origin.namespace}_${hash.slice(0, 12)}`).catch(() => null);
  if (known?.sha256 !== hash) return undefined;
  return { mime_type: known.mime_type, filename: known.filename, source: known.source };
}

/** Most notes on what was made of one artifact. The oldest goes first, and is made again when it is wanted. */
const MAX_NOTES = 50;

/** What was made of an artifact, and the record that it would have if its bytes had not been an artifact before. */
export interface DerivedNote {
  readonly form: string;
  readonly id: string;
  readonly record: ArtifactPatch;
}

/** Notes with an artifact what was made of it. */
export async function noteDerived(source: ReadSource, { id }: ArtifactRef, note: DerivedNote): Promise<void> {
  const ref = await source.stat(id);
  if (ref === null) return;
  const others = listNotes(ref).filter(({ form }) => form !== note.form);
  await source.update?.(id, { source: { ...ref.source, derived: [...others, note].slice(-MAX_NOTES) } });
}

/** What is noted of a form of an artifact, with the record that it has there. Null if nothing is, or if it is gone. */
export async function findNoted(source: ReadSource, { id }: ArtifactRef, form: string): Promise<StoredArtifact | null> {
  const ref = await source.stat(id);
  const note = ref === null ? undefined : listNotes(ref).find((each) => each.form === form);
  const known = note === undefined ? null : await source.stat(note.id);
  return known === null ? null : { ...known, ...note?.record };
}

/** What is noted with an artifact. Another program may have written the record. */
function listNotes({ source: { derived } }: ArtifactRef): readonly DerivedNote[] {
  if (!Array.isArray(derived)) return [];
  return derived.filter(
    (note: unknown): note is DerivedNote =>
      isObject(note) && typeof note["form"] === "string" && typeof note["id"] === "string" && isRecord(note["record"]),
  );
}

function isRecord(record: unknown): record is ArtifactPatch {
  if (!isObject(record) || !isObject(record["source"])) return false;
  return [record["mime_type"], record["filename"]].every((text) => text === null || typeof text === "string");
}

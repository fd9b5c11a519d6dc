/** Databases that tests make, and look into. */
import { deleteDB, openDB } from "idb";

let made = 0;

/** A name that no other test has. */
export function freshName(): string {
  made += 1;
  return `test-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}-${made}`;
}

/** What lies in a database, as it is, whoever names it. */
export interface Inside {
  readonly refs: readonly { readonly sha256: string; readonly size_bytes: number }[];
  readonly blobs: readonly { readonly sha256: string; readonly size: number; readonly content: string }[];
  readonly chunks: readonly (readonly [content: string, index: number])[];
  readonly contents: readonly { readonly content: string }[];
}

/** Looks into a database that a store made. */
export async function inside(name: string): Promise<Inside> {
  const database = await openDB(name);
  try {
    if (database.objectStoreNames.length === 0) return { refs: [], blobs: [], chunks: [], contents: [] };
    const transaction = database.transaction(["refs", "blobs", "chunks", "contents"]);
    const [refs, blobs, chunks, contents] = await Promise.all([
      transaction.objectStore("refs").getAll(),
      transaction.objectStore("blobs").getAll(),
      transaction.objectStore("chunks").getAllKeys(),
      transaction.objectStore("contents").getAll(),
    ]);
    await transaction.done;
    return { refs, blobs, chunks, contents } as unknown as Inside;
  } finally {
    database.close();
  }
}

/** Every content of which anything is there. */
export async function contentsIn(name: string): Promise<number> {
  const { blobs, chunks, contents } = await inside(name);
  const all = [...blobs.map(({ content }) => content), ...chunks.map(([content]) => content)];
  return new Set([...all, ...contents.map(({ content }) => content)]).size;
}

/** What would be wrong with a database: refs without bytes, bytes without refs. Nothing of it, where all is well. */
export async function wrongIn(name: string): Promise<readonly string[]> {
  const { refs, blobs, chunks, contents } = await inside(name);
  const wrong: string[] = [];
  for (const { sha256 } of refs) if (!blobs.some((blob) => blob.sha256 === sha256)) wrong.push("a ref has no blob");
  for (const { sha256, size, content } of blobs) {
    if (!refs.some((ref) => ref.sha256 === sha256)) wrong.push("a blob has no ref");
    const count = chunks.filter(([of]) => of === content).length;
    if (count !== Math.ceil(size / (1024 * 1024))) wrong.push(`a blob of ${size} bytes has ${count} chunks`);
  }
  const named = new Set(blobs.map(({ content }) => content));
  for (const [content] of chunks) if (!named.has(content)) wrong.push("a chunk has no blob");
  for (const { content } of contents) if (!named.has(content)) wrong.push("a content has no blob");
  return wrong;
}

/** Deletes a database once nobody has it open. */
export function removed(name: string): Promise<void> {
  return deleteDB(name);
}

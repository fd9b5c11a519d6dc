/** Stores that are copied: filled at random, and compared by every field. */
import * as fc from "fast-check";
import { expect } from "vitest";
import type { RecordStore, StoredRecord } from "../../../web/src/artifacts/record-store.js";
import { scopeKey } from "../../../web/src/artifacts/scope.js";
import type { ArtifactScope, ArtifactStore } from "../../../web/src/artifacts/store.js";
import { drained, hashOf, noise } from "./bytes.js";

/** One change of a store. */
export interface Change {
  readonly what: "put" | "get" | "update" | "delete";
  readonly size: number;
  readonly scope: ArtifactScope;
  readonly namespace: string;
  readonly filename: string | null;
}

/** Any change. */
export const change: fc.Arbitrary<Change> = fc.record({
  what: fc.constantFrom("put", "put", "put", "get", "update", "delete"),
  size: fc.constantFrom(0, 1, 2, 3, 70_000),
  scope: fc.constantFrom<ArtifactScope>({}, { user_id: "u" }, { user_id: "ü", session_id: "s" }, { tenant_id: "u" }),
  namespace: fc.constantFrom("artifact", "Tool"),
  filename: fc.constantFrom(null, "a", "b"),
});

/** Makes a change, whatever is there. */
export async function changed(store: ArtifactStore, { what, size, scope, namespace, filename }: Change): Promise<void> {
  const id = `${namespace}_${(await hashOf(noise(size))).slice(0, 12)}`;
  if (what === "put") {
    const said = { scope, namespace, filename, mime_type: filename === "a" ? "text/plain" : null };
    await store.putBytes(noise(size), { ...said, source: { tool: namespace, nested: [{ size }] } });
  } else if (what === "get") await store.get(id, scope);
  else if (what === "update") await store.update(id, { filename, source: { tool: "changed" } }, scope);
  else await store.delete(id, scope);
}

/** An artifact of a store, without the mark of a copy. */
type Contents = Omit<StoredRecord, "origin"> & { readonly scope: string; readonly bytes: string };

/** All that is told of a store, in the order of its list: records, times, and the hashes of the bytes that are read. */
export async function contentsOf(store: RecordStore): Promise<readonly Contents[]> {
  const found: StoredRecord[] = [];
  for await (const record of store.records()) {
    if (!("ref" in record)) throw new Error("a record cannot be read");
    found.push(record);
  }
  found.sort((left, right) => left.created - right.created || (left.ref.id < right.ref.id ? -1 : 1));
  return Promise.all(
    found.map(async ({ origin: _, ref, ...times }) => ({
      ...times,
      ref,
      scope: scopeKey(ref.scope),
      bytes: await hashOf(await drained(await store.read(ref))),
    })),
  );
}

/**
 * Two stores have the same. Others may have been seen in the middle of storing something anew, a moment after the time that it is
 * given: so what is copied may count as used a little later, and never earlier.
 */
export async function expectSame(there: RecordStore, here: RecordStore): Promise<void> {
  const [copied, given] = await Promise.all([contentsOf(there), contentsOf(here)]);
  expect(copied.map(untimed)).toEqual(given.map(untimed));
  const earlier = copied.filter(({ used }, at) => used < (given[at]?.used ?? 0));
  expect(earlier).toEqual([]);
}

function untimed({ used: _, ...rest }: Contents): Omit<Contents, "used"> {
  return rest;
}

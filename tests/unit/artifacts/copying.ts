/** Stores that are copied: filled at random, and compared by every field. */
import * as fc from "fast-check";
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

/** All that is told of a store, in the order of its list: records, times, and the hashes of the bytes that are read. */
export async function contentsOf(store: RecordStore): Promise<readonly unknown[]> {
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

/** Contract: random operations in random scopes, held against a model that is nothing but a list. */
import * as fc from "fast-check";
import { expect } from "vitest";
import { sameScope } from "../../../../web/src/artifacts/scope.js";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { hashOf, listed, same, noise } from "../bytes.js";

/** One operation. */
export type Step =
  | { do: "put" | "stream"; size: number; scope: ArtifactScope; namespace: string; filename: string | null }
  | { do: "delete" | "get"; size: number; scope: ArtifactScope; namespace: string }
  | { do: "update"; size: number; scope: ArtifactScope; namespace: string; filename: string | null };

interface Known {
  id: string;
  scope: ArtifactScope;
  size: number;
  filename: string | null;
}

const scope = fc.constantFrom<ArtifactScope>({}, { user_id: "u" }, { user_id: "u", trace_id: "t" }, { tenant_id: "u" });
const namespace = fc.constantFrom("artifact", "Tool");
const size = fc.constantFrom(0, 1, 2, 66_000);
const filename = fc.constantFrom(null, "a", "b");

/** Any operation. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("put" as const, "stream" as const), size, scope, namespace, filename }),
  fc.record({ do: fc.constantFrom("delete" as const, "get" as const), size, scope, namespace }),
  fc.record({ do: fc.constant("update" as const), size, scope, namespace, filename }),
);

const digest = (length: number): Promise<string> => hashOf(noise(length));

async function apply(store: ArtifactStore, known: Known[], made: Step): Promise<void> {
  const id = `${made.namespace}_${(await digest(made.size)).slice(0, 12)}`;
  const at = known.findIndex((entry) => entry.id === id && sameScope(entry.scope, made.scope));
  const there = known[at];
  switch (made.do) {
    case "put":
    case "stream": {
      const info = { scope: made.scope, namespace: made.namespace, filename: made.filename };
      const ref =
        made.do === "put" ? await store.putBytes(noise(made.size), info) : await streamed(store, made.size, info);
      if (there) there.filename = made.filename ?? there.filename;
      else known.push({ id, scope: made.scope, size: made.size, filename: made.filename });
      expect(ref).toMatchObject({ id, filename: (there ?? known.at(-1))?.filename });
      break;
    }
    case "delete":
      expect(await store.delete(id, made.scope)).toBe(there !== undefined);
      if (there) known.splice(at, 1);
      break;
    case "get": {
      const bytes = await store.get(id, made.scope);
      if (there) expect(same(bytes, noise(there.size))).toBe(true);
      else expect(bytes).toBeNull();
      break;
    }
    case "update": {
      const ref = await store.update(id, { filename: made.filename }, made.scope);
      if (there) there.filename = made.filename;
      expect(ref?.filename).toBe(there?.filename);
      break;
    }
  }
}

async function streamed(store: ArtifactStore, length: number, info: object): ReturnType<ArtifactStore["putBytes"]> {
  const writer = await store.openWriter(info);
  await writer.write(noise(length).subarray(0, length / 2));
  await writer.write(noise(length).subarray(length / 2));
  return writer.close();
}

/** Does all steps, and expects of each, and of what is there in the end, what the model says. */
export async function holds(store: ArtifactStore, steps: readonly Step[]): Promise<void> {
  const known: Known[] = [];
  for (const made of steps) await apply(store, known, made);
  const refs = await listed(store.list());
  expect(refs.map(({ id, size_bytes, filename: name }) => ({ id, size: size_bytes, filename: name }))).toEqual(
    known.map(({ id, size: length, filename: name }) => ({ id, size: length, filename: name })),
  );
  for (const ref of refs) expect(same(await store.get(ref.id, ref.scope), noise(ref.size_bytes))).toBe(true);
}

/** Random operations in random scopes, held against a model that is nothing but a list. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { sameScope } from "../../../web/src/artifacts/scope.js";
import type { ArtifactScope, ArtifactStore } from "../../../web/src/artifacts/store.js";
import { listed, same } from "./bytes.js";
import { noise } from "./noise.js";

type Step =
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
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("put" as const, "stream" as const), size, scope, namespace, filename }),
  fc.record({ do: fc.constantFrom("delete" as const, "get" as const), size, scope, namespace }),
  fc.record({ do: fc.constant("update" as const), size, scope, namespace, filename }),
);

const digest = (length: number): string => createHash("sha256").update(noise(length)).digest("hex");

async function apply(store: ArtifactStore, known: Known[], made: Step): Promise<void> {
  const id = `${made.namespace}_${digest(made.size).slice(0, 12)}`;
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

async function holds(store: ArtifactStore, steps: readonly Step[]): Promise<void> {
  const known: Known[] = [];
  for (const made of steps) await apply(store, known, made);
  const refs = await listed(store.list());
  expect(refs.map(({ id, size_bytes, filename: name }) => ({ id, size: size_bytes, filename: name }))).toEqual(
    known.map(({ id, size: length, filename: name }) => ({ id, size: length, filename: name })),
  );
  for (const ref of refs) expect(same(await store.get(ref.id, ref.scope), noise(ref.size_bytes))).toBe(true);
}

test("the memory store does what the model does", async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) => holds(new MemoryArtifactStore(), steps)),
    { numRuns: 100 },
  );
});

test("the file store does what the model does, also when two objects share a folder", async () => {
  const root = await mkdtemp(join(tmpdir(), "sluice-model-"));
  let run = 0;
  const check = async (steps: readonly Step[]): Promise<void> => {
    const folder = join(root, String(run++));
    await holds(new FileArtifactStore(folder), steps.slice(0, steps.length / 2));
    for (const ref of await listed(new FileArtifactStore(folder).list())) {
      expect(await new FileArtifactStore(folder).delete(ref.id, ref.scope)).toBe(true);
    }
    await holds(new FileArtifactStore(folder), steps);
  };
  try {
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), check), { numRuns: 40 });
  } finally {
    await rm(root, { recursive: true });
  }
});

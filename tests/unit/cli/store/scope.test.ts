/** Artifacts by id alone: whoever is at the command line owns the whole store, whatever scope a ref is of. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactStore, StoredArtifact } from "../../../../web/src/artifacts/store.js";
import type { Invocation } from "../../../../web/src/cli/command.js";
import { parse } from "../../../../web/src/cli/parse.js";
import { acrossScopes, artifactId, locate, locateAll } from "../../../../web/src/cli/store/scope.js";

const ANNE = { user_id: "anne" };
const BERT = { user_id: "bert" };
const BYTES = new TextEncoder().encode("what both have");

/** The command line that asks for an artifact. */
function asking(id: string, ...options: readonly string[]): Invocation {
  const request = parse(["artifacts", "get", id, ...options]);
  if (request.kind !== "run") throw new Error("This is help.");
  return request.invocation;
}

/** Two scopes with different contents under one id, as twelve hexadecimal digits allow and chance hardly does. */
async function ambiguous(): Promise<{ readonly store: ArtifactStore; readonly id: string }> {
  const store = new MemoryArtifactStore();
  const { id } = await store.putBytes(BYTES, { scope: ANNE });
  await store.putBytes(BYTES, { scope: BERT });
  const list = store.list.bind(store);
  store.list = async function* () {
    for await (const ref of list()) yield { ...ref, sha256: (ref.scope.user_id === "anne" ? "a" : "b").repeat(64) };
  };
  return { store, id };
}

async function read(store: ArtifactStore, id: string): Promise<string | null> {
  const stream = await store.openReader(id);
  return stream === null ? null : new Response(stream).text();
}

test.each([
  ["artifact://sluice_1a2b", "sluice_1a2b"],
  ["artifact://sluice_1a2b?form=base64url-nopad", "sluice_1a2b"],
  ["artifact://sluice_1a2b/x#y", "sluice_1a2b"],
  ["sluice_1a2b", "sluice_1a2b"],
  ["artifact://", "artifact://"],
])("%s names the artifact %s", (word, id) => {
  expect(artifactId(word)).toBe(id);
});

describe("without a scope", () => {
  test("an artifact is found in whichever scope has it, in each once", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putBytes(BYTES, { scope: ANNE });
    await store.putBytes(BYTES, { scope: BERT });
    const refs = await locateAll(store, id, undefined);
    expect(refs).toHaveLength(2);
    expect(new Set(refs.map(({ scope }) => scope.user_id))).toEqual(new Set(["anne", "bert"]));
    expect((await locate(store, asking(id))).id).toBe(id);
  });

  test("different contents under one id are told apart by nobody but the person, who is told the scopes", async () => {
    const { store, id } = await ambiguous();
    const refusal = { code: "E_INVALID_ARGUMENT", message: expect.stringMatching(/anne.*bert.*--scope/s) };
    await expect(locate(store, asking(id))).rejects.toMatchObject(refusal);
    await expect(acrossScopes(store).get(id)).rejects.toMatchObject(refusal);
    expect((await locate(store, asking(id, "--scope", "user=bert"))).scope.user_id).toBe("bert");
  });

  test("an id that nobody has is E_NOT_FOUND, and says where to look", async () => {
    await expect(locate(new MemoryArtifactStore(), asking("sluice_none", "--store", "my store"))).rejects.toMatchObject(
      {
        code: "E_NOT_FOUND",
        message:
          "there is no artifact sluice_none in this store; to see what it has, run `sluice artifacts list --store 'my store'`",
      },
    );
  });
});

describe("with a scope", () => {
  test("only that scope is looked through", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putBytes(BYTES, { scope: ANNE });
    expect(await locateAll(store, id, BERT)).toEqual([]);
    await expect(locate(store, asking(id, "--scope", "user=bert"))).rejects.toMatchObject({
      code: "E_NOT_FOUND",
      message: expect.stringContaining("bert"),
    });
  });
});

describe("the store as its owner sees it", () => {
  test("reads, renames and deletes what a scope has, without naming it", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putBytes(BYTES, { scope: ANNE });
    const owned = acrossScopes(store);
    expect(await owned.exists(id)).toBe(true);
    expect(await owned.get(id)).toEqual(BYTES);
    expect(await read(owned, id)).toBe("what both have");
    expect((await owned.update(id, { filename: "both.txt" }))?.filename).toBe("both.txt");
    expect((await owned.stat(id))?.scope.user_id).toBe("anne");
    expect(await owned.delete(id)).toBe(true);
    expect(await store.exists(id, ANNE)).toBe(false);
  });

  test("leaves alone what it does not know", async () => {
    const owned = acrossScopes(new MemoryArtifactStore());
    expect(await owned.exists("sluice_none")).toBe(false);
    expect(await owned.get("sluice_none")).toBeNull();
    expect(await owned.openReader("sluice_none")).toBeNull();
    expect(await owned.delete("sluice_none")).toBe(false);
  });

  test("stores, lists and evicts like the store itself", async () => {
    const store = new MemoryArtifactStore();
    const owned = acrossScopes(store);
    await owned.putText("one", { scope: BERT });
    await owned.putBytes(BYTES);
    const writer = await owned.openWriter({ scope: ANNE });
    await writer.write(BYTES);
    await writer.close();
    const refs: StoredArtifact[] = [];
    for await (const ref of owned.list()) refs.push(ref);
    expect(refs).toHaveLength(3);
    expect(new Set(refs.map(({ scope }) => scope.user_id ?? null))).toEqual(new Set(["anne", "bert", null]));
    for (const ref of refs) expect(await owned.evict(ref)).toBe(true);
    for (const ref of refs) expect(await store.exists(ref.id, ref.scope)).toBe(false);
  });
});

import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import type { ArtifactRef, ArtifactScope } from "../../../web/src/artifacts/store.js";
import { ToolArtifacts, type ToolArtifactInfo } from "../../../web/src/artifacts/scoped.js";
import type { TruncatedRef } from "../../../web/src/artifacts/reference.js";
import { listed } from "./bytes.js";

const ADA: ArtifactScope = { tenant_id: "acme", user_id: "ada", session_id: "s1", trace_id: null };
const BOB: ArtifactScope = { ...ADA, user_id: "bob" };
const OPTIONS = { scope: ADA, namespace: "reports", source: { tool: "reports.make" } };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* pieces(...texts: readonly string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield bytes(text);
}

describe("over a store", () => {
  let store: MemoryArtifactStore;
  let stored: (ArtifactRef | TruncatedRef)[];
  let artifacts: ToolArtifacts;

  beforeEach(() => {
    [store, stored] = [new MemoryArtifactStore(), []];
    artifacts = new ToolArtifacts(store, { ...OPTIONS, onStored: (ref) => void stored.push(ref) });
  });

  test("the five methods of the RFC put, read and delete", async () => {
    const ref = await artifacts.putBytes(bytes("%PDF-"), { mime_type: "application/pdf", filename: "report.pdf" });
    expect(ref).toMatchObject({ namespace: "reports", mime_type: "application/pdf", filename: "report.pdf" });
    expect(await artifacts.get(ref.id)).toEqual(bytes("%PDF-"));
    expect(await artifacts.exists(ref.id)).toBe(true);
    expect(await artifacts.delete(ref.id)).toBe(true);
    expect([await artifacts.delete(ref.id), await artifacts.exists(ref.id)]).toEqual([false, false]);
    expect(await artifacts.get(ref.id)).toBeNull();
    const text = await artifacts.putText("hello");
    expect(text.mime_type).toBe("text/plain");
    expect(await artifacts.get(text.id)).toEqual(bytes("hello"));
  });

  test("streams go in and come out, whole or a range of them", async () => {
    const { id } = await artifacts.upload(pieces("one", " two"), { filename: "numbers.txt" });
    expect(await new Response(await artifacts.open(id)).text()).toBe("one two");
    expect(await new Response(await artifacts.open(id, { range: { start: 4 } })).text()).toBe("two");
    expect(await artifacts.download(id, { range: { start: 0, end: 3 } })).toEqual(bytes("one"));
  });

  test("what is said of an artifact is kept and found again, beside where it came from", async () => {
    const meta = { report_id: 7, tags: ["q3"] };
    const { id, source } = await artifacts.putBytes(bytes("a"), { meta, source: { page: 3, tool: "another" } });
    expect(source).toEqual({ tool: "reports.make", page: 3, meta });
    expect((await artifacts.stat(id))?.source).toEqual(source);
    expect((await store.stat(id, ADA))?.source).toEqual(source);
  });

  test("a namespace of the tool's own wins", async () => {
    expect((await artifacts.putText("x", { namespace: "audit" })).id).toMatch(/^audit_/);
  });

  test("the host hears of each artifact", async () => {
    await artifacts.putBytes(bytes("a"));
    await artifacts.putText("b");
    await artifacts.upload(pieces("c"));
    expect(stored.map(({ size_bytes }) => size_bytes)).toEqual([1, 1, 1]);
  });

  test.each([
    [{ mimeType: "text/csv" }, "mimeType", "did you mean mime_type?"],
    [{ file_name: "a" }, "file_name", "did you mean filename?"],
    [{ scope: BOB }, "scope", "is not an option of an artifact"],
    [{ meta: "q3" }, "meta", "must be an object"],
    [{ meta: { big: 7n } }, "source", "JSON"],
    [{ filename: 7 }, "filename", "must be a string or null"],
    [{ namespace: "a/b" }, "namespace", "A namespace is"],
  ])("%o is refused with its path, and nothing is stored", async (info, path, sentence) => {
    const refused = { code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(sentence) as unknown };
    const said = info as ToolArtifactInfo;
    await expect(artifacts.putBytes(bytes("a"), said)).rejects.toMatchObject(refused);
    await expect(artifacts.putText("a", said)).rejects.toMatchObject(refused);
    await expect(artifacts.upload(pieces("a"), said)).rejects.toMatchObject(refused);
    expect([await listed(store.list()), stored]).toEqual([[], []]);
  });

  test("bytes are no text, and a text is no bytes", async () => {
    await expect(artifacts.putBytes("a" as unknown as Uint8Array)).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "data",
    });
    await expect(artifacts.putText(bytes("a") as unknown as string)).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "text",
    });
  });

  test("JSON of a ref does not say whose it is; by name it can be asked for", async () => {
    const ref = await artifacts.putText("a");
    const seen: (ArtifactRef | null)[] = [ref, await artifacts.stat(ref.id)];
    for await (const artifact of artifacts.list()) seen.push(artifact);
    expect(JSON.stringify(seen)).not.toMatch(/ada|acme|scope/);
    expect(seen.map((each) => each?.scope)).toEqual([ADA, ADA, ADA]);
  });

  test("no id and no option leads out of the scope", async () => {
    const field = fc.constantFrom(undefined, null, "acme", "ada", "bob", "s1");
    const scopes = fc.record({ tenant_id: field, user_id: field, session_id: field, trace_id: field });
    await fc.assert(
      fc.asyncProperty(scopes, fc.string(), async (scope, text) => {
        const same = new ToolArtifacts(new MemoryArtifactStore(), OPTIONS).putText(text);
        const others = { ...scope, trace_id: "another" } as ArtifactScope;
        const { id } = await store.putText(text, { scope: others, namespace: "reports" });
        expect(id).toBe((await same).id);
        expect([await artifacts.get(id), await artifacts.open(id), await artifacts.stat(id)]).toEqual([
          null,
          null,
          null,
        ]);
        expect([await artifacts.exists(id), await artifacts.delete(id)]).toEqual([false, false]);
        await expect(artifacts.putText(text, { scope: others } as ToolArtifactInfo)).rejects.toThrow("scope");
        expect(await listed(artifacts.list())).toEqual([]);
        expect(await store.exists(id, others)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

test("no store: a put says that nothing was kept, and there is nothing to read", async () => {
  const stored: (ArtifactRef | TruncatedRef)[] = [];
  const store = new NoOpArtifactStore({ warn: () => undefined });
  const artifacts = new ToolArtifacts(store, { ...OPTIONS, onStored: (ref) => void stored.push(ref) });
  const { id, source } = await artifacts.putBytes(bytes("%PDF-"), { meta: { report_id: 7 } });
  expect([id, source]).toEqual([
    expect.stringMatching(/^truncated_/),
    expect.objectContaining({ truncated: true, meta: { report_id: 7 }, tool: "reports.make" }),
  ]);
  expect(stored).toHaveLength(1);
  expect([await artifacts.get(id), await artifacts.download(id), await artifacts.open(id)]).toEqual([null, null, null]);
  expect([await artifacts.stat(id), await artifacts.exists(id), await artifacts.delete(id)]).toEqual([
    null,
    false,
    false,
  ]);
  expect(await listed(artifacts.list())).toEqual([]);
});

test("what has expired is there no more; reading it says so", async () => {
  let now = 0;
  const artifacts = new ToolArtifacts(new MemoryArtifactStore({ clock: () => now }), OPTIONS);
  const { id } = await artifacts.putText("old");
  now = 3_600_000;
  expect([await artifacts.exists(id), await artifacts.delete(id)]).toEqual([false, false]);
  await expect(artifacts.get(id)).rejects.toMatchObject({ code: "E_EXPIRED" });
});

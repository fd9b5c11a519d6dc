/** A source's resources, as a host reads them. */
import { describe, expect, test } from "vitest";
import { NoOpArtifactStore } from "../../../../web/src/artifacts/no-op.js";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { SluiceError } from "../../../../web/src/errors/error.js";
import { failingAt, faulty, Latch } from "../../core/faulty-store.js";
import { PDF, prose, refsIn, sha256 } from "../../core/samples.js";
import { ADA, BOB, desk, URI } from "./desk.js";

const references = (from: number): string =>
  Array.from({ length: 500 }, (_, at) => `artifact://x${from + at}`).join(" ");

describe("a resource is read", () => {
  test("with every content: short text in place and stored, long text and bytes as artifacts", async () => {
    const { reader, library, store } = desk();
    library.write(URI, { body: "short", mime_type: "text/plain", more: { "x:long": prose(20_000), "x:pdf": PDF } });
    const { contents, artifacts, failures } = await reader.readResource(URI, { scope: ADA });
    expect(contents).toMatchObject([
      { kind: "text", uri: URI, text: "short", artifact: { mime_type: "text/plain", size_bytes: 5 } },
      { kind: "artifact", uri: "x:long" },
      { kind: "artifact", uri: "x:pdf", size_bytes: PDF.length },
    ]);
    expect(failures).toEqual([]);
    const [short, , pdf] = artifacts;
    expect(artifacts).toHaveLength(3);
    expect(pdf?.sha256).toBe(sha256(PDF));
    expect(short).toMatchObject({ scope: ADA, namespace: "lib", source: { uri: URI } });
    for (const { id } of artifacts) expect(await store.get(id, ADA)).not.toBeNull();
    expect(await refsIn(store, BOB)).toEqual([]);
  });

  test("again from what was kept, with the same artifacts", async () => {
    const { reader, library } = desk();
    library.write(URI, { body: PDF });
    expect(await reader.readResource(URI, { scope: ADA })).toEqual(await reader.readResource(URI, { scope: ADA }));
    expect(library.count("read")).toBe(1);
  });

  test("from the source by another user", async () => {
    const { reader, library } = desk();
    library.write(URI, { body: "short" });
    await reader.readResource(URI, { scope: ADA });
    await reader.readResource(URI, { scope: BOB });
    expect(library.asked.map(({ scope }) => scope)).toEqual([ADA, BOB]);
  });

  test("once for all users where it is public, and stored for each", async () => {
    const { reader, library, store } = desk();
    library.write(URI, { body: "short", cache_scope: "public" });
    await reader.readResource(URI, { scope: ADA });
    const { artifacts } = await reader.readResource(URI, { scope: BOB });
    expect(library.count("read")).toBe(1);
    expect(await store.get(artifacts[0]?.id ?? "", BOB)).not.toBeNull();
  });

  test("by each user where each has a session of their own, public or not", async () => {
    const { reader, library } = desk({ isPerUser: true });
    library.write(URI, { body: "short", cache_scope: "public" });
    await reader.readResource(URI, { scope: ADA });
    await reader.readResource(URI, { scope: BOB });
    expect(library.count("read")).toBe(2);
  });

  test("every time, and short text not stored, when reads are not kept", async () => {
    const { reader, library, store } = desk({ config: { cache_reads_to_artifacts: false } });
    library.write(URI, { body: "short" });
    await reader.readResource(URI);
    const { contents, artifacts } = await reader.readResource(URI);
    expect(library.count("read")).toBe(2);
    expect(contents).toEqual([{ kind: "text", uri: URI, mime_type: null, text: "short" }]);
    expect(artifacts).toEqual([]);
    expect(await refsIn(store)).toEqual([]);
  });

  test.each([
    [6, "text"],
    [5, "artifact"],
    [0, "artifact"],
  ])("five characters with texts shown under %i as %s", async (under, kind) => {
    const { reader, library } = desk({ config: { inline_text_if_under_chars: under } });
    library.write(URI, { body: "short" });
    expect((await reader.readResource(URI)).contents).toMatchObject([{ kind }]);
  });

  test("whole, however many short texts it has, of which the first are stored", async () => {
    const { reader, library, store } = desk();
    const more = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x:${at}`, `text ${at}`]));
    library.write(URI, { body: "first", more });
    expect((await reader.readResource(URI, { scope: ADA })).contents).toHaveLength(501);
    expect(await refsIn(store, ADA)).toHaveLength(256);
  });

  test("and not every reference that its text makes up is looked for", async () => {
    const looked: string[] = [];
    const { store } = faulty(new MemoryArtifactStore(), (name) => void looked.push(name));
    const { reader, library } = desk({ store });
    library.write(URI, { body: references(0), more: { "x:1": references(500), "x:2": references(1_000) } });
    await reader.readResource(URI);
    expect(looked.filter((name) => name === "stat")).toHaveLength(1_000);
  });

  test("and nothing is stored of an empty text", async () => {
    const { reader, library } = desk();
    library.write(URI, { body: "" });
    expect(await reader.readResource(URI)).toMatchObject({ contents: [{ text: "" }], artifacts: [] });
  });

  test("whole without a store, of which nothing is said", async () => {
    const { reader, library } = desk({ store: new NoOpArtifactStore({ warn: () => undefined }) });
    library.write(URI, { body: "short" });
    const { contents, artifacts } = await reader.readResource(URI);
    expect(contents).toEqual([{ kind: "text", uri: URI, mime_type: null, text: "short" }]);
    expect(artifacts).toEqual([]);
  });

  test("whole with a store that fails, which is told", async () => {
    const full = new SluiceError("E_STORE_FULL", "There is no room.");
    const { store } = faulty(new MemoryArtifactStore(), failingAt(1, full, "putText"));
    const { reader, library } = desk({ store });
    library.write(URI, { body: "short" });
    const { contents, failures } = await reader.readResource(URI);
    expect(contents).toMatchObject([{ text: "short" }]);
    expect(failures).toEqual([full]);
  });

  test("from the source again when its artifact was deleted", async () => {
    const { reader, library, store } = desk();
    library.write(URI, { body: PDF });
    const { artifacts } = await reader.readResource(URI, { scope: ADA });
    await store.delete(artifacts[0]?.id ?? "", ADA);
    expect((await reader.readResource(URI, { scope: ADA })).artifacts).toHaveLength(1);
    expect(library.count("read")).toBe(2);
  });
});

describe("reading ends", () => {
  test.each(["", "file:///\u202etxt", "x".repeat(5_000)])("at a URI that nobody could be asked for", async (uri) => {
    const { reader, library } = desk();
    await expect(reader.readResource(uri)).rejects.toMatchObject({ code: "E_TOOL_CLIENT", category: "non_retryable" });
    expect(library.asked).toEqual([]);
  });

  test("with what the source says, which is not kept", async () => {
    const { reader, library } = desk();
    await expect(reader.readResource(URI)).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
    library.write(URI, { body: "there" });
    expect((await reader.readResource(URI)).contents).toMatchObject([{ text: "there" }]);
  });

  test("for whoever gives up, and at the source with the last of them", async () => {
    const { reader, library } = desk();
    const signals: AbortSignal[] = [];
    library.write(URI, { body: "short" });
    const begun = new Latch();
    library.gate = (signal) => {
      signals.push(signal);
      begun.release();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    };
    const gone = new AbortController();
    const reading = reader.readResource(URI, { signal: gone.signal });
    await begun.released;
    gone.abort(new Error("gone"));
    await expect(reading).rejects.toThrow("gone");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test.each([
    ["listResources", []],
    ["listResourceTemplates", []],
    ["readResource", [URI]],
    ["subscribe", [URI]],
    ["unsubscribe", [URI]],
    ["complete", ["x:{a}", "a", ""]],
  ] as const)("with a clear answer from a source without resources: %s", async (name, args) => {
    const made = desk();
    made.connection = undefined;
    const call = made.reader[name] as (...given: readonly unknown[]) => Promise<unknown>;
    await expect(call.apply(made.reader, [...args])).rejects.toMatchObject({
      code: "E_TOOL_UNSUPPORTED",
      category: "non_retryable",
      message: "The source lib has no resources: call one of its tools instead.",
    });
  });
});

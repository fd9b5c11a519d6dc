import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../../web/src/artifacts/no-op.js";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import type { ResourcesConfig } from "../../../../web/src/config/types.js";
import type { Transformed } from "../../../../web/src/core/sluice.js";
import { SluiceError } from "../../../../web/src/errors/error.js";
import { createSluice } from "../../../../web/src/index.js";
import type { ResourceReading } from "../../../../web/src/tools/resources/cache.js";
import { failingAt, faulty, Latch } from "../../core/faulty-store.js";
import { PDF, prose, refsIn, sha256 } from "../../core/samples.js";
import type { Document } from "./library.js";
import { ADA, BOB, newReader, type ReaderSetup, URI } from "./reader-setup.js";

const references = (from: number): string =>
  Array.from({ length: 500 }, (_, at) => `artifact://x${from + at}`).join(" ");

describe("a resource is read", () => {
  test("with every content: short text in place and stored, long text and bytes as artifacts", async () => {
    const { reader, library, store } = newReader();
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
    const { reader, library } = newReader();
    library.write(URI, { body: PDF });
    expect(await reader.readResource(URI, { scope: ADA })).toEqual(await reader.readResource(URI, { scope: ADA }));
    expect(library.count("read")).toBe(1);
  });

  test("from the source by another user", async () => {
    const { reader, library } = newReader();
    library.write(URI, { body: "short" });
    await reader.readResource(URI, { scope: ADA });
    await reader.readResource(URI, { scope: BOB });
    expect(library.asked.map(({ scope }) => scope)).toEqual([ADA, BOB]);
  });

  test("once for all users where it is public, and stored for each", async () => {
    const { reader, library, store } = newReader();
    library.write(URI, { body: "short", cache_scope: "public" });
    await reader.readResource(URI, { scope: ADA });
    const { artifacts } = await reader.readResource(URI, { scope: BOB });
    expect(library.count("read")).toBe(1);
    expect(await store.get(artifacts[0]?.id ?? "", BOB)).not.toBeNull();
  });

  test("by each user where each has a session of their own, public or not", async () => {
    const { reader, library } = newReader({ isPerUser: true });
    library.write(URI, { body: "short", cache_scope: "public" });
    await reader.readResource(URI, { scope: ADA });
    await reader.readResource(URI, { scope: BOB });
    expect(library.count("read")).toBe(2);
  });

  test("every time, and short text not stored, when reads are not kept", async () => {
    const { reader, library, store } = newReader({ config: { cache_reads_to_artifacts: false } });
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
    const { reader, library } = newReader({ config: { inline_text_if_under_chars: under } });
    library.write(URI, { body: "short" });
    expect((await reader.readResource(URI)).contents).toMatchObject([{ kind }]);
  });

  test("whole, however many short texts it has, of which the first are stored", async () => {
    const { reader, library, store } = newReader();
    const more = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x:${at}`, `text ${at}`]));
    library.write(URI, { body: "first", more });
    expect((await reader.readResource(URI, { scope: ADA })).contents).toHaveLength(501);
    expect(await refsIn(store, ADA)).toHaveLength(256);
  });

  test("and not every reference that its text makes up is looked for", async () => {
    const looked: string[] = [];
    const { store } = faulty(new MemoryArtifactStore(), (name) => void looked.push(name));
    const { reader, library } = newReader({ store });
    library.write(URI, { body: references(0), more: { "x:1": references(500), "x:2": references(1_000) } });
    await reader.readResource(URI);
    expect(looked.filter((name) => name === "stat")).toHaveLength(1_000);
  });

  test("and nothing is stored of an empty text", async () => {
    const { reader, library } = newReader();
    library.write(URI, { body: "" });
    expect(await reader.readResource(URI)).toMatchObject({ contents: [{ text: "" }], artifacts: [] });
  });

  test("whole without a store, of which nothing is said", async () => {
    const { reader, library } = newReader({ store: new NoOpArtifactStore({ warn: () => undefined }) });
    library.write(URI, { body: "short" });
    const { contents, artifacts } = await reader.readResource(URI);
    expect(contents).toEqual([{ kind: "text", uri: URI, mime_type: null, text: "short" }]);
    expect(artifacts).toEqual([]);
  });

  test("whole with a store that fails, which is told", async () => {
    const full = new SluiceError("E_STORE_FULL", "There is no room.");
    const { store } = faulty(new MemoryArtifactStore(), failingAt(1, full, "putText"));
    const { reader, library } = newReader({ store });
    library.write(URI, { body: "short" });
    const { contents, failures } = await reader.readResource(URI);
    expect(contents).toMatchObject([{ text: "short" }]);
    expect(failures).toEqual([full]);
  });

  test("from the source again when its artifact was deleted", async () => {
    const { reader, library, store } = newReader();
    library.write(URI, { body: PDF });
    const { artifacts } = await reader.readResource(URI, { scope: ADA });
    await store.delete(artifacts[0]?.id ?? "", ADA);
    expect((await reader.readResource(URI, { scope: ADA })).artifacts).toHaveLength(1);
    expect(library.count("read")).toBe(2);
  });
});

describe("reading ends", () => {
  test.each(["", "file:///\u202etxt", "x".repeat(5_000)])("at a URI that nobody could be asked for", async (uri) => {
    const { reader, library } = newReader();
    await expect(reader.readResource(uri)).rejects.toMatchObject({ code: "E_TOOL_CLIENT", category: "non_retryable" });
    expect(library.asked).toEqual([]);
  });

  test("with what the source says, which is not kept", async () => {
    const { reader, library } = newReader();
    await expect(reader.readResource(URI)).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
    library.write(URI, { body: "there" });
    expect((await reader.readResource(URI)).contents).toMatchObject([{ text: "there" }]);
  });

  test("for whoever gives up, and at the source with the last of them", async () => {
    const { reader, library } = newReader();
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
    const made = newReader();
    made.connection = undefined;
    const call = made.reader[name] as (...given: readonly unknown[]) => Promise<unknown>;
    await expect(call.apply(made.reader, [...args])).rejects.toMatchObject({
      code: "E_TOOL_UNSUPPORTED",
      category: "non_retryable",
      message: "The source lib has no resources: call one of its tools instead.",
    });
  });
});

const USER: ArtifactScope = { user_id: "ada" };
const LINKED = { content: [{ type: "resource_link", uri: URI, name: "report", mimeType: "text/x", size: 1_000 }] };

interface Linked extends ReaderSetup {
  readonly answer: Transformed;
  readonly block: Readonly<Record<string, unknown>>;
  readonly read: readonly ResourceReading[];
  readonly again: () => Promise<Transformed>;
}

async function linked(document: Document, given: ResourcesConfig = {}): Promise<Linked> {
  const config = { auto_read_if_size_under_bytes: 1_000_000, ...given };
  const made = newReader({ config });
  made.library.write(URI, document);
  const sluice = await createSluice({ store: made.store, config: { resources: config } });
  const read: ResourceReading[] = [];
  const again = (): Promise<Transformed> => {
    const readResource = made.reader.linkReader({ scope: USER }, 30, (each) => read.push(each));
    return sluice.transform(LINKED, { namespace: "lib", scope: USER, ...(readResource && { readResource }) });
  };
  const answer = await again();
  const { content } = answer.value as { readonly content: readonly Readonly<Record<string, unknown>>[] };
  return { ...made, answer, block: content[0] ?? {}, read, again };
}

describe("a link", () => {
  test("to bytes becomes an artifact that the host is told of", async () => {
    const { block, read, store } = await linked({ body: PDF, mime_type: "application/pdf" });
    const id = read[0]?.artifacts[0]?.id ?? "";
    expect(block).toEqual({
      type: "resource_link",
      uri: URI,
      name: "report",
      mime_type: "text/x",
      size_bytes: 1_000,
      fetched: true,
      artifact: { id, mime_type: "application/pdf", size_bytes: PDF.length },
      summary: `${PDF.length} bytes`,
    });
    expect(await store.get(id, USER)).toEqual(new Uint8Array(PDF));
  });

  test("to a long text becomes an artifact", async () => {
    const { block, answer } = await linked({ body: prose(20_000), mime_type: "text/plain" });
    expect(block).toMatchObject({ fetched: true, artifact: { mime_type: "text/plain" } });
    expect(answer.text.length).toBeLessThan(1_000);
  });

  test("to a short text shows it, and stores it", async () => {
    const { block, answer, store } = await linked({ body: "all is well" });
    expect(block).toMatchObject({ fetched: true, text: "all is well" });
    expect(await refsIn(store, USER)).toHaveLength(1);
    expect(answer.artifacts).toHaveLength(1);
  });

  test("to several contents drops none", async () => {
    const { answer } = await linked({ body: "the letter", more: { "x:pdf": PDF } });
    expect(answer.text).toContain("the letter");
    expect(answer.text).toContain(`${PDF.length} bytes`);
  });

  test("is read once for several results", async () => {
    const { again, library } = await linked({ body: PDF });
    await again();
    expect(library.count("read")).toBe(1);
  });

  test("is not kept where reads shall not be, and the text not stored", async () => {
    const { again, library, store } = await linked({ body: "all is well" }, { cache_reads_to_artifacts: false });
    await again();
    expect(library.count("read")).toBe(2);
    expect(await refsIn(store)).toEqual([]);
  });

  test("that is never read names the tool that reads it", async () => {
    const { block, library } = await linked({ body: PDF }, { auto_read_if_size_under_bytes: 0 });
    expect(block).toMatchObject({
      fetched: false,
      hint: `Resource available at ${URI}. Use lib.resources_read to fetch.`,
    });
    expect(library.asked).toEqual([]);
  });

  test("stays as it came where links are disabled", async () => {
    const { block, library } = await linked({ body: PDF }, { enabled: false });
    expect(block).toEqual(LINKED.content[0]);
    expect(library.asked).toEqual([]);
  });

  test("that cannot be read says so, and no more", async () => {
    const config = { auto_read_if_size_under_bytes: 1_000_000 };
    const { reader } = newReader({ config });
    const sluice = await createSluice({ config: { resources: config } });
    const readResource = reader.linkReader({}, 30);
    const { value } = await sluice.transform(LINKED, { namespace: "lib", ...(readResource && { readResource }) });
    expect(value).toMatchObject({ content: [{ fetched: false, fetch_error: "the resource could not be read" }] });
  });

  test("that takes too long is given up, also at the source", async () => {
    const { reader, library } = newReader({ config: { auto_read_if_size_under_bytes: 1 } });
    library.gate = (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    const read = reader.linkReader({}, 0.01);
    await expect(read?.(URI)).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

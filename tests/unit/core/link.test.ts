/** Reading resource links when the configuration asks for it. */
import { describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { createSluice, NoOpArtifactStore, SluiceError } from "../../../web/src/index.js";
import type { Transformed } from "../../../web/src/core/types.js";
import { faulty } from "./faulty-store.js";
import { base64, longestRun, onlyBytes, PDF, PNG, prose, refsIn, sha256 } from "./samples.js";

const URI = "file:///shared/report.pdf";
const link = (size?: number): unknown => ({ type: "resource_link", uri: URI, name: "report", ...(size && { size }) });
const LINKED = { content: [{ type: "text", text: "see" }, link(1_000)] };

type Reader = (uri: string) => Promise<unknown>;
interface Read extends Transformed {
  readonly store: MemoryArtifactStore;
  /** The link's block as the planner sees it. */
  readonly block: Readonly<Record<string, unknown>>;
}

async function read(readResource: Reader, resources: Readonly<Record<string, unknown>> = {}): Promise<Read> {
  const store = new MemoryArtifactStore();
  const config = { resources: { auto_read_if_size_under_bytes: 1_000_000, ...resources } };
  const sluice = await createSluice({ store, config });
  const answer = await sluice.transform(LINKED, { readResource, namespace: "files" });
  const { content } = answer.value as { readonly content: readonly Readonly<Record<string, unknown>>[] };
  const { text, value, artifacts, failures, changed, clamped, bytesIn, bytesOut } = answer;
  return { text, value, artifacts, failures, changed, clamped, bytesIn, bytesOut, store, block: content[1] ?? {} };
}

const answering = (...contents: readonly Readonly<Record<string, unknown>>[]): Reader => {
  return (uri) => Promise.resolve({ contents: contents.map((content) => ({ uri, ...content })) });
};

describe("a link that is read", () => {
  test("bytes become an artifact of the result", async () => {
    const { block, artifacts, store } = await read(answering({ mimeType: "application/pdf", blob: base64(PDF) }));
    const id = `files_${sha256(PDF).slice(0, 12)}`;
    expect(block).toMatchObject({ uri: URI, fetched: true, artifact: { id, mime_type: "application/pdf" } });
    expect((await onlyBytes(store, artifacts)).equals(PDF)).toBe(true);
  });

  test("a small text is shown, and stored for the next one who asks", async () => {
    const { block, store, artifacts } = await read(answering({ mimeType: "text/plain", text: "all is well" }));
    expect(block).toMatchObject({ fetched: true, text: "all is well" });
    expect((await onlyBytes(store, artifacts)).toString()).toBe("all is well");
  });

  test("a small text is not stored when reads are not kept", async () => {
    const { block, store } = await read(answering({ text: "all is well" }), { cache_reads_to_artifacts: false });
    expect(block).toMatchObject({ fetched: true, text: "all is well" });
    expect(await refsIn(store)).toEqual([]);
  });

  test("a large text becomes an artifact", async () => {
    const { block, text, store, artifacts } = await read(answering({ mimeType: "text/plain", text: prose(20_000) }));
    expect(block).toMatchObject({ fetched: true, artifact: { id: artifacts[0]?.id, mime_type: "text/plain" } });
    expect((await onlyBytes(store, artifacts)).toString()).toBe(prose(20_000));
    expect(text.length).toBeLessThan(1_000);
  });

  test("bytes inside its text pass the same gate as any", async () => {
    const note = JSON.stringify({ title: "Q3", picture: base64(PNG.subarray(0, 5_000)) });
    const { block, text, artifacts, store } = await read(answering({ mimeType: "application/json", text: note }));
    expect(block).toMatchObject({ fetched: true });
    expect(JSON.parse(block["text"] as string)).toEqual({
      title: "Q3",
      picture: expect.stringMatching(/^artifact:\/\//) as unknown,
    });
    expect(longestRun(text)).toBeLessThan(100);
    expect(text).toContain(artifacts[0]?.id ?? "no artifact");
    expect((await onlyBytes(store, artifacts)).equals(PNG.subarray(0, 5_000))).toBe(true);
  });

  test("of several contents none is dropped", async () => {
    const { text, artifacts } = await read(
      answering({ text: "the cover letter" }, { blob: base64(PDF) }, { blob: base64(PNG) }),
    );
    expect(text).toContain("the cover letter");
    expect(artifacts.map(({ sha256: hash }) => hash)).toEqual([sha256(PDF), sha256(PNG)]);
    for (const { id } of artifacts) expect(text).toContain(id);
  });

  test("contents that are too long for one document are one artifact", async () => {
    const contents = Array.from({ length: 8 }, (_, at) => ({ uri: `x:${at}`, text: prose(8_000) }));
    const { block, artifacts, store } = await read(answering(...contents));
    expect(block).toMatchObject({
      fetched: true,
      artifact: { id: artifacts[0]?.id },
      preview: expect.any(String) as unknown,
    });
    expect(JSON.parse((await onlyBytes(store, artifacts)).toString())).toEqual(contents);
  });

  test("contents that are too many for one document are one artifact, beside those of their own", async () => {
    const { block, artifacts } = await read(
      answering(...Array.from({ length: 257 }, (_, at) => ({ blob: base64(PDF.subarray(at)) }))),
    );
    const { id } = block["artifact"] as { readonly id: string };
    expect(artifacts.find((ref) => ref.id === id)).toMatchObject({ mime_type: "application/json" });
    expect(block["summary"]).toContain("257");
  });

  test("a result that is too much for one document is one artifact", async () => {
    const more = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`key ${at}`, prose(100)]));
    const result = {
      contents: [
        { uri: URI, text: "all is well" },
        { uri: URI, text: "so far" },
      ],
      ...more,
    };
    const { block, artifacts, store } = await read(() => Promise.resolve(result));
    expect(block).toMatchObject({ fetched: true, artifact: { id: artifacts[0]?.id } });
    expect(JSON.parse((await onlyBytes(store, artifacts)).toString())).toEqual(result);
  });

  test("an answer with nothing in it is said to be empty", async () => {
    expect((await read(answering())).block).toMatchObject({ fetched: true, text: "[]" });
  });
});

describe("a link that is not read", () => {
  test("stays a link when reading fails, and the reason stays with the host", async () => {
    const { block, text, changed } = await read(() => Promise.reject(new Error("EACCES: /home/me/token-123")));
    expect(block).toMatchObject({ uri: URI, fetched: false, fetch_error: "the resource could not be read" });
    expect(block["hint"]).toContain(URI);
    expect(text).not.toContain("token-123");
    expect(changed).toBe(true);
  });

  test.each<[unknown]>([
    [42],
    [null],
    [undefined],
    ["all is well"],
    [[]],
    [{}],
    [{ contents: null }],
    [{ contents: "all is well" }],
    [{ contents: [7] }],
    [{ contents: [null] }],
    [{ contents: [{ uri: URI }] }],
    [{ contents: [{ uri: URI, text: 7 }] }],
    [{ contents: [{ uri: URI, blob: 7 }] }],
    [
      {
        contents: [
          { uri: URI, text: "all is well" },
          { uri: URI, blob: null },
        ],
      },
    ],
  ])("stays a link when a reader gives %j, which is no result of resources/read", async (given) => {
    const { block, artifacts, failures, store } = await read(() => Promise.resolve(given));
    expect(block).toMatchObject({ uri: URI, fetched: false, fetch_error: "the resource could not be read" });
    expect([artifacts, failures, await refsIn(store)]).toEqual([[], [], []]);
  });

  test.each([
    ["the policy is off", { auto_read_if_size_under_bytes: 0 }, 1_000],
    ["links are disabled", { enabled: false }, 1_000],
    ["it is too large", { auto_read_if_size_under_bytes: 1_000 }, 1_000],
    ["its size is unknown", {}, undefined],
  ])("because %s", async (_, resources, size) => {
    const readResource = vi.fn<Reader>(answering({ text: "never" }));
    const sluice = await createSluice({
      store: new MemoryArtifactStore(),
      config: { resources: { auto_read_if_size_under_bytes: 1_000_000, ...resources } },
    });
    const { text } = await sluice.transform({ content: [link(size)] }, { readResource });
    expect(readResource).not.toHaveBeenCalled();
    expect(text).toContain(URI);
  });

  test("because nobody can read it", async () => {
    const config = { resources: { auto_read_if_size_under_bytes: 1_000_000 } };
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
    expect((await sluice.transform(LINKED)).value).toMatchObject({ content: [{}, { uri: URI, fetched: false }] });
  });

  test("because a host's result keeps its links as they are", async () => {
    const readResource = vi.fn<Reader>(answering({ text: "never" }));
    const config = { resources: { auto_read_if_size_under_bytes: 1_000_000 } };
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
    const { value } = await sluice.transform(LINKED, { readResource, dialect: "mcp" });
    expect(value).toBe(LINKED);
    expect(readResource).not.toHaveBeenCalled();
  });
});

const linkIn = ({ value }: Transformed): unknown => (value as { readonly content: readonly unknown[] }).content[1];

async function without(...contents: readonly Readonly<Record<string, unknown>>[]): Promise<Transformed> {
  const config = { resources: { auto_read_if_size_under_bytes: 1_000_000 } };
  const store = new NoOpArtifactStore({ warn: () => undefined });
  return (await createSluice({ store, config })).transform(LINKED, { readResource: answering(...contents) });
}

describe("a link that is read where there is no store", () => {
  test("a small text stands in its place, and of an artifact there is no word", async () => {
    const answer = await without({ mimeType: "text/plain", text: "all is well" });
    expect(linkIn(answer)).toEqual({
      type: "resource_link",
      uri: URI,
      name: "report",
      size_bytes: 1_000,
      fetched: true,
      text: "all is well",
    });
    expect([answer.artifacts, answer.failures]).toEqual([[], []]);
  });

  test.each([
    ["a large text", { text: prose(20_000) }],
    ["bytes", { mimeType: "application/pdf", blob: base64(PDF) }],
  ])("%s: the model is told that it is not stored", async (_, content) => {
    const answer = await without(content);
    expect(linkIn(answer)).toMatchObject({
      fetched: true,
      artifact: { id: expect.stringMatching(/^truncated_/) as unknown, source: { truncated: true } },
    });
    expect(answer.text).toContain("not stored");
    expect(answer.text.length).toBeLessThan(50_000);
    expect(longestRun(answer.text)).toBeLessThan(100);
  });
});

test.each([
  ["long", Array.from({ length: 8 }, () => ({ text: prose(8_000) })), "Line 1 says"],
  [
    "many",
    Array.from({ length: 257 }, (_, at) => ({ blob: base64(PDF.subarray(at, at + 1_200)) })),
    '"beginning":[{"uri":',
  ],
])("contents that are too %s for one document are begun where there is no store", async (_, contents, beginning) => {
  const answer = await without(...contents);
  expect(linkIn(answer)).toMatchObject({ fetched: true });
  expect(answer.text).toContain("not stored");
  expect(answer.text).toContain(beginning);
});

describe("a store that fails while a link is read", () => {
  const config = { resources: { auto_read_if_size_under_bytes: 1_000_000 } };
  const full = new SluiceError("E_STORE_FULL", "There is no room.");

  test.each([
    ["a small text", { text: "all is well" }, { fetched: true, text: "all is well" }, "putText"],
    [
      "bytes",
      { blob: base64(PDF) },
      { fetched: true, artifact: { size_bytes: PDF.length, source: { truncated: true } } },
      "openWriter",
    ],
    [
      "a large text",
      { text: prose(20_000) },
      { fetched: true, artifact: { source: { truncated: true } } },
      "openWriter",
    ],
  ] as const)("%s was read all the same, and the store is named as what failed", async (_, content, shown, call) => {
    const { store } = faulty(new MemoryArtifactStore(), (called) => {
      if (called === call) throw full;
    });
    const answer = await (
      await createSluice({ store, config })
    ).transform(LINKED, { readResource: answering(content) });
    expect(linkIn(answer)).toMatchObject(shown);
    expect(answer.text).not.toContain("fetch_error");
    expect(answer.failures).toEqual([full]);
    const strict = await createSluice({ store, config, onStoreFailure: "throw" });
    await expect(strict.transform(LINKED, { readResource: answering(content) })).rejects.toBe(full);
  });

  test("a resource that cannot be read is no failure of the store's", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config, onStoreFailure: "throw" });
    const answer = await sluice.transform(LINKED, { readResource: () => Promise.reject(full) });
    expect(linkIn(answer)).toMatchObject({ fetched: false, fetch_error: "the resource could not be read" });
    expect(answer.failures).toEqual([]);
  });
});

test("a text read for one user is not given to another", async () => {
  const store = new MemoryArtifactStore();
  const config = { resources: { auto_read_if_size_under_bytes: 100_000 } };
  const reader = await createSluice({ store, config });
  for (const user_id of ["ada", "bob"]) {
    const scope = { user_id };
    const text = `mail of ${user_id}: ${prose(29_000)}`;
    const readResource = (uri: string): Promise<unknown> => Promise.resolve({ contents: [{ uri, text }] });
    const { artifacts } = await reader.transform(LINKED, { scope, readResource });
    expect((await onlyBytes(store, artifacts, scope)).toString()).toBe(text);
    for (const { id } of artifacts) {
      expect(await store.get(id, { user_id: user_id === "ada" ? "bob" : "ada" })).toBeNull();
      expect(await store.get(id)).toBeNull();
    }
  }
});

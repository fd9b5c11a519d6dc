import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { createSluice, NoOpArtifactStore, type Sluice, SluiceError } from "../../../web/src/index.js";
import { emptyFolder } from "../../support/folder.js";
import { documents, encoded, files as headed, type Json, results } from "./documents.js";
import { base64, LARGE_PNG, PDF, PNG, prose, refsIn, textResult } from "./samples.js";

/** The same bytes in chunks of a size. */
function inChunks(size: number): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform: (chunk, controller): void => {
      for (let at = 0; at < chunk.length; at += size) controller.enqueue(chunk.subarray(at, at + size));
    },
  });
}

describe("restore", () => {
  let sluice: Sluice;
  let store: MemoryArtifactStore;
  beforeAll(async () => {
    store = new MemoryArtifactStore();
    sluice = await createSluice({ store });
  });

  /** Source texts are compared: key order and escapes are part of what must come back. */
  async function roundTrip(document: unknown): Promise<void> {
    const { value, text } = await sluice.transform(document, { dialect: "mcp", namespace: "r" });
    expect(JSON.stringify(await sluice.restore(value))).toBe(JSON.stringify(document));
    expect(JSON.stringify(JSON.parse(await collected(sluice.restoreStream(text))))).toBe(JSON.stringify(document));
  }

  async function collected(chunks: AsyncIterable<Uint8Array>): Promise<string> {
    const all: Uint8Array[] = [];
    for await (const chunk of chunks) all.push(chunk);
    return Buffer.concat(all).toString();
  }

  describe("restore gives back what the mcp dialect was given", () => {
    test("for JSON of any shape", async () => {
      await fc.assert(fc.asyncProperty(documents, roundTrip), { numRuns: 150 });
    });

    test("for tool results", async () => {
      await fc.assert(fc.asyncProperty(results, roundTrip), { numRuns: 150 });
    });

    test("for tool results in JSON-RPC responses", async () => {
      const response = results.map((result): Json => ({ jsonrpc: "2.0", id: 7, result }));
      await fc.assert(fc.asyncProperty(response, roundTrip), { numRuns: 60 });
    });

    test("for bytes three texts deep", async () => {
      const nested = fc.tuple(encoded, fc.integer({ min: 1, max: 4 })).map(([text, levels]) => {
        let value: Json = { data: text, more: [text.slice(0, 300)] };
        for (let level = 0; level < levels; level++) value = { text: JSON.stringify(value), level };
        return value;
      });
      await fc.assert(fc.asyncProperty(nested, roundTrip), { numRuns: 80 });
    });

    test("for files within long texts, wherever a store's chunks end", async () => {
      const file = base64(PDF);
      const report = `${prose(9_000)} ${file} ${prose(15_000)} ${base64(PNG)}${prose(3_000)}`;
      for (const size of [11, 4_096, 9_050]) {
        const chunked = new MemoryArtifactStore();
        const openReader = chunked.openReader.bind(chunked);
        chunked.openReader = async (...asked) => (await openReader(...asked))?.pipeThrough(inChunks(size)) ?? null;
        const over = await createSluice({ store: chunked });
        const { value } = await over.transform({ report }, { dialect: "mcp", namespace: "r" });
        expect(await over.restore(value)).toEqual({ report });
      }
    });

    test("for text that names artifacts which exist", async () => {
      const [pdf] = (await sluice.transform({ pdf: base64(PDF) }, { dialect: "mcp", namespace: "r" })).artifacts;
      const uri = `artifact://${pdf?.id}?type=application/pdf&size=${pdf?.size_bytes}`;
      const literal = fc.constantFrom(
        uri,
        `artifact://${pdf?.id}`,
        `see ${uri} and ${base64(PNG)} and ${uri}`,
        `"${uri}"`,
      );
      const mixed = fc.array(fc.oneof(literal, encoded), { minLength: 1, maxLength: 5 });
      const shapes = fc.oneof(
        mixed,
        mixed.map((texts) => ({ content: texts.map((text) => ({ type: "text", text })) })),
        mixed.map((texts) => ({ pdf: base64(PDF), all: texts.join(" "), json: JSON.stringify(texts) })),
      );
      await fc.assert(fc.asyncProperty(shapes, roundTrip), { numRuns: 60 });
    });

    test.each([
      ["a string alone", base64(PDF)],
      ["a long text alone", prose(40_000)],
      ["an array", [base64(PDF), { png: base64(LARGE_PNG) }, 3]],
      ["many small rows", Array.from({ length: 9_000 }, (_, n) => ({ n, name: `row ${n}` }))],
      ["many small rows in a result", textResult(JSON.stringify(Array.from({ length: 9_000 }, (_, n) => [n, "x"])))],
      ["bytes in a key", { [base64(PNG)]: 1, b: [base64(PNG)] }],
    ])("for %s", async (_, document) => {
      await expect(roundTrip(document)).resolves.toBeUndefined();
    });

    test("for base64 split over the items of lists, in JSON and in JSON in a string", async () => {
      const list = fc
        .tuple(headed, fc.integer({ min: 16, max: 5_000 }), fc.boolean())
        .map(([data, column, url]) =>
          data.toString(url ? "base64url" : "base64").match(new RegExp(`.{1,${column}}`, "g"))!,
        );
      const around = fc.array(fc.oneof(fc.constantFrom<Json>("a", "thumbnail", 7, null), list), { maxLength: 3 });
      const lists = fc.tuple(list, around).map(([items, others]): Json => {
        const value: Json = { parts: items, all: [...items, ...others.flat()], others };
        return {
          ...value,
          text: JSON.stringify(value),
          pretty: JSON.stringify({ text: JSON.stringify(value, null, 2) }, null, 2),
        };
      });
      await fc.assert(fc.asyncProperty(lists, roundTrip), { numRuns: 60 });
    });

    test("a list of strings stays one, with one reference", async () => {
      const parts = base64(LARGE_PNG).match(/.{1,76}/g) ?? [];
      const structuredContent = { name: "a.png", parts };
      const document = { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
      const { value, artifacts } = await sluice.transform(document, { dialect: "mcp", namespace: "r" });
      expect(new Set(artifacts.map(({ sha256 }) => sha256)).size).toBe(1);
      expect(artifacts[0]).toMatchObject({ mime_type: "image/png", size_bytes: LARGE_PNG.length });
      const reduced = value as typeof document;
      expect(reduced.structuredContent).toEqual({
        name: "a.png",
        parts: [expect.stringMatching(/^artifact:\/\/\S+$/)],
      });
      await roundTrip(document);
      const observed = await sluice.transform(document, { dialect: "observation", namespace: "r" });
      expect(observed.value).toMatchObject({ name: "a.png", parts: [{ artifact: { mime_type: "image/png" } }] });
      expect(observed.text.length).toBeLessThan(1_000);
    });

    test("for two files with nothing between them", async () => {
      const two = `${base64(PDF.subarray(0, 1_501))}${base64(PNG)}`;
      expect(two).toContain("==iVBOR");
      for (const document of [
        two,
        { a: [two, `see ${two}.`] },
        textResult(JSON.stringify({ two, long: prose(20_000) + two })),
      ]) {
        const { artifacts } = await sluice.transform(document, { dialect: "mcp", namespace: "r" });
        expect(artifacts.map(({ mime_type }) => mime_type)).toEqual(
          expect.arrayContaining(["application/pdf", "image/png"]),
        );
        await roundTrip(document);
      }
    });

    test("for source that JSON.parse would change: duplicate keys, long numbers, escapes", async () => {
      const source = String.raw`{"a":"${base64(PNG)}","a":"\u0041\/","n":123456789012345678901234567890.10,"a":"${base64(PDF)}"}`;
      const stream = sluice.open({ dialect: "mcp" });
      await stream.write(Buffer.from(source));
      const { text } = await stream.close();
      expect(text.length).toBeLessThan(1_500);
      expect(await collected(sluice.restoreStream(text))).toBe(source);
    });
  });

  describe("what is not there", () => {
    const scope = { session_id: "mine" };
    const namespace = "gone";

    test("in another scope there is nothing to restore from", async () => {
      const { value, artifacts } = await sluice.transform({ pdf: base64(PDF) }, { dialect: "mcp", scope, namespace });
      expect(await sluice.restore(value, { scope })).toEqual({ pdf: base64(PDF) });
      for (const other of [undefined, {}, { session_id: "theirs" }, { ...scope, user_id: "u" }]) {
        const restoring = sluice.restore(value, other === undefined ? {} : { scope: other });
        await expect(restoring).rejects.toMatchObject({
          code: "E_NOT_FOUND",
          message: expect.stringContaining(artifacts[0]?.id ?? "-"),
        });
      }
    });

    test.each([
      ["bytes", base64(PNG)],
      ["text", prose(20_000)],
    ])("deleted %s are named", async (_, data) => {
      const { value, artifacts } = await sluice.transform({ data }, { dialect: "mcp", scope, namespace });
      for (const { id } of artifacts) await store.delete(id, scope);
      await expect(sluice.restore(value, { scope })).rejects.toMatchObject({
        code: "E_NOT_FOUND",
        message: expect.stringContaining(artifacts[0]?.id ?? "-"),
      });
      expect((await sluice.transform("next")).value).toBe("next");
    });

    test("nothing is written when something is gone", async () => {
      const document = { first: "here", pdf: base64(PDF), png: base64(PNG) };
      const { text, artifacts } = await sluice.transform(document, { dialect: "mcp", scope, namespace });
      await store.delete(artifacts[1]?.id ?? "", scope);
      const pieces: Uint8Array[] = [];
      const restoring = (async (): Promise<void> => {
        for await (const piece of sluice.restoreStream(text, { scope })) pieces.push(piece);
      })();
      await expect(restoring).rejects.toMatchObject({ code: "E_NOT_FOUND" });
      expect(pieces).toEqual([]);
    });

    test.each([
      ["an entry that points nowhere", [{ at: "/nowhere", uri: "artifact://a_0123456789ab" }]],
      ["no list", "all"],
      ["an entry that is no object", [7]],
    ])("refs that do not fit the document are refused: %s", async (_, refs) => {
      const restoring = sluice.restore({ content: [], _meta: { "sluice/refs": refs } });
      await expect(restoring).rejects.toMatchObject({ code: "E_RESTORE_REFS" });
    });
  });

  describe("a server's own words", () => {
    test("that look like our list grant nothing: they come back as the server's data", async () => {
      const scope = { user_id: "victim" };
      const secret = await store.putText("the secret", { scope });
      const uri = `artifact://${secret.id}?type=text/plain&size=10`;
      const refs = [{ at: "/content/0/text", uri, kind: "text" }];
      const plain = { content: [{ type: "text", text: uri }], _meta: { "sluice/refs": refs } };
      const withBytes = { ...plain, structuredContent: { pdf: base64(PDF) } };
      for (const forged of [
        plain,
        withBytes,
        { jsonrpc: "2.0", id: 1, result: plain },
        { ...plain, content: [...plain.content, ...plain.content] },
      ]) {
        const { value } = await sluice.transform(forged, { dialect: "mcp", scope });
        const restored = await sluice.restore(value, { scope });
        expect(restored).toEqual(forged);
        expect(JSON.stringify(restored)).not.toContain("the secret");
      }
    });
  });

  describe("a store that fails while it is read", () => {
    const cause = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" });
    const halfway = (): ReadableStream<Uint8Array> =>
      new ReadableStream({
        start: (controller) => controller.enqueue(PDF.subarray(0, 1_000)),
        pull: (controller) => controller.error(cause),
      });

    test.each([
      ["openReader", { openReader: () => Promise.reject(cause) }],
      ["a reader", { openReader: () => Promise.resolve(halfway()) }],
      ["get", { get: () => Promise.reject(cause) }],
      ["stat", { stat: () => Promise.reject(cause) }],
    ])("at %s gives a coded error with the artifact's id, and everything works afterwards", async (_, broken) => {
      const failing = new MemoryArtifactStore();
      const over = await createSluice({ store: failing });
      const document = { pdf: base64(PDF), log: prose(20_000) };
      const { value } = await over.transform(document, { dialect: "mcp" });
      Object.assign(failing, broken);
      await expect(over.restore(value)).rejects.toMatchObject({
        code: "E_STORE_READ",
        message: expect.stringMatching(/^artifact artifact_[0-9a-f]{12}: The store could not be read/),
        cause,
      });
      for (const name of Object.keys(broken)) Reflect.deleteProperty(failing, name);
      expect(await over.restore(value)).toEqual(document);
    });
  });

  const expired = (id: string): SluiceError =>
    new SluiceError("E_EXPIRED", `The artifact ${id} has expired: do not retry, call the tool again.`);

  describe("what cannot be read any more", () => {
    test("has expired: the store's own words, before the first byte", async () => {
      const over = await createSluice({ store });
      const { text, artifacts } = await over.transform(
        { first: 1, pdf: base64(PDF), log: prose(20_000) },
        { dialect: "mcp", namespace: "expired" },
      );
      const last = artifacts.at(-1)?.id ?? "";
      const keeping = Object.create(store, {
        stat: { value: (id: string) => (id === last ? Promise.reject(expired(id)) : store.stat(id)) },
      }) as MemoryArtifactStore;
      const pieces: Uint8Array[] = [];
      const restoring = (async (): Promise<void> => {
        for await (const piece of (await createSluice({ store: keeping })).restoreStream(text)) pieces.push(piece);
      })();
      await expect(restoring).rejects.toMatchObject({ code: "E_EXPIRED", message: expired(last).message });
      expect(pieces).toEqual([]);
    });

    test("is gone from inside a stored text: told before the first byte", async () => {
      const log = `${prose(15_000)}${base64(PDF)} ${prose(15_000)}`;
      const { text, artifacts } = await sluice.transform({ log }, { dialect: "mcp", namespace: "inside" });
      const inner = artifacts.find(({ mime_type }) => mime_type === "application/pdf")?.id ?? "";
      await store.delete(inner);
      const first = sluice.restoreStream(text)[Symbol.asyncIterator]().next();
      await expect(first).rejects.toMatchObject({ code: "E_NOT_FOUND", message: expect.stringContaining(inner) });
    });

    test("in another scope, deleted, or unknown: the same words but for the id", async () => {
      const scope = { user_id: "ada" };
      const { value, artifacts } = await sluice.transform({ png: base64(PNG) }, { dialect: "mcp", scope });
      const id = artifacts[0]?.id ?? "";
      const told = async (from: Parameters<Sluice["restore"]>[1]): Promise<string> => {
        const error: unknown = await sluice.restore(value, from).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: "E_NOT_FOUND" });
        return (error as Error).message;
      };
      const elsewhere = await told({ scope: { user_id: "eve" } });
      await store.delete(id, scope);
      expect(await told({ scope })).toBe(elsewhere);
      expect(elsewhere).toContain(id);
      expect(elsewhere).not.toMatch(/ada|eve/);
    });

    test("is damaged on the disk: E_STORE_CORRUPT with the id, and never the end of it", async () => {
      const folder = await emptyFolder();
      const over = await createSluice({ store: new FileArtifactStore(folder) });
      const large = Buffer.concat([PDF, Buffer.alloc(900_000, "y")]);
      const { text, artifacts } = await over.transform({ large: base64(large) }, { dialect: "mcp" });
      const files = await readdir(folder, { recursive: true, withFileTypes: true });
      for (const { parentPath } of files.filter(({ name }) => name === "blob")) {
        await writeFile(join(parentPath, "blob"), large.fill(0x7a, 500_000, 500_001));
      }
      let restored = "";
      const restoring = (async (): Promise<void> => {
        for await (const piece of over.restoreStream(text)) restored += Buffer.from(piece).toString();
      })();
      await expect(restoring).rejects.toMatchObject({
        code: "E_STORE_CORRUPT",
        message: expect.stringMatching(new RegExp(`${artifacts[0]?.id}.*delete the artifact and store it again`)),
      });
      expect(() => JSON.parse(restored) as unknown).toThrow(SyntaxError);
    });
  });

  describe("restoreStream", () => {
    test("gives a large document in pieces, none of them large", async () => {
      const document = { pdf: base64(Buffer.concat([PDF, Buffer.alloc(4_000_000, "x")])), log: prose(300_000) };
      const { text } = await sluice.transform(document, { dialect: "mcp", namespace: "big" });
      let [most, count, total] = [0, 0, 0];
      const pieces: Uint8Array[] = [];
      for await (const piece of sluice.restoreStream(text)) {
        most = Math.max(most, piece.length);
        total += piece.length;
        count += 1;
        pieces.push(piece);
      }
      expect(total).toBe(Buffer.byteLength(JSON.stringify(document)));
      expect(count).toBeGreaterThan(10);
      expect(most).toBeLessThan(500_000);
      expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual(document);
      expect(await sluice.restore(JSON.parse(text))).toEqual(document);
    });

    test("gives its engine back when it is left halfway", async () => {
      const { text } = await sluice.transform({ pdf: base64(PDF), log: prose(50_000) }, { dialect: "mcp" });
      for (let turn = 0; turn < 10; turn++) {
        for await (const piece of sluice.restoreStream(text)) {
          expect(piece.length).toBeGreaterThan(0);
          break;
        }
      }
      expect((await sluice.transform("next")).value).toBe("next");
    });

    test("a document without references comes back as it is", async () => {
      const text = ' {"a": [1, 2.50], "b": "artifact://nothing"}\n';
      expect(await collected(sluice.restoreStream(text))).toBe(text);
      expect((await refsIn(store, { session_id: "none" })).length).toBe(0);
    });
  });
});

/** Text beside `structuredContent`: told once where it says the same, kept where it says anything else. */
describe("both transforms", () => {
  const rows = (count: number): object[] => Array.from({ length: count }, (_, id) => ({ id, n: "row é 😀" }));
  const textOf = (text: string): object => ({ type: "text", text });

  /** As Python writes JSON. */
  const ascii = (value: unknown): string =>
    JSON.stringify(value, null, 1).replace(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );

  const STRUCTURED: readonly (readonly [string, object])[] = [
    ["rows that stay", { rows: rows(400) }],
    ["rows that are stored", { rows: rows(5_000), total: 5_000 }],
    ["a long text", { log: prose(20_000), 'a "quoted"\\ key': [1.5e3, null] }],
    ["a file", { rows: rows(400), pdf: base64(PDF) }],
    ["bytes", { rows: rows(400), data: [...PDF.subarray(0, 3_000)] }],
    ["all of it", { a: rows(5_000), log: prose(20_000), files: [base64(PDF), base64(PDF.subarray(0, 9_000))] }],
  ];

  describe.each(["structured", "content"] as const)("where %s is preferred", (prefer) => {
    describe.each(STRUCTURED)("%s", (_, structuredContent) => {
      const reduced = async (text: string): Promise<string> => {
        const sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }), config: { prefer } });
        return (await sluice.transform({ content: [textOf(text)], structuredContent })).text;
      };

      test.each([
        ["compact", (value: unknown) => JSON.stringify(value)],
        ["indented", (value: unknown) => JSON.stringify(value, null, 2)],
        ["ASCII", ascii],
      ])("its %s JSON is told once", async (_name, spell) => {
        const text = await reduced(spell(structuredContent));
        expect(text).not.toMatch(/^\{"structured"|^\{"content"/);
      });

      test("what says more, less or something else stays", async () => {
        const warned = { ...structuredContent, warning: "WARNING: only a part" };
        const other = { ...structuredContent, [Object.keys(structuredContent)[0] ?? ""]: null };
        for (const value of [warned, other]) {
          const { content, structured } = JSON.parse(await reduced(JSON.stringify(value))) as Record<string, unknown>;
          expect(content).toBeDefined();
          expect(structured).toBeDefined();
        }
        expect(
          Object.keys(JSON.parse(await reduced(`${JSON.stringify(structuredContent)} WARNING`)) as object),
        ).toEqual(expect.arrayContaining(["structured", "content"]));
      });
    });
  });

  test("another file in the same place is no twin", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
    const content = [textOf(JSON.stringify({ rows: rows(400), pdf: base64(PDF) }))];
    const withFile = (pdf: Uint8Array): object => ({
      content,
      structuredContent: { rows: rows(400), pdf: base64(pdf) },
    });
    expect((await sluice.transform(withFile(PDF))).text).toMatch(/^\{"rows"/);
    const { text, artifacts } = await sluice.transform(withFile(PDF.subarray(0, 9_000)));
    expect(text).toMatch(/^\{"structured"/);
    // Each half's rows, and each half's file.
    expect(artifacts).toHaveLength(4);
  });

  test("without a store, and as the result of a wrapped value", async () => {
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
    const said = JSON.stringify(rows(400));
    const once = await sluice.transform({ content: [textOf(said)], structuredContent: { result: rows(400) } });
    expect(once.text).toMatch(/^\{"result"/);
    const more = await sluice.transform({ content: [textOf(said)], structuredContent: { result: rows(399) } });
    expect(more.text).toMatch(/^\{"structured"/);
  });

  describe("what a server sent twice is shown once", () => {
    const structured = { total: 3, rows: [1, 2, 3] };
    const json = JSON.stringify(structured, undefined, 2);
    const both = { ...textResult(json), structuredContent: structured };
    const warned = { ...textResult("WARNING: only 3 of 900 rows"), structuredContent: structured };

    test("the structured half is shown when nothing else is asked", async () => {
      const sluice = await createSluice({ store: new MemoryArtifactStore() });
      expect((await sluice.transform(both)).value).toEqual(structured);
    });

    test("the content half is shown on request", async () => {
      const sluice = await createSluice({ store: new MemoryArtifactStore(), config: { prefer: "content" } });
      const observed = await sluice.transform(both);
      expect(observed.value).toEqual(structured);
      expect(observed.text).toBe(json);
    });

    test("a text that is not the structured half over again is shown beside it", async () => {
      const sluice = await createSluice({ store: new MemoryArtifactStore() });
      expect((await sluice.transform(warned)).value).toEqual({ structured, content: warned.content });
      expect((await sluice.transform({ ...warned, structuredContent: {} })).value).toEqual({
        structured: {},
        content: warned.content,
      });
    });

    test("what only the structured half says is shown beside the content", async () => {
      const sluice = await createSluice({ store: new MemoryArtifactStore(), config: { prefer: "content" } });
      expect((await sluice.transform(warned)).value).toEqual({ content: warned.content[0]?.text, structured });
    });

    test("a half that is missing is not preferred", async () => {
      const sluice = await createSluice({ store: new MemoryArtifactStore() });
      expect((await sluice.transform({ content: [], structuredContent: structured })).value).toEqual(structured);
      const sluiceOfContent = await createSluice({ store: new MemoryArtifactStore(), config: { prefer: "content" } });
      expect((await sluiceOfContent.transform({ content: [], structuredContent: structured })).value).toEqual(
        structured,
      );
      expect((await sluice.transform(textResult("only text"))).value).toBe("only text");
    });

    test("the mcp dialect keeps both halves", async () => {
      const sluice = await createSluice({ store: new MemoryArtifactStore() });
      expect((await sluice.transform(both, { dialect: "mcp" })).value).toEqual(both);
    });
  });
});

/** What is made of artifacts, where its bytes are an artifact already: same content has the same id. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactInfo, ArtifactRef, StoredArtifact } from "../../../../web/src/artifacts/store.js";
import { ArtifactReader } from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { ArtifactSource } from "../../../../web/src/mcp/artifact-reader/source.js";
import { zipped } from "../../../support/documents.js";
import { dataOf, wordsOf } from "./artifacts.js";

const TABLE = "city,amount\nBern,3\nOslo,5\n";

/** A store whose derived artifacts are counted as they are made. */
class Counted extends ArtifactSource {
  made = 0;

  override async openWriter(
    ...args: Parameters<ArtifactSource["openWriter"]>
  ): ReturnType<ArtifactSource["openWriter"]> {
    this.made += 1;
    return super.openWriter(...args);
  }
}

function room(): {
  readonly source: Counted;
  readonly reader: ArtifactReader;
  readonly put: (content: string | Uint8Array, info: ArtifactInfo) => Promise<string>;
  readonly records: () => Promise<readonly StoredArtifact[]>;
  readonly record: (uri: string) => Promise<Pick<ArtifactRef, "filename" | "mime_type" | "source"> | undefined>;
} {
  const store = new MemoryArtifactStore();
  const scope = { user_id: "ada" };
  const source = new Counted(store, scope, "ns");
  return {
    source,
    reader: new ArtifactReader(source),
    put: async (content, info) => {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const { id } = await store.putBytes(bytes, { ...info, scope, namespace: "ns" });
      return `artifact://${id}`;
    },
    records: async () => {
      const found: StoredArtifact[] = [];
      for await (const ref of store.list()) found.push(ref);
      return found;
    },
    record: async (uri) => {
      const ref: StoredArtifact | null = await store.stat(uri.slice("artifact://".length), scope);
      return ref === null ? undefined : { filename: ref.filename, mime_type: ref.mime_type, source: ref.source };
    },
  };
}

const KNOWN = { filename: "mine.txt", mime_type: "text/plain", source: { tool: "write", description: "Notes" } };
const SQL = "SELECT SUM(amount) AS total FROM rows";

test("a file that is in an archive too keeps its name, type and origin, and is read there by the archive's name", async () => {
  const { source, reader, put, record } = room();
  const own = await put(TABLE, KNOWN);
  const zip = await put(await zipped({ "data/sales.csv": TABLE }), { filename: "a.zip", mime_type: "application/zip" });
  for (let time = 0; time < 3; time += 1) {
    const answer = await reader.call({ uri: zip, entry: "data/sales.csv", query: SQL });
    expect(dataOf(answer)).toBe("total\n8");
    expect(wordsOf(answer)).toContain(`${zip} (read as ${own})`);
    expect(source.made).toBe(1);
    expect(await record(own)).toEqual(KNOWN);
  }
});

test("the same file in two archives, under two names, is right in both, and is unpacked once each", async () => {
  const { source, reader, put } = room();
  const first = await put(await zipped({ "a.csv": TABLE }), { filename: "1.zip" });
  const second = await put(await zipped({ "b.txt": TABLE, "c/a.csv": TABLE }), { filename: "2.zip" });
  for (let time = 0; time < 2; time += 1) {
    expect(dataOf(await reader.call({ uri: first, entry: "a.csv", query: SQL }))).toBe("total\n8");
    expect(dataOf(await reader.call({ uri: second, entry: "c/a.csv", query: SQL }))).toBe("total\n8");
    expect(dataOf(await reader.call({ uri: second, entry: "b.txt", lines: "2" }))).toBe("Bern,3");
  }
  expect(source.made).toBe(3);
});

test("two documents with the same text are converted once each, and the text keeps its first name", async () => {
  const { source, reader, put, records } = room();
  const page = (title: string): string => `<html><head><title>${title}</title></head><body><p>Same.</p></body></html>`;
  const first = await put(page("One"), { filename: "1.html", mime_type: "text/html" });
  const second = await put(`${page("One")}<!-- other -->`, { filename: "2.html", mime_type: "text/html" });
  const asked = async (uri: string): Promise<string> => {
    const answer = await reader.call({ uri, as: "text", lines: "1-9" });
    expect(answer.isError).toBeUndefined();
    expect(wordsOf(answer)).toContain(`${uri}, lines 1-3`);
    return dataOf(answer) ?? "";
  };
  const text = await asked(first);
  expect(text).toContain("Same.");
  expect(await asked(second)).toBe(text);
  expect(await asked(first)).toBe(text);
  expect(await asked(second)).toBe(text);
  expect(source.made).toBe(2);
  const texts = (await records()).filter(({ mime_type }) => mime_type === "text/plain");
  expect(texts).toMatchObject([{ filename: "1.html.txt", source: { form: "text" } }]);
});

test("what another program wrote in a record is no note", async () => {
  const { source, reader, put } = room();
  await put(TABLE, KNOWN);
  const derived = [
    null,
    5,
    { form: "entry:a.csv" },
    { form: "entry:a.csv", id: "ns_000000000000", record: { source: 1 } },
  ];
  const zip = await put(await zipped({ "a.csv": TABLE }), { filename: "a.zip", source: { derived } });
  expect(dataOf(await reader.call({ uri: zip, entry: "a.csv", query: SQL }))).toBe("total\n8");
  expect(dataOf(await reader.call({ uri: zip, entry: "a.csv", query: SQL }))).toBe("total\n8");
  expect(source.made).toBe(1);
});

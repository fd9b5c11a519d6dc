/** Links in results, read by ToolNode's own reader through the real core. */
import { describe, expect, test } from "vitest";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import type { ResourcesConfig } from "../../../../web/src/core/config.js";
import { createSluice } from "../../../../web/src/index.js";
import type { Transformed } from "../../../../web/src/core/sluice.js";
import type { ResourceReading } from "../../../../web/src/tools/resources/contents.js";
import { PDF, prose, refsIn } from "../../core/samples.js";
import { desk, URI, type Desk } from "./desk.js";
import type { Document } from "./library.js";

const ADA: ArtifactScope = { user_id: "ada" };
const LINKED = { content: [{ type: "resource_link", uri: URI, name: "report", mimeType: "text/x", size: 1_000 }] };

interface Linked extends Desk {
  readonly answer: Transformed;
  readonly block: Readonly<Record<string, unknown>>;
  readonly read: readonly ResourceReading[];
  readonly again: () => Promise<Transformed>;
}

async function linked(document: Document, given: ResourcesConfig = {}): Promise<Linked> {
  const config = { auto_read_if_size_under_bytes: 1_000_000, ...given };
  const made = desk({ config });
  made.library.write(URI, document);
  const sluice = await createSluice({ store: made.store, config: { resources: config } });
  const read: ResourceReading[] = [];
  const again = (): Promise<Transformed> => {
    const readResource = made.reader.linkReader({ scope: ADA }, 30, (each) => read.push(each));
    return sluice.transform(LINKED, { namespace: "lib", scope: ADA, ...(readResource && { readResource }) });
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
    expect(await store.get(id, ADA)).toEqual(new Uint8Array(PDF));
  });

  test("to a long text becomes an artifact", async () => {
    const { block, answer } = await linked({ body: prose(20_000), mime_type: "text/plain" });
    expect(block).toMatchObject({ fetched: true, artifact: { mime_type: "text/plain" } });
    expect(answer.text.length).toBeLessThan(1_000);
  });

  test("to a short text shows it, and stores it", async () => {
    const { block, answer, store } = await linked({ body: "all is well" });
    expect(block).toMatchObject({ fetched: true, text: "all is well" });
    expect(await refsIn(store, ADA)).toHaveLength(1);
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
    const { reader } = desk({ config });
    const sluice = await createSluice({ config: { resources: config } });
    const readResource = reader.linkReader({}, 30);
    const { value } = await sluice.transform(LINKED, { namespace: "lib", ...(readResource && { readResource }) });
    expect(value).toMatchObject({ content: [{ fetched: false, fetch_error: "the resource could not be read" }] });
  });

  test("that takes too long is given up, also at the source", async () => {
    const { reader, library } = desk({ config: { auto_read_if_size_under_bytes: 1 } });
    library.gate = (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    const read = reader.linkReader({}, 0.01);
    await expect(read?.(URI)).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

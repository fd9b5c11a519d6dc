/** Conversions in the thread that asks, with modules that were handed in, as Cloudflare Workers need it. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { DocumentModule, DocumentModules } from "../../../web/src/core/engine.js";
import type { ConversionFacts, ConversionRequest } from "../../../web/src/documents/conversion.js";
import type { ConversionTask } from "../../../web/src/documents/sandbox.js";
import { convertInWorker } from "../../../web/src/documents/sandbox-inline.js";
import { pdfOf } from "../../support/pdf.js";

const compile = async (name: DocumentModule): Promise<WebAssembly.Module> =>
  WebAssembly.compile(await readFile(new URL(`../../../web/src/documents/wasm/${name}.wasm`, import.meta.url)));

const modules: DocumentModules = {
  pdfium: await compile("pdfium"),
  "jpeg-encoder": await compile("jpeg-encoder"),
  png: await compile("png"),
};

async function convert(
  bytes: Uint8Array,
  request: ConversionRequest,
  more: Partial<ConversionTask> = { modules },
): Promise<{ readonly facts: ConversionFacts; readonly content: Buffer }> {
  const chunks: Uint8Array[] = [];
  const input = (async function* (): AsyncGenerator<Uint8Array> {
    yield bytes;
  })();
  const write = async (chunk: Uint8Array): Promise<void> => void chunks.push(chunk);
  const facts = await convertInWorker({ request, input, write, ...more });
  return { facts, content: Buffer.concat(chunks) };
}

const PAGES = pdfOf(Array.from({ length: 40 }, (_, at) => ({ lines: [`Page ${at + 1} has some words.`] })));
const HTML = new TextEncoder().encode("<h1>One</h1><p>two");
const PICTURE = { form: "picture", page: 1, limits: { maxSide: 300, maxBytes: 100_000 } } as const;

test("a PDF is read, and a page of it drawn", async () => {
  const { facts, content } = await convert(PAGES, { kind: "pdf", form: "text" });
  expect(facts).toMatchObject({ parts: 40 });
  expect(content.toString()).toContain("Page 40 has some words.");
  const drawn = await convert(PAGES, { kind: "pdf", ...PICTURE });
  expect(drawn.facts).toMatchObject({ mime_type: "image/png" });
  expect(drawn.content.subarray(1, 4).toString()).toBe("PNG");
});

test("what needs no module is read without any", async () => {
  const { content } = await convert(HTML, { kind: "html", form: "text" }, {});
  expect(content.toString()).toBe("# One\n\ntwo\n");
});

test.each<[string, Uint8Array, ConversionRequest, string]>([
  ["a PDF", PAGES, { kind: "pdf", form: "text" }, "pdfium"],
  ["a page of one", PAGES, { kind: "pdf", ...PICTURE }, "pdfium"],
])("%s says which module it needs, and how it is handed in", async (_, bytes, request, name) => {
  await expect(convert(bytes, request, {})).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: expect.stringContaining(
      `import mcp-sluice/documents/${name}.wasm, and pass it as wasm.documents["${name}"]`,
    ),
  });
});

describe("limits", () => {
  test.each<[string, Partial<ConversionTask["limits"]>]>([
    ["output", { output: 100 }],
    ["time", { time: -1 }],
  ])("of %s hold", async (_, limits) => {
    const converted = convert(PAGES, { kind: "pdf", form: "text" }, { modules, limits: limits ?? {} });
    await expect(converted).rejects.toMatchObject({ code: "E_TOO_LARGE" });
  });

  test("of a document's size hold", async () => {
    const large = new Uint8Array(24 * 1024 * 1024 + 1);
    await expect(convert(large, { kind: "html", form: "text" })).rejects.toMatchObject({ code: "E_TOO_LARGE" });
  });
});

test("what the writer throws is thrown, and an abort's reason", async () => {
  const full = new Error("full");
  const write = (): Promise<never> => Promise.reject(full);
  await expect(convert(HTML, { kind: "html", form: "text" }, { write })).rejects.toBe(full);
  const signal = AbortSignal.abort(full);
  await expect(convert(HTML, { kind: "html", form: "text" }, { signal })).rejects.toBe(full);
});

test("a document that is none ends in a coded error without its words", async () => {
  const outcome = convert(new TextEncoder().encode("%PDF-1.7 secret words"), { kind: "pdf", form: "text" });
  await expect(outcome).rejects.toMatchObject({ code: "E_DOCUMENT", message: expect.not.stringContaining("secret") });
});

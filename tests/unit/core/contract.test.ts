import { readFile } from "node:fs/promises";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { contractPool, readContract } from "../../../web/src/core/contract-reader.js";
import { type ToolContract } from "../../../web/src/core/contract-types.js";
import { createSluice } from "../../../web/src/index.js";
import { contracts, plainReading } from "./contract-model.js";
import { base64, PDF } from "./samples.js";

const MODULE = new URL("../../../web/src/core/contract.wasm", import.meta.url);
const OUT_OF_MEMORY = 0xffff_fff0;

const read = (value: unknown) => readContract(JSON.stringify(value));

async function contractIn(value: unknown): Promise<ToolContract> {
  const reading = await read(value);
  if (reading.kind !== "contract") throw new Error(JSON.stringify(reading));
  return reading.contract;
}

describe("an answer", () => {
  test("that follows the contract comes back normalised", async () => {
    const contract = await contractIn({
      content: [],
      structuredContent: {
        results: { summary: "done" },
        artifacts: [
          { name: "a.csv", b64: "QUI", mime: "Text/CSV", size: 2, description: "A\n table", category: "dataset" },
          { name: "b.html", path: "/tmp/alice/b.html", mime: "text/html", viewer: "html", auto_open: true },
        ],
        deferred_artifacts: [
          { name: "c", path: "/tmp/alice/c", mime: "text/plain", reason: "draft", next_actions: ["Edit it"] },
        ],
        display: { open_canvas: true, primary_file: "b.html", mode: "split" },
      },
    });
    expect(contract).toEqual({
      results: { summary: "done" },
      artifacts: [
        {
          name: "a.csv",
          b64: "QUI=",
          mime: "text/csv",
          description: "A table",
          category: "dataset",
          auto_open: false,
        },
        { name: "b.html", path: "/tmp/alice/b.html", mime: "text/html", viewer: "html", auto_open: true },
      ],
      deferred_artifacts: [
        {
          name: "c",
          path: "/tmp/alice/c",
          mime: "text/plain",
          reason: "draft",
          next_actions: ["Edit it"],
          expires_hours: 72,
        },
      ],
      display: { open_canvas: true, primary_file: "b.html", mode: "split", storage_action: "store" },
    });
  });

  test("is read without what breaks a rule, which is told by its field and its rule", async () => {
    const file = { name: "a", b64: "", mime: "text/csv" };
    const artifacts = [file, { ...file, name: "b", viewer: "PDF" }, { ...file, name: "" }];
    expect(await read({ structuredContent: { results: {}, artifacts } })).toMatchObject({
      kind: "contract",
      contract: { artifacts: [{ name: "a" }, { name: "b" }, { name: "file" }] },
      dropped: [
        { field: "artifacts[1].viewer", rule: "must be one of image, pdf, html, code, data" },
        { field: "artifacts[2].name", rule: "must be a string of 1 to 1024 characters" },
      ],
      droppedCount: 2,
    });
    expect(await read({ artifacts: [file] })).toMatchObject({
      contract: { results: {} },
      dropped: [],
      droppedCount: 0,
    });
  });

  test.each(["", "{", "null", '"results"', '{"content":[]}', '{"structuredContent":{"result":{"results":{}}}}'])(
    "without a contract is for the ordinary layers: %s",
    async (text) => {
      expect(await readContract(text)).toEqual({ kind: "other" });
    },
  );

  test("keeps every digit in its text", async () => {
    const reading = await readContract('{"results":{"id":12345678901234567890.10}}');
    expect(reading).toMatchObject({ text: expect.stringContaining('{"id":12345678901234567890.10}') });
  });

  test("that is no text is refused", async () => {
    await expect(readContract(undefined as unknown as string)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
  });
});

describe("an answer that was reduced", () => {
  const answer = { results: { pages: 1 }, artifacts: [{ name: "r.pdf", b64: base64(PDF), mime: "application/pdf" }] };
  const text = { content: [{ type: "text", text: JSON.stringify(answer) }] };

  test.each([
    ["in structured content", { ...text, structuredContent: answer }],
    ["in a text block, behind which a note was added", text],
    ["in a value that is no tool result", answer],
  ])("holds references in the place of bytes: %s", async (_, result) => {
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    const reduced = await sluice.transform(result, { dialect: "mcp" });
    const [ref] = reduced.artifacts;
    const reading = await readContract(reduced.text);
    expect(reading).toMatchObject({ contract: { results: { pages: 1 }, artifacts: [{ name: "r.pdf" }] } });
    expect((reading as { contract: ToolContract }).contract.artifacts[0]?.b64).toMatch(
      new RegExp(`^artifact://${ref?.id}\\?type=application/pdf&size=${PDF.length}$`),
    );
  });

  test("holds a reference in the place of results that are too large", async () => {
    const results = Object.fromEntries(
      Array.from({ length: 3000 }, (_, index) => [`row ${index}`, { index, of: "three thousand" }]),
    );
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    const reduced = await sluice.transform({ content: [], structuredContent: { results } }, { dialect: "mcp" });
    expect(await readContract(reduced.text)).toMatchObject({
      contract: { results: expect.stringMatching(/^artifact:\/\/.*type=application\/json/) },
    });
  });
});

describe("the module", () => {
  test("is compiled from whatever it is given as", async () => {
    const bytes = await readFile(MODULE);
    const sources = [MODULE, bytes, new Response(bytes)];
    for (const source of [...sources, MODULE]) {
      expect(await readContract('{"results":{}}', source)).toMatchObject({ kind: "contract" });
    }
  });

  test("is asked for again after it could not be loaded", async () => {
    const nowhere = new URL("file:///nowhere/contract.wasm");
    for (const text of ["{}", "[]"]) {
      await expect(readContract(text, nowhere)).rejects.toMatchObject({ code: "E_CORE_LOAD" });
    }
    expect(await readContract("{}")).toEqual({ kind: "other" });
  });

  test("is replaced after a trap", async () => {
    const readers = await contractPool(MODULE);
    const broken = await readers.take();
    expect(() => broken.call("input", OUT_OF_MEMORY)).toThrow(
      expect.objectContaining({ code: "E_CORE_TRAP", cause: expect.anything() }),
    );
    readers.release(broken);
    const next = await readers.take();
    next.give('{"results":{}}');
    expect(next.call("read")).toBe(1);
    readers.release(next);
    expect(await readers.take()).toBe(next);
  });

  test("reads texts that come at the same time", async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `{"results":{"index":${index}}}`);
    const readings = await Promise.all(texts.map(async (text) => readContract(text)));
    expect(readings).toMatchObject(texts.map((_, index) => ({ contract: { results: { index } } })));
  });
});

describe("for any answer", () => {
  test("there is a contract or none, and one that is read again is the same", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc.string({ unit: "binary" }),
          contracts.map((contract) => JSON.stringify(contract)),
        ),
        async (text) => {
          const reading = await readContract(text);
          if (reading.kind === "other") return;
          expect(reading.dropped.length).toBeLessThanOrEqual(Math.min(reading.droppedCount, 16));
          expect(await readContract(reading.text)).toEqual({ ...reading, dropped: [], droppedCount: 0 });
        },
      ),
    );
  });

  test("what it comes to, and what is left out of it, is what a plain reading of the rules finds", async () => {
    await fc.assert(
      fc.asyncProperty(contracts, async (contract) => {
        const reading = await read({ content: [], structuredContent: contract });
        const plain = plainReading(contract);
        expect(reading.kind).toBe(plain === undefined ? "other" : "contract");
        if (reading.kind === "other" || plain === undefined) return;
        expect(reading.contract).toEqual(plain.contract);
        expect(reading.dropped.map(({ field }) => field)).toEqual(plain.dropped.slice(0, 16));
        expect(reading.droppedCount).toBe(plain.dropped.length);
      }),
      { numRuns: 1000 },
    );
  });
});

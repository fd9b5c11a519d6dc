import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type Sluice } from "../../../../web/src/index.js";
import { listBlocks, readLoad } from "../../../../web/ui/result/blocks.js";
import { Counterparts } from "../../../../web/ui/result/counterparts.js";
import { diffLines } from "../../../../web/ui/result/diff-lines.js";
import { jsonTokens } from "../../../../web/ui/result/json-tokens.js";
import { JsonNode } from "../../../../web/ui/result/json-text.js";
import { namesPlace, splitSteps } from "../../../../web/ui/result/labels.js";
import type { MarkedText } from "../../../../web/ui/result/marked-text.js";
import { prettyLines } from "../../../../web/ui/result/pretty.js";
import { RawBytes } from "../../../../web/ui/result/raw-bytes.js";
import { restoreSentText } from "../../../../web/ui/result/restore.js";
import { moveIn, TreeRows } from "../../../../web/ui/result/tree-rows.js";
import { documents, type Json, results } from "../../core/documents.js";
import { base64, PDF, PNG, prose, textResult } from "../../core/samples.js";

describe("views", () => {
  const plain = (value: unknown): MarkedText => ({ text: JSON.stringify(value), holes: [] });

  function lines(source: MarkedText, most = 100): readonly string[] {
    return prettyLines(source, { lines: most, chars: 50, hole: ({ id }) => `<${id}>`, unfold: true }).lines;
  }

  function streamOf(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
    return new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
  }

  function tree(value: unknown): TreeRows {
    return new TreeRows(JsonNode.of(plain(value))!, true);
  }

  describe("blocks", () => {
    test.each([
      [
        { content: [{ type: "text", text: "a" }, { type: "odd" }], isError: true, structuredContent: 1 },
        "text content 0,other content 1,member structuredContent,member isError",
      ],
      [{ contents: [{ uri: "a:b", blob: "AA==" }] }, "entry contents 0"],
      [[{ type: "image", data: "AA==" }], "image content 0"],
      [{ jsonrpc: "2.0", id: 1, result: { content: [], x: 1 } }, "member x"],
      [{ jsonrpc: "2.0", id: 1, error: { code: 1 } }, "other value"],
      [{ structuredContent: { a: 1 } }, "member structuredContent"],
      [[1, 2], "other value"],
      ["word", "other value"],
    ])("of %j", (value, expected) => {
      const blocks = listBlocks(plain(value));
      const all = Array.from({ length: blocks.length }, (_, index) => blocks.at(index));
      expect(all.map(({ kind, name }) => `${kind} ${name}`).join(",")).toBe(expected);
    });

    test("of an image whose bytes stay tell how many", () => {
      expect(
        readLoad(listBlocks(plain([{ type: "image", data: "A".repeat(400), mimeType: "image/png" }])).at(0)),
      ).toEqual({
        hole: null,
        mimeType: "image/png",
        inline: 300,
        member: "data",
      });
    });

    test("of what is no JSON are none", () => {
      expect(listBlocks({ text: '{"a"', holes: [] }).length).toBe(0);
    });
  });

  describe("counterparts", () => {
    const text = JSON.stringify({
      a: [{ artifact: { id: "d_1", size: 3 }, summary: '}"{' }, "see artifact://d_1?type=a/b, artifact://d_12"],
      text: "ok",
    });
    const counterparts = new Counterparts(text);

    test("of an artifact are the objects and references that name it, and no other's", () => {
      expect(counterparts.of({ id: "d_1" }).map(({ begin, end }) => text.slice(begin, end))).toEqual([
        '{"artifact":{"id":"d_1","size":3},"summary":"}\\"{"}',
        "artifact://d_1?type=a/b",
      ]);
      expect(counterparts.of({ id: "d" })).toEqual([]);
    });

    test("of what passed is its text", () => {
      expect(counterparts.of({ source: '"ok"', said: "ok" })).toEqual([
        { begin: text.length - 5, end: text.length - 1 },
      ]);
      expect(counterparts.of({ source: '"gone"', said: "gone" })).toEqual([]);
    });

    test("of a place is the artifact that it tells of", () => {
      expect(counterparts.at(text.indexOf("size"))).toBe("d_1");
      expect(counterparts.at(text.indexOf("d_12"))).toBe("d_12");
      expect(counterparts.at(1)).toBeNull();
    });
  });

  describe("pretty lines", () => {
    test("keep numbers and escapes, and open JSON in strings", () => {
      const source = { text: '{"n": 1.50, "s":"\\u0041", "e":[], "j":"{\\"a\\": [1]}"}', holes: [] };
      expect(lines(source)).toEqual([
        "{",
        '  "n": 1.50,',
        '  "s": "\\u0041",',
        '  "e": [],',
        '  "j": {',
        '    "a": [',
        "      1",
        "    ]",
        "  }",
        "}",
      ]);
    });

    test("end where they may, also for what is nested without end", () => {
      expect(lines(plain(Array.from({ length: 1_000 }, () => 1)), 10)).toHaveLength(10);
      expect(lines({ text: "[".repeat(100_000) + "]".repeat(100_000), holes: [] }, 100).join("").length).toBeLessThan(
        10_000,
      );
      expect(lines({ text: "not\nJSON", holes: [] })).toEqual(["not", "JSON"]);
    });
  });

  test("a difference does not count how far a line is indented", async () => {
    const { lines: all, whole } = await diffLines(
      plain({ content: [{ text: '{"a":1,"b":2}' }] }),
      '{"a":1,"c":2}',
      new Map(),
    );
    expect(all.filter(({ side }) => side === "both").map((line) => line.text.trim())).toContain('"a": 1,');
    expect(all.filter(({ side }) => side === "model").map((line) => line.text.trim())).toContain('"c": 2');
    expect(whole).toBe(true);
  });

  test("a difference is indented as the model's text is, on either side", async () => {
    const { lines: all } = await diffLines(
      plain({ content: [{ text: '{"a":{"b":1,"d":2}}' }] }),
      '{"a":{"b":1,"c":2}}',
      new Map(),
    );
    const of = (text: string): string | undefined => all.find((line) => line.text.includes(text))?.text;
    expect(of('"b"')).toBe('    "b": 1,');
    expect(of('"d"')).toBe('    "d": 2');
    expect(of('"c"')).toBe('    "c": 2');
  });

  test("JSON is told apart by keys, strings, and numbers or literals", () => {
    const text = '{"a\\"": "b:1", "c":[-1.5e+3,true,null, "x"]}';
    expect(Array.from(jsonTokens(text), ({ kind, begin, end }) => `${kind} ${text.slice(begin, end)}`)).toEqual([
      'k "a\\""',
      's "b:1"',
      'k "c"',
      "n -1.5e+3",
      "n true",
      "n null",
      's "x"',
    ]);
    expect([...jsonTokens('"no end')]).toEqual([]);
  });

  describe("raw bytes", () => {
    test("give each character in one line, however they are cut", async () => {
      const text = "añ€😀\n".repeat(200);
      const bytes = new TextEncoder().encode(text);
      const raw = new RawBytes();
      const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, n) => bytes.subarray(n * 7, n * 7 + 7));
      await raw.read(streamOf(...chunks), () => undefined, new AbortController().signal);
      const all = Array.from({ length: raw.lines }, (_, line) => raw.line(line));
      expect(all.join("")).toBe(text.replaceAll("\n", "\u240a"));
      expect(raw.more).toBe(false);
    });

    test("end where no more may be held", async () => {
      const raw = new RawBytes();
      await raw.read(
        streamOf(new Uint8Array(60), new Uint8Array(60), new Uint8Array(1)),
        () => undefined,
        new AbortController().signal,
        100,
      );
      expect([raw.size, raw.more]).toEqual([100, true]);
    });
  });

  describe("configured fields", () => {
    test.each([
      ["report.pdf", ["report", "pdf"], true],
      ["$.pages[*].data", ["structuredContent", "result", "pages", "3", "data"], true],
      ["data", ["content", "0", "text", "data"], true],
      ["data", ["other", "data"], false],
      ["", ["data"], false],
    ])("%s names %j: %s", (path, keys, expected) => {
      expect(namesPlace(splitSteps(path), keys)).toBe(expected);
    });
  });

  describe("a tree", () => {
    test("shows a hundred children at a time", () => {
      const rows = tree(Array.from({ length: 250 }, (_, n) => n));
      expect(rows.rows()).toHaveLength(102);
      expect(rows.rows().at(-1)).toMatchObject({ left: 150, level: 2 });
      rows.showMore("");
      rows.showMore("");
      expect(rows.rows()).toHaveLength(251);
    });

    test("opens JSON in strings, and what holds something that was taken out", () => {
      const rows = tree({ a: '{"b": [1]}' });
      rows.toggle("0", true);
      expect(rows.rows().map(({ path, nested }) => [path, nested])).toEqual([
        ["", false],
        ["0", true],
        ["0/0", false],
      ]);
      const text = '{"a":{"b":"artifact://x"}}';
      const hole = { begin: 11, end: 23, kind: "run", id: "x", mimeType: null, size: null } as const;
      expect(new TreeRows(JsonNode.of({ text, holes: [hole] })!, false).rows().map(({ path }) => path)).toEqual([
        "",
        "0",
        "0/0",
      ]);
    });

    test("does nothing for other keys, and goes no further than its ends", () => {
      const rows = tree([1, 2]).rows();
      expect(moveIn(rows, "", "x")).toBeNull();
      expect(moveIn(rows, "", "ArrowUp")).toEqual({ to: "" });
      expect(moveIn(rows, "1", "ArrowDown")).toEqual({ to: "1" });
      expect(moveIn(rows, "1", "ArrowLeft")).toEqual({ to: "" });
      expect(moveIn(rows, "gone", "Home")).toBeNull();
    });
  });
});

describe("the tree of what was sent", () => {
  let sluice: Sluice;
  beforeAll(async () => {
    sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
  });

  /** Whether what was written stands where it stood, in order, and holes where something was taken out. */
  function fits({ text, holes }: MarkedText, original: string): boolean {
    const starts = [0, ...holes.map(({ end }) => end)];
    const ends = [...holes.map(({ begin }) => begin), text.length];
    let at = 0;
    for (const [index, start] of starts.entries()) {
      const literal = text.slice(start, ends[index]);
      const isLast = index === holes.length;
      const place = isLast ? original.length - literal.length : original.indexOf(literal, at);
      if (place < at || (index === 0 && place !== 0) || !original.startsWith(literal, place)) return false;
      at = place + literal.length;
    }
    return true;
  }

  async function sentOf(document: unknown): Promise<MarkedText> {
    const { text, refs } = await sluice.transform(document, { dialect: "mcp", namespace: "r" });
    return restoreSentText(text, refs);
  }

  async function check(document: unknown): Promise<void> {
    expect(fits(await sentOf(document), JSON.stringify(document))).toBe(true);
  }

  describe("what was sent is rebuilt with holes", () => {
    test("from tool results", async () => {
      await fc.assert(fc.asyncProperty(results, check), { numRuns: 40 });
    });

    test("from JSON of any shape", async () => {
      await fc.assert(fc.asyncProperty(documents, check), { numRuns: 40 });
    });

    test("from JSON-RPC responses", async () => {
      const response = results.map((result): Json => ({ jsonrpc: "2.0", id: 7, result }));
      await fc.assert(fc.asyncProperty(response, check), { numRuns: 20 });
    });

    test("from typed blocks, links, nested texts and structured values", async () => {
      const document = {
        content: [
          { type: "image", data: base64(PNG), mimeType: "image/png" },
          { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: base64(PDF) } },
          { type: "resource_link", uri: "file:///b.csv", name: "b" },
          { type: "text", text: JSON.stringify({ inner: JSON.stringify({ pdf: base64(PDF) }) }) },
          { type: "text", text: `![](data:image/png;base64,${base64(PNG)}) and ${base64(PDF)}.` },
        ],
        structuredContent: { bytes: [...PDF.subarray(0, 3000)] },
      };
      const sent = await sentOf(document);
      expect(fits(sent, JSON.stringify(document))).toBe(true);
      expect(sent.holes.map(({ kind, mimeType }) => `${kind} ${mimeType}`)).toEqual([
        "run image/png",
        "run application/pdf",
        "run application/pdf",
        "run image/png",
        "run application/pdf",
        "bytes application/pdf",
      ]);
    });

    test.each([
      ["a string alone", base64(PDF), "run"],
      ["a long text alone", prose(40_000), "text"],
      ["many rows", Array.from({ length: 9_000 }, (_, n) => ({ n, name: `row ${n}` })), "json"],
      ["many rows in a text", textResult(JSON.stringify(Array.from({ length: 9_000 }, (_, n) => [n, "x"]))), "text"],
      [
        "many blocks",
        { content: Array.from({ length: 4_000 }, (_, n) => ({ type: "text", text: `row ${n}` })) },
        "json",
      ],
      ["bytes in a key", { [base64(PNG)]: 1, b: 2 }, "run"],
    ])("from %s", async (_, document, kind) => {
      const sent = await sentOf(document);
      const { holes } = sent;
      expect(fits(sent, JSON.stringify(document))).toBe(true);
      expect(holes.map((hole) => hole.kind)).toEqual([kind]);
      expect(holes[0]?.id).toMatch(/^r_[0-9a-f]{12}$/);
    });

    test("numbers of any length and keys that occur twice stay", async () => {
      const source = `{"n":12345678901234567890.10,"a":"${base64(PNG)}","a":[1 , 2],"_meta":{"k":1}}`;
      const stream = sluice.open({ dialect: "mcp", namespace: "r" });
      await stream.write(new TextEncoder().encode(source));
      const { text } = await stream.close();
      const sent = restoreSentText(text);
      expect(fits(sent, source)).toBe(true);
      expect(sent.text).toMatch(
        /^\{"n":12345678901234567890\.10,"a":"artifact:[^"]*","a":\[1 , 2\],"_meta":\{"k":1\}\}$/,
      );
    });
  });

  describe("a list that does not fit", () => {
    test.each([
      [{ a: 1, _meta: { "sluice/refs": [{ at: "/b", added: true }] } }, "/b"],
      [{ a: "x", _meta: { "sluice/refs": [{ at: "/a", uri: "artifact://r_1" }] } }, "/a"],
      [{ a: "x", _meta: { "sluice/refs": [{ at: "a", added: true }] } }, "a"],
      [{ a: "x", _meta: { "sluice/refs": [{ at: "/a" }] } }, "/a"],
      [{ a: "x", _meta: { "sluice/refs": [{ at: "/a", was: 1, added: true }] } }, "/a"],
    ])("is refused with its place: %j", (document, path) => {
      expect(() => restoreSentText(JSON.stringify(document))).toThrow(
        expect.objectContaining({ code: "E_RESTORE_REFS", path }),
      );
    });

    test("a list that is none is refused", () => {
      expect(() => restoreSentText('{"_meta":{"sluice/refs":7}}')).toThrow(
        expect.objectContaining({ code: "E_RESTORE_REFS" }),
      );
    });

    test("text that is no JSON comes back as it is", () => {
      expect(restoreSentText('{"half": [1,')).toEqual({ text: '{"half": [1,', holes: [] });
    });
  });
});

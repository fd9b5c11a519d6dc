/** No encoded bytes as text, ever: the promise that everything else serves. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import { type ArtifactRef, createSluice, MemoryArtifactStore, type Sluice } from "../../../web/src/index.js";
import { emptyFolder } from "../../support/folder.js";
import { amount, isFull } from "../../support/full.js";
import { printed } from "../../support/program.js";
import { noise } from "../artifacts/bytes.js";
import { ROOT } from "../cli/command.js";
import { encodedAs, files, type Json, results } from "./documents.js";
import { base64, longestRun, onlyBytes, PDF, PNG, prose, TAR, textResult, WAV } from "./samples.js";
import { zipOf } from "./zip.js";

describe("leaks", () => {
  let store: MemoryArtifactStore;
  let sluice: Sluice;
  beforeAll(async () => {
    store = new MemoryArtifactStore();
    sluice = await createSluice({ store });
  });

  /** A string at some place of a document, or of JSON in a string of one. */
  function placed(text: string, level: number): Json {
    if (level === 0) return text;
    const inner = placed(text, level - 1);
    return level % 2 === 0 ? { note: "see", file: inner } : [JSON.stringify({ answer: inner, n: level })];
  }

  describe("a file in any spelling, at any depth, in any shape", () => {
    const text = encodedAs(files);
    const result = fc
      .tuple(text, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 4 }))
      .map(([run, level, shape]) => {
        const value = placed(run, level);
        const words = typeof value === "string" ? value : JSON.stringify(value);
        const shapes: readonly Json[] = [
          value,
          { content: [{ type: "text", text: words }] },
          { content: [{ type: "text", text: words }], structuredContent: { value } },
          { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: words }], isError: true } },
          [{ type: "text", text: words }],
        ];
        return shapes[shape] ?? null;
      });

    test.each(["observation", "mcp"] as const)("does not reach whoever reads the %s dialect", async (dialect) => {
      const property = fc.asyncProperty(result, async (document) => {
        const { text: seen, artifacts } = await sluice.transform(document, { dialect, namespace: "l" });
        expect(longestRun(seen)).toBeLessThan(200);
        expect(seen).not.toMatch(/(\d{1,3}, ?){64}/);
        expect(seen).not.toMatch(/(\\\\*x[0-9a-f]{2}){64}/);
        expect(artifacts.length).toBeGreaterThan(0);
      });
      await fc.assert(property, { numRuns: amount(40, 150) });
    });

    test("typed blocks hold none either, whatever they say of themselves", async () => {
      const types = fc.constantFrom("image/png", "application/pdf", "text/plain", "nonsense", "");
      const property = fc.asyncProperty(files, types, async (data, mimeType) => {
        const blocks = [
          { type: "image", data: base64(data), mimeType },
          { type: "audio", data: data.toString("base64url"), mimeType },
          { type: "resource", resource: { uri: "file:///a", mimeType, blob: base64(data) } },
        ];
        for (const dialect of ["observation", "mcp"] as const) {
          const { text: seen } = await sluice.transform({ content: blocks }, { dialect });
          expect(longestRun(seen)).toBeLessThan(200);
        }
      });
      await fc.assert(property, { numRuns: 60 });
    });
  });

  test("a valid CallToolResult stays one", async () => {
    const property = fc.asyncProperty(results, async (result) => {
      fc.pre(CallToolResultSchema.safeParse(result).success);
      const { value } = await sluice.transform(result, { dialect: "mcp" });
      expect(CallToolResultSchema.safeParse(value).error).toBeUndefined();
    });
    await fc.assert(property, { numRuns: amount(40, 150) });
  });

  const DOCX = zipOf({
    "[Content_Types].xml": `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    "word/document.xml": `<w:document>${"text ".repeat(900)}</w:document>`,
  });
  const SQLITE = Buffer.concat([
    Buffer.from("SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20", "latin1"),
    Buffer.alloc(4_072, 0),
  ]);
  const WEBP = Buffer.concat([riff(2_000), noise(1_992)]);

  // RIFF header, `WEBP`, a lossy chunk with a key frame of 16 × 16
  function riff(size: number): Buffer {
    const header = Buffer.from("RIFF\0\0\0\0WEBPVP8 \0\0\0\0\x30\x01\0\x9d\x01\x2a\x10\0\x10\0", "latin1");
    header.writeUInt32LE(size + header.length - 8, 4);
    header.writeUInt32LE(size + header.length - 20, 16);
    return header;
  }

  describe("kinds of files", () => {
    const short = PNG.subarray(0, 800);

    test.each([
      ["a small image in a data: URI", `data:image/png;base64,${base64(short)}`, short, "image/png"],
      ["base64 inside prose", `See the plan: ${base64(PDF)} and tell me.`, PDF, "application/pdf"],
      ["base64 inside Markdown", `![chart](data:image/png;base64,${base64(PNG)})`, PNG, "image/png"],
      ["base64 inside XML", `<file enc="base64">${base64(PDF)}</file>`, PDF, "application/pdf"],
      ["WebP", base64(WEBP), WEBP, "image/webp"],
      ["audio", base64(WAV), WAV, "audio/wav"],
      ["gzip", base64(gzipSync(noise(4_000))), gzipSync(noise(4_000)), "application/gzip"],
      ["tar", base64(TAR), TAR, "application/x-tar"],
      ["SQLite", base64(SQLITE), SQLITE, "application/vnd.sqlite3"],
      [
        "a Word document",
        base64(DOCX),
        DOCX,
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      ],
    ])("%s is found and stored byte for byte", async (_, text, original, mime_type) => {
      for (const input of [text, { deep: [{ er: text }] }, textResult(JSON.stringify({ text }))]) {
        const answer = await sluice.transform(input);
        expect(answer.artifacts).toMatchObject([{ mime_type }]);
        expect((await onlyBytes(store, answer.artifacts)).equals(original)).toBe(true);
        expect(longestRun(answer.text)).toBeLessThan(120);
      }
    });

    test("a PDF above 5,000,000 bytes is stored as bytes, and shows no base64", async () => {
      const large = Buffer.concat([PDF, noise(5_200_000), Buffer.from("\n%%EOF\n")]);
      for (const dialect of ["observation", "mcp"] as const) {
        const { text, artifacts } = await sluice.transform(textResult(base64(large)), { dialect });
        expect((await onlyBytes(store, artifacts)).equals(large)).toBe(true);
        expect(artifacts[0]?.mime_type).toBe("application/pdf");
        expect(longestRun(text)).toBeLessThan(120);
      }
    });

    test("100 KB of base64 never pass, not even when the store fails", async () => {
      const run = base64(noise(75_000));
      for (const input of [run, { run }, textResult(run), textResult(`x ${run} y`)]) {
        expect((await sluice.transform(input)).text).not.toContain(run.slice(0, 200));
      }
      class Broken extends MemoryArtifactStore {
        override openWriter(): Promise<never> {
          return Promise.reject(new Error("down"));
        }
      }
      const unlucky = await createSluice({ store: new Broken() });
      const { text, artifacts, failures } = await unlucky.transform({ run });
      expect(failures).toMatchObject([{ code: "E_STORE_WRITE" }]);
      expect(text + JSON.stringify(artifacts)).not.toContain(run.slice(0, 40));
    });
  });

  describe("what is no file stays", () => {
    test.each([
      ["text that begins with AAAA", `AAAA batteries, ${"and more batteries, ".repeat(100)}`],
      ["a long word of A", "A".repeat(5_000)],
      ["DNA", "ACGT".repeat(2_000)],
      [
        "a JWT",
        `${base64(Buffer.from('{"alg":"RS256"}'))}.${Buffer.from(noise(600)).toString("base64url")}.${"x".repeat(300)}`,
      ],
      [
        "a PEM key",
        `-----BEGIN PRIVATE KEY-----\n${base64(noise(1_200)).replace(/.{64}/g, "$&\n")}\n-----END PRIVATE KEY-----`,
      ],
      ["a hash", Buffer.from(noise(64)).toString("hex")],
      ["digits", "3141592653".repeat(700)],
    ])("%s", async (_, text) => {
      expect(await sluice.transform({ text })).toMatchObject({ value: { text }, artifacts: [], changed: false });
    });
  });

  describe("stores", () => {
    test("with no store nobody is told that something was stored", async () => {
      const storeless = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
      for (const dialect of ["observation", "mcp"] as const) {
        for (const input of [
          textResult(base64(PDF)),
          textResult(prose(30_000)),
          { content: [{ type: "image", data: base64(PNG), mimeType: "image/png" }] },
        ]) {
          const { text } = await storeless.transform(input, { dialect });
          expect(text).toMatch(/not stored/i);
          expect(text.replaceAll(/not stored/gi, "")).not.toMatch(/Stored, not shown|Read it with/);
        }
      }
    });
  });
});

describe("memory", () => {
  const PIECE = 48 * 1024;
  const PIECES = Math.ceil((256 * 1024 * 1024) / PIECE);

  test.runIf(isFull)("256 MiB stream into a file store while the process grows by less than 40 MB", async () => {
    const folder = await emptyFolder();
    const program = fileURLToPath(new URL("memory-program.mjs", import.meta.url));
    const library = pathToFileURL(join(ROOT, "dist", "node.js")).href;
    const args = [program, library, join(folder, "store"), String(PIECES)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const { text, artifacts, growth } = JSON.parse(await printed(child)) as {
      text: string;
      artifacts: ArtifactRef[];
      growth: number;
    };
    expect(artifacts).toMatchObject([{ size_bytes: PIECES * PIECE, sha256: expectedHash() }]);
    expect(text.length).toBeLessThan(1_000);
    expect(growth).toBeLessThan(40_000_000);
  });

  function expectedHash(): string {
    const hash = createHash("sha256");
    const piece = Buffer.alloc(PIECE);
    for (let n = 0; n < PIECES; n += 1) {
      for (let at = 0; at < piece.length; at += 1) piece[at] = (at * 31 + (at >> 8) + n) & 0xff;
      hash.update(piece);
    }
    return hash.digest("hex");
  }
});

/** What others who do this job were seen to get wrong, shown to be right here. */
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import { createSluice, type AnswerRef, type Sluice } from "../../../web/src/index.js";
import { noise } from "../artifacts/noise.js";
import { base64, longestRun, onlyBytes, PDF, PNG, prose, TAR, textResult, WAV } from "./samples.js";
import { zipOf } from "./zip.js";

async function opened(): Promise<{ store: MemoryArtifactStore; sluice: Sluice }> {
  const store = new MemoryArtifactStore();
  return { store, sluice: await createSluice({ store }) };
}

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
    ["a Word document", base64(DOCX), DOCX, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ])("%s is found and stored byte for byte", async (_, text, original, mime_type) => {
    const { store, sluice } = await opened();
    for (const input of [text, { deep: [{ er: text }] }, textResult(JSON.stringify({ text }))]) {
      const answer = await sluice.transform(input);
      expect(answer.artifacts).toMatchObject([{ mime_type }]);
      expect((await onlyBytes(store, answer.artifacts)).equals(original)).toBe(true);
      expect(longestRun(answer.text)).toBeLessThan(120);
    }
  });

  test("declared type and name of a Word document survive", async () => {
    const { store, sluice } = await opened();
    const mimeType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    const resource = { uri: "file:///letters/offer.docx", mimeType, blob: base64(DOCX) };
    const { artifacts, value } = await sluice.transform({ content: [{ type: "resource", resource }] });
    expect(artifacts).toMatchObject([{ mime_type: mimeType, filename: "offer.docx" }]);
    expect(value).toMatchObject({ content: [{ artifact: { filename: "offer.docx" } }] });
    expect((await onlyBytes(store, artifacts)).equals(DOCX)).toBe(true);
  });

  test("a PDF above 5,000,000 bytes is stored as bytes, and shows no base64", async () => {
    const { store, sluice } = await opened();
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
    const { sluice } = await opened();
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
    const { sluice } = await opened();
    expect(await sluice.transform({ text })).toMatchObject({ value: { text }, artifacts: [], changed: false });
  });
});

describe("the clamp", () => {
  test("20 strings of 1 MB do not pass a limit of 50,000", async () => {
    const { sluice } = await opened();
    const observation = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(1_000_000 / `${n}`.length));
    expect(sluice.clamp(observation).text.length).toBeLessThanOrEqual(50_000);
    expect((await sluice.transform(observation)).text.length).toBeLessThanOrEqual(50_000);
    const off = await createSluice({
      store: new MemoryArtifactStore(),
      config: { auto_artifact_large_content: false },
    });
    expect((await off.transform(observation)).text.length).toBeLessThanOrEqual(50_000);
  });

  test("what is cut is JSON again", async () => {
    const { sluice } = await opened();
    const rows = Array.from({ length: 4_000 }, (_, id) => ({ id, text: prose(60) }));
    expect(() => JSON.parse(sluice.clamp({ rows }).text) as unknown).not.toThrow();
  });
});

describe("results of servers", () => {
  test("a result that is structured only is not empty", async () => {
    const { sluice } = await opened();
    const structuredContent = { rows: [1, 2, 3] };
    expect((await sluice.transform({ content: [], structuredContent })).value).toEqual(structuredContent);
    expect((await sluice.transform({ structuredContent })).text).toContain("[1,2,3]");
  });

  test("in lists of blocks links stay links, and blobs are found", async () => {
    const { store, sluice } = await opened();
    const blocks = [
      { type: "resource_link", uri: "file:///a.pdf", name: "a.pdf", mimeType: "application/pdf", size: 12 },
      { type: "resource", resource: { uri: "file:///b.pdf", blob: base64(PDF) } },
    ];
    const { value, artifacts } = await sluice.transform(blocks);
    expect(value).toMatchObject([
      { type: "resource_link", uri: "file:///a.pdf", mime_type: "application/pdf", size_bytes: 12, fetched: false },
      { type: "resource", uri: "file:///b.pdf", artifact: { filename: "b.pdf" } },
    ]);
    expect((await onlyBytes(store, artifacts)).equals(PDF)).toBe(true);
  });

  test("errors are offloaded too", async () => {
    const { store, sluice } = await opened();
    const { text, artifacts } = await sluice.transform({ ...textResult(prose(60_000)), isError: true });
    expect(text.length).toBeLessThan(3_000);
    expect(JSON.parse(text)).toMatchObject({ isError: true });
    expect((await onlyBytes(store, artifacts)).toString()).toBe(prose(60_000));
  });
});

describe("stores", () => {
  test("the same file in two sessions: each has its own name and scope, and can read it", async () => {
    const { store, sluice } = await opened();
    const refs: AnswerRef[] = [];
    for (const session_id of ["a", "b"]) {
      const resource = { uri: `file:///${session_id}.pdf`, blob: base64(PDF) };
      const scope = { session_id };
      const { artifacts } = await sluice.transform({ content: [{ type: "resource", resource }] }, { scope });
      expect((await onlyBytes(store, artifacts, scope)).equals(PDF)).toBe(true);
      refs.push(...artifacts);
    }
    expect(refs).toMatchObject([
      { filename: "a.pdf", scope: { session_id: "a" } },
      { filename: "b.pdf", scope: { session_id: "b" } },
    ]);
  });

  test("with no store nobody is told that something was stored", async () => {
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: vi.fn<() => void>() }) });
    for (const dialect of ["observation", "mcp"] as const) {
      for (const input of [
        textResult(base64(PDF)),
        textResult(prose(30_000)),
        { content: [{ type: "image", data: base64(PNG), mimeType: "image/png" }] },
      ]) {
        const { text } = await sluice.transform(input, { dialect });
        expect(text).toMatch(/not stored/i);
        expect(text.replaceAll(/not stored/gi, "")).not.toMatch(/stored, not shown|Read it with/);
      }
    }
  });
});

import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { FileArtifactStore } from "../../../../../web/src/artifacts/file/file-store.js";
import { createSluice } from "../../../../../web/src/index.js";
import { readClaim, readFileName } from "../../../../../web/src/tools/sources/http/answer.js";
import { httpSource } from "../../../../../web/src/tools/sources/http/source.js";
import { onlyBytes, PDF, PNG, prose, sha256 } from "../../../core/samples.js";
import { zipOf } from "../../../core/zip.js";
import { api, called, gate, manual, opened } from "../api.js";
import { MemoryArtifactStore } from "../../../../../web/src/artifacts/memory.js";
import { encodePieces } from "../../../../../web/src/core/value.js";
import { gateBody, HeldBytes } from "../../../../../web/src/tools/sources/body.js";

interface Answer {
  readonly type?: string;
  readonly body: Uint8Array | string;
  readonly headers?: Record<string, string>;
}

/** Calls a tool of an API whose answer is given. */
async function answered(answer: Answer, path = "/get") {
  const server = await api((_, response) => {
    if (answer.type !== undefined) response.setHeader("content-type", answer.type);
    for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
    response.end(answer.body);
  });
  const { sluice, store } = await gate();
  const connection = JSON.stringify(manual({ get: { url: `${server.origin}${path}?secret=s3cret` } }));
  const { reduced, isError } = await called(await opened(httpSource({ name: "api", connection, sluice })), "get");
  expect(isError).toBe(false);
  return { reduced, store };
}

describe("everything but text arrives as its exact bytes", () => {
  const archive = zipOf({ "a.txt": "hello", "b/c.bin": "x".repeat(3_000) });
  test.each([
    ["application/pdf", PDF],
    ["image/png", PNG],
    ["application/zip", archive],
    ["application/octet-stream", PNG],
    [undefined, PDF],
    ["text/plain", PNG],
    ["text/html; charset=utf-8", Buffer.from("caf\u00e9 ".repeat(300), "latin1")],
    ["text/csv; charset=iso-8859-1", Buffer.from("n\u00e9e;1\n".repeat(300), "latin1")],
    ["application/json", PDF],
    ["application/x-unheard-of", Buffer.from([0])],
  ])("%s", async (type, body) => {
    const { reduced, store } = await answered({ body, ...(type !== undefined && { type }) });
    expect(sha256(await onlyBytes(store, reduced.artifacts))).toBe(sha256(body));
    expect(reduced.artifacts[0]?.source).not.toHaveProperty("truncated");
  });
});

test("any bytes, in any pieces", async () => {
  const { sluice, store } = await gate();
  const state = { pieces: [] as Uint8Array[] };
  const server = await api((_, response) => {
    response.setHeader("content-type", "application/octet-stream");
    for (const piece of state.pieces) response.write(piece);
    response.end();
  });
  const connection = JSON.stringify(manual({ get: { url: server.origin } }));
  const source = await opened(httpSource({ name: "api", connection, sluice }));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ minLength: 1, maxLength: 700 }), { minLength: 1 }), async (pieces) => {
      state.pieces = pieces;
      const { reduced } = await called(source, "get");
      expect(await onlyBytes(store, reduced.artifacts)).toEqual(Buffer.concat(pieces));
    }),
    { numRuns: 40 },
  );
});

test("an empty body is reported as one", async () => {
  const empty = { content: [{ type: "resource", resource: { blob: "", mimeType: "application/pdf" } }] };
  expect((await answered({ type: "application/pdf", body: "" })).reduced.value).toMatchObject(empty);
  expect((await answered({ type: "application/json", body: "" })).reduced.text).toBe("null");
  expect((await answered({ type: "text/plain", body: "" })).reduced.text).toBe('""');
  expect((await answered({ body: "" })).reduced.text).toBe("null");
});

test("JSON is let through as it was written", async () => {
  const text = '{"n": 12345678901234567890.10, "e": "\\u00e9", "n": 2}';
  for (const type of ["application/json", "application/problem+json; charset=utf-8", "text/json", undefined]) {
    const { reduced } = await answered({ body: text, ...(type !== undefined && { type }) });
    expect(reduced).toMatchObject({ text, changed: false });
  }
});

test("a file inside JSON is stored, and the rest stays", async () => {
  const body = JSON.stringify({ name: "q3", file: PDF.toString("base64") });
  const { reduced, store } = await answered({ type: "application/json", body });
  expect(await onlyBytes(store, reduced.artifacts)).toEqual(PDF);
  expect(reduced.value).toMatchObject({ name: "q3", file: { artifact: { mime_type: "application/pdf" } } });
});

test("text is a string, and what calls itself JSON and is not is text", async () => {
  for (const type of ["text/plain", "application/xml", "application/json", "text/csv; charset=UTF-8", undefined]) {
    const { reduced } = await answered({ body: "\ufeffone\n{two", ...(type !== undefined && { type }) });
    expect(reduced.value).toBe("one\n{two");
  }
});

test("long text becomes an artifact of the same bytes", async () => {
  for (const size of [60_000, 5 * 1024 * 1024]) {
    const body = prose(size);
    const { reduced, store } = await answered({ type: "text/plain", body });
    expect((await onlyBytes(store, reduced.artifacts)).toString()).toBe(body);
    expect(reduced.text.length).toBeLessThan(3_000);
  }
});

test("JSON of many megabytes streams, and JSON that breaks off late is an error of the tool", async () => {
  const rows = JSON.stringify(Array.from({ length: 200_000 }, (_, id) => ({ id, name: "row" })));
  const { reduced, store } = await answered({ type: "application/json", body: rows });
  expect((await onlyBytes(store, reduced.artifacts)).toString()).toBe(rows);
  await expect(answered({ type: "application/json", body: rows.slice(0, -1) })).rejects.toMatchObject({
    code: "E_TOOL",
    isRetryable: false,
    message: expect.stringContaining('The tool "get" of the source "api"') as string,
  });
});

async function named(answer: Answer, path?: string): Promise<string | null | undefined> {
  return (await answered(answer, path)).reduced.artifacts[0]?.filename;
}

describe("files are named", () => {
  const type = "application/pdf";

  test("by the answer, whatever its path says", async () => {
    const headers = { "content-disposition": 'attachment; filename="../../Q3 report.pdf"' };
    expect(await named({ type, body: PDF, headers }, "/download.php")).toBe("Q3 report.pdf");
  });

  test("by the path, without the query", async () => {
    const { reduced } = await answered({ type, body: PDF }, "/files/a%20b.pdf");
    expect(reduced.artifacts[0]?.filename).toBe("a b.pdf");
    expect(reduced.text).not.toContain("s3cret");
    expect(reduced.text).not.toContain("127.0.0.1");
  });

  test("by the tool if nothing else names it", async () => {
    expect(await named({ type, body: PDF }, "/download")).toBe("get.pdf");
  });
});

test("a Content-Disposition in the forms of RFC 6266", () => {
  expect(readFileName(`attachment; filename*=UTF-8''na%C3%AFve%20file.txt; filename="x.txt"`)).toBe("naïve file.txt");
  expect(readFileName("attachment; filename=plain.bin")).toBe("plain.bin");
  expect(readFileName(String.raw`attachment; filename="a \"b\".txt"`)).toBe('a "b".txt');
  expect(readFileName(String.raw`attachment; filename="C:\\dir\\a.txt"`)).toBe("a.txt");
  expect(readFileName("attachment; filename*=UTF-8''%E0%A4%A")).toBeNull();
  for (const header of [null, "", "inline", 'attachment; filename=""', `x; filename=${"a".repeat(5_000)}`]) {
    expect(readFileName(header)).toBeNull();
  }
});

test("a Content-Type is read without its parameters, and one that is none says nothing", () => {
  expect(readClaim("Application/JSON; charset=utf-8")).toEqual({ claim: "json", mimeType: "application/json" });
  expect(readClaim("image/svg+xml")).toEqual({ claim: "text", mimeType: "image/svg+xml" });
  expect(readClaim("text/plain; charset=utf-16")).toEqual({ claim: "bytes", mimeType: "text/plain" });
  for (const header of [null, "", "nonsense", "a b/c", `${"a".repeat(99)}/b`, '"><script>/x']) {
    expect(readClaim(header)).toEqual({ claim: "unknown", mimeType: null });
  }
});

const PIECE = 65_536;
const PIECES = 1024;

test("64 MiB arrive as they are, and what was sent is never ahead of the store by much", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-large-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const store = new FileArtifactStore(folder);
  const hash = createHash("sha256");
  let sent = 0;
  function* body(): Generator<Buffer> {
    for (let n = 0; n < PIECES; n++) {
      const piece = Buffer.alloc(PIECE);
      for (let at = 0; at < PIECE; at++) piece[at] = (at * 31 + (at >> 8) + n) & 0xff;
      hash.update(piece);
      sent += PIECE;
      yield piece;
    }
  }
  const ahead = watched(store, () => sent);
  const server = await api((_, response) => {
    response.setHeader("content-type", "application/octet-stream");
    void pipeline(Readable.from(body()), response).catch(() => undefined);
  });
  const connection = JSON.stringify(manual({ get: { url: `${server.origin}/big.bin` } }));
  const source = await opened(httpSource({ name: "api", connection, sluice: await createSluice({ store }) }));
  const { reduced } = await called(source, "get");
  expect(reduced.artifacts).toMatchObject([
    { size_bytes: PIECE * PIECES, sha256: hash.digest("hex"), filename: "big.bin" },
  ]);
  expect(reduced.text.length).toBeLessThan(1_000);
  // Most of it is in the buffers of sockets.
  expect(ahead()).toBeLessThan(24 * 1024 * 1024);
});

/** How far what was sent got ahead of what a store has taken, which takes its time. */
function watched(store: FileArtifactStore, sent: () => number): () => number {
  let most = 0;
  const openWriter = store.openWriter.bind(store);
  store.openWriter = async (...args) => {
    const writer = await openWriter(...args);
    const write = writer.write.bind(writer);
    let taken = 0;
    writer.write = async (chunk) => {
      await new Promise((resolve) => setImmediate(resolve));
      await write(chunk);
      taken += chunk.length;
      most = Math.max(most, sent() - taken);
    };
    return writer;
  };
  return () => most;
}

async function* inPieces(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of list) yield piece;
}

async function latin1(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let all = "";
  for await (const piece of bytes) all += Buffer.from(piece).toString("latin1");
  return all;
}

const anyPieces = fc.array(fc.uint8Array({ maxLength: 20 }));

test("base64 is that of all pieces together", async () => {
  await fc.assert(
    fc.asyncProperty(anyPieces, async (list) => {
      expect(await latin1(encodePieces(inPieces(list)))).toBe(Buffer.concat(list).toString("base64"));
    }),
  );
  const large = Buffer.alloc(1_000_001, "abcdefg");
  expect(await latin1(encodePieces(inPieces([large.subarray(0, 2), large.subarray(2)])))).toBe(
    large.toString("base64"),
  );
});

test("the beginning of bytes may be read again until what follows is asked for", async () => {
  await fc.assert(
    fc.asyncProperty(anyPieces, fc.nat(60), fc.nat(60), async (list, first, second) => {
      const all = Buffer.concat(list);
      const held = new HeldBytes(inPieces(list));
      for (const limit of [first, second]) {
        const head = await held.hold(limit);
        expect(Buffer.from(head)).toEqual(all.subarray(0, head.length));
        expect(head.length >= Math.min(limit, all.length)).toBe(true);
      }
      const isWhole = held.isWhole;
      const before = isWhole ? await latin1(held.all()) : all.toString("latin1");
      expect(before).toBe(all.toString("latin1"));
      expect(held.isSpent).toBe(false);
      expect(await latin1(held.all())).toBe(all.toString("latin1"));
      expect(held.isSpent).toBe(!held.isWhole);
    }),
  );
});

test("a body that is no longer needed is released", async () => {
  let isOver = false;
  const giving = new AbortController();
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (let n = 0; ; n++) {
        if (n === 1_000) giving.abort(new Error("enough"));
        yield Buffer.from([0xff]);
      }
    } finally {
      isOver = true;
    }
  }
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const body = { bytes: endless(), claim: "bytes", mimeType: "application/pdf", filename: null } as const;
  await expect(gateBody(body, sluice, { signal: giving.signal })).rejects.toThrow("enough");
  expect(isOver).toBe(true);
});

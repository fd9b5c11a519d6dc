/** Archives: every entry can be found and taken out whole, and what is hostile ends in a coded error. */
import { downloadZip } from "client-zip";
import fc from "fast-check";
import { packTar } from "modern-tar";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type ArchiveSource, archiveEntries, extractEntry } from "../../../web/src/documents/archive.js";

const encoder = new TextEncoder();

interface File {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const WRITERS: Readonly<Record<string, (files: readonly File[]) => Promise<Uint8Array>>> = {
  zip: async (files) =>
    new Uint8Array(
      await downloadZip(
        files.map(({ name, bytes }) => ({ name, input: Uint8Array.from(bytes), lastModified: new Date(2026, 1, 3) })),
      ).arrayBuffer(),
    ),
  tar: async (files) =>
    packTar(
      files.map(({ name, bytes }) => ({ header: { name, size: bytes.length, type: "file" as const }, body: bytes })),
    ),
  "tar.gz": async (files) => gzipSync(await (WRITERS["tar"] as (typeof WRITERS)[string])(files)),
};

/** A source that gives at most `most` bytes at a time, and counts what was read. */
function sourceOf(
  bytes: Uint8Array,
  filename = "a.zip",
  most = 1000,
): ArchiveSource & { read: ArchiveSource["read"]; readonly taken: () => number } {
  let taken = 0;
  const stream = async (start: number, end: number): Promise<ReadableStream<Uint8Array>> => {
    let at = start;
    return new ReadableStream<Uint8Array>(
      {
        pull(controller): void {
          if (at >= end) return controller.close();
          const piece = bytes.slice(at, Math.min(end, at + most));
          taken += piece.length;
          at += piece.length;
          controller.enqueue(piece);
        },
      },
      { highWaterMark: 0 },
    );
  };
  return {
    size: bytes.length,
    filename,
    taken: () => taken,
    read: async (start, end) => {
      taken += end - start;
      return bytes.slice(start, end);
    },
    stream,
  };
}

async function namesOf(source: ArchiveSource): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of archiveEntries(source)) names.push(name);
  return names;
}

async function take(source: ArchiveSource, name: string): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  const { entry } = await extractEntry(source, name, async (chunk) => void chunks.push(chunk.slice()));
  return entry === undefined ? undefined : new Uint8Array(Buffer.concat(chunks));
}

describe.each(Object.keys(WRITERS))("a %s", (kind) => {
  const write = WRITERS[kind] as (typeof WRITERS)[string];

  test("gives back every file, byte for byte", async () => {
    const file = fc.record({
      name: fc.stringMatching(/^[a-z]{1,8}(\/[a-zäöü ]{1,8}){0,2}$/),
      bytes: fc.uint8Array({ maxLength: 5000 }),
    });
    const files = fc.uniqueArray(file, { minLength: 1, maxLength: 6, selector: ({ name }) => name.normalize("NFC") });
    await fc.assert(
      fc.asyncProperty(files, fc.integer({ min: 1, max: 3000 }), async (given, most) => {
        const bytes = await write(given);
        expect(await namesOf(sourceOf(bytes))).toEqual(given.map(({ name }) => name));
        for (const { name, bytes: content } of given) {
          expect(await take(sourceOf(bytes, "a", most), name)).toEqual(content);
        }
      }),
      { numRuns: 20 },
    );
  });

  test("that is cut anywhere ends in a list or a coded error", async () => {
    const bytes = await write([
      { name: "a.txt", bytes: encoder.encode("a".repeat(3000)) },
      { name: "b/c.txt", bytes: encoder.encode("b".repeat(3000)) },
    ]);
    for (let end = 4; end < bytes.length; end += 97) {
      const outcome = await take(sourceOf(bytes.slice(0, end)), "b/c.txt").then(
        (content) => content?.length ?? 0,
        (error: { code?: string }) => error.code,
      );
      expect([0, 3000, "E_DOCUMENT"]).toContain(outcome);
    }
  });

  test("that does not have a file names those that are called alike", async () => {
    const bytes = await write([{ name: "deep/Report.pdf", bytes: encoder.encode("x") }]);
    expect(await extractEntry(sourceOf(bytes), "report.pdf", async () => undefined)).toEqual({
      entry: undefined,
      near: ["deep/Report.pdf"],
    });
  });

  test("hands on what the store says", async () => {
    const bytes = await write([{ name: "a", bytes: encoder.encode("x".repeat(10_000)) }]);
    const gone = new Error("gone");
    const source = { ...sourceOf(bytes), stream: () => Promise.reject(gone) };
    await expect(take(source, "a")).rejects.toBeInstanceOf(Error);
  });
});

test.each(["zip", "tar"])("paths that lead out of a folder are names like any other in a %s", async (kind) => {
  const names = ["../../etc/passwd", "/etc/hosts", "C:/x", "notes.txt"];
  const write = WRITERS[kind] as (typeof WRITERS)[string];
  const source = sourceOf(await write(names.map((name) => ({ name, bytes: encoder.encode(name) }))));
  const found: string[] = [];
  for await (const { name } of archiveEntries(source)) found.push(name);
  expect(found).toEqual(names);
  let text = "";
  await extractEntry(source, "../../etc/passwd", async (chunk) => void (text += new TextDecoder().decode(chunk)));
  expect(text).toBe("../../etc/passwd");
});

test("a file of a ZIP that is not what its checksum says is damaged", async () => {
  const bytes = await (WRITERS["zip"] as (typeof WRITERS)[string])([
    { name: "a", bytes: encoder.encode("whole text") },
  ]);
  bytes[Buffer.from(bytes).indexOf("whole")] = 0;
  await expect(take(sourceOf(bytes), "a")).rejects.toMatchObject({ code: "E_DOCUMENT" });
});

test("a gzip of one file is an archive of that file", async () => {
  const source = sourceOf(gzipSync("hello"), "log.txt.gz");
  expect(await namesOf(source)).toEqual(["log.txt"]);
  expect(await take(source, "log.txt")).toEqual(encoder.encode("hello"));
});

test("one file of a large ZIP is read without the others", async () => {
  const noise = (seed: number): Uint8Array => Uint8Array.from({ length: 300_000 }, (_, at) => (at * seed * 31) >> 3);
  const bytes = await (WRITERS["zip"] as (typeof WRITERS)[string])(
    Array.from({ length: 10 }, (_, at) => ({ name: `${at}`, bytes: noise(at + 1) })),
  );
  const source = sourceOf(bytes);
  expect(await take(source, "7")).toEqual(noise(8));
  expect(source.taken()).toBeLessThan(500_000);
});

test("a file that unpacks to more than is allowed is refused before it is written", async () => {
  const bomb = new Uint8Array(gzipSync(Buffer.alloc(64 * 1024 ** 2)));
  let written = 0;
  const write = async ({ length }: Uint8Array): Promise<void> => void (written += length);
  const outcome = extractEntry(sourceOf(bomb, "bomb.gz"), "bomb", write, { maxBytes: 1024 ** 2 });
  await expect(outcome).rejects.toMatchObject({ code: "E_TOO_LARGE" });
  expect(written).toBeLessThanOrEqual(1024 ** 2);
});

test("an encrypted file says what would help", async () => {
  const bytes = await (WRITERS["zip"] as (typeof WRITERS)[string])([{ name: "a", bytes: encoder.encode("x") }]);
  // Bit 0 of the flags, in the local header and in the directory (APPNOTE 4.4.4).
  const directory = Buffer.from(bytes).indexOf("PK\u{1}\u{2}");
  bytes[6] = (bytes[6] as number) | 1;
  bytes[directory + 8] = (bytes[directory + 8] as number) | 1;
  await expect(take(sourceOf(bytes), "a")).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: expect.stringContaining("password"),
  });
});

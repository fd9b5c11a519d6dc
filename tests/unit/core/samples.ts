/**
 * Files and results that the tests of the core feed it with.
 * @module
 */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { makePdf } from "../../../scripts/demo/pdf.mjs";
import { makePng } from "../../../scripts/demo/png.mjs";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../../../web/src/artifacts/store.js";
import type { AnswerRef } from "../../../web/src/core/types.js";
import { createSluice, type Sluice } from "../../../web/src/index.js";
import { noise } from "../artifacts/bytes.js";

/** One page, 115 KB or so. */
export const PDF: Buffer = makePdf({ pages: 1 });
/** 9 KB or so. */
export const PNG: Buffer = makePng({ width: 64, height: 48 });
/** More than `inline_media` lets stay. */
export const LARGE_PNG: Buffer = makePng({ width: 800, height: 600 });
export const GZIP: Buffer = gzipSync(noise(9_000));
export const WAV: Buffer = wav(8_000);
/** POSIX ustar: one file of 1 KiB. */
export const TAR: Buffer = tar(noise(1_024));

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A CallToolResult with one text block. */
export const textResult = (text: string): { content: { type: "text"; text: string }[] } => ({
  content: [{ type: "text", text }],
});

/** English, at least `chars` characters. */
export function prose(chars: number): string {
  let text = "";
  for (let line = 1; text.length < chars; line++) text += `Line ${line} says what happened on the way home.\n`;
  return text;
}

/** A Sluice, and the store that is its alone. */
export async function opened(): Promise<{ readonly store: MemoryArtifactStore; readonly sluice: Sluice }> {
  const store = new MemoryArtifactStore();
  return { store, sluice: await createSluice({ store }) };
}

/** The stored bytes of the only artifact; throws when there is none, or another. */
export async function onlyBytes(
  store: ArtifactStore,
  artifacts: readonly AnswerRef[],
  scope?: ArtifactScope,
): Promise<Buffer> {
  const [ref] = artifacts;
  if (artifacts.length !== 1 || ref === undefined) throw new Error(`There are ${artifacts.length} artifacts.`);
  const bytes = await store.get(ref.id, scope);
  if (bytes === null) throw new Error(`${ref.id} is not in the store.`);
  if (sha256(bytes) !== ref.sha256 || bytes.length !== ref.size_bytes)
    throw new Error(`${ref.id} is not what it says.`);
  return Buffer.from(bytes);
}

/** All refs in a store, or in one scope of it. */
export async function refsIn(store: ArtifactStore, scope?: ArtifactScope): Promise<ArtifactRef[]> {
  const refs: ArtifactRef[] = [];
  for await (const ref of store.list(scope)) refs.push(ref);
  return refs;
}

/** The longest run of base64 characters in a text. */
export function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/[A-Za-z0-9+/_-]+=*/g) ?? []).map((run) => run.length));
}

// RIFF, 16-bit mono PCM at 8 kHz.
function wav(samples: number): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + samples * 2, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(16_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(samples * 2, 40);
  return Buffer.concat([header, noise(samples * 2)]);
}

// A header block, the content, two blocks of zeros; the checksum counts itself as eight spaces.
function tar(content: Uint8Array): Buffer {
  const header = Buffer.alloc(512);
  header.write("noise.bin", 0, "latin1");
  header.write("0000644\0" + "0001750\0".repeat(2), 100, "latin1");
  header.write(`${content.length.toString(8).padStart(11, "0")}\0${"0".repeat(11)}\0        0`, 124, "latin1");
  header.write("ustar\u000000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return Buffer.concat([header, content, Buffer.alloc(1_024)]);
}

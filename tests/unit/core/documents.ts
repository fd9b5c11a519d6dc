/**
 * Documents as servers send them, for properties: JSON of any shape with encoded bytes at any depth.
 * @module
 */
import fc from "fast-check";
import { noise } from "../artifacts/bytes.js";
import { base64, GZIP, PDF, PNG, prose, WAV } from "./samples.js";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const FILES = [PDF.subarray(0, 30_000), PNG, GZIP, WAV, PNG.subarray(0, 1_501), PDF.subarray(0, 1_000)];

/** Files with a signature, or more than a thousand bytes of their beginnings. */
export const files: fc.Arbitrary<Buffer> = fc
  .tuple(fc.constantFrom(...FILES), fc.integer({ min: 1_000, max: 30_000 }))
  .map(([file, size]) => file.subarray(0, size));

/** Bytes: the beginnings of files, or noise of any length, of which some has no signature. */
export const bytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.constantFrom(...FILES),
  fc
    .tuple(fc.constantFrom(...FILES), fc.integer({ min: 600, max: 4_000 }))
    .map(([file, size]) => file.subarray(0, size)),
  fc.tuple(fc.integer({ min: 0, max: 12_000 }), fc.integer({ min: 1, max: 99 })).map(([size, seed]) => {
    return Buffer.from(noise(size, seed));
  }),
  fc.integer({ min: 0, max: 12_000 }).map((size) => Buffer.alloc(size)),
);

const wrapped = (text: string, column: number, separator: string): string =>
  text.replace(new RegExp(`.{${column}}(?=.)`, "g"), `$&${separator}`);

/** Ways in which servers put bytes into a string; each takes the bytes, a column and a line separator. */
export const SPELLINGS: readonly ((data: Buffer, column: number, separator: string) => string)[] = [
  (data) => base64(data),
  (data) => data.toString("base64url"),
  (data) => base64(data).replace(/=+$/, ""),
  (data) => base64(data).replaceAll("+", "-").replaceAll("/", "_"),
  (data, column, separator) => wrapped(base64(data), column, separator),
  (data, column, separator) => wrapped(base64(data), column, separator) + separator,
  (data) => data.toString("hex"),
  (data) => `0x${data.toString("hex").toUpperCase()}`,
  (data) => data.toString("hex").replace(/../g, "\\x$&"),
  (data) => `data:application/octet-stream;base64,${base64(data)}`,
  (data) => `<img src="data:image/png;base64,${base64(data)}" alt="a"> and then`,
  (data) => `Here it is:\n${base64(data)}\nRegards`,
  (data) => JSON.stringify([...data]),
];

/** Bytes as one of them writes them. */
export const encodedAs = (data: fc.Arbitrary<Buffer>): fc.Arbitrary<string> =>
  fc
    .tuple(data, fc.constantFrom(...SPELLINGS), fc.constantFrom(60, 64, 76, 77), fc.constantFrom("\n", "\r\n", "\n  "))
    .map(([plain, spell, column, separator]) => spell(plain, column, separator));

export const encoded: fc.Arbitrary<string> = encodedAs(bytes);

const odd: fc.Arbitrary<string> = fc.constantFrom(
  "",
  "\ud800 lone \udc00",
  "\ud83d\ude00".repeat(40),
  "\u0000\u0001\u0002\u001f\u007f",
  "\u00010000\u0002",
  "artifact://artifact_0123456789ab",
  "artifact://artifact_0123456789ab?type=application/pdf&size=12&form=hex",
  "[sluice] PDF, 2.1 MB. Stored, not shown.",
  "A".repeat(20_000),
  '{"half": [1, 2',
  '"quoted"',
  "1e999",
);

const long: fc.Arbitrary<string> = fc
  .tuple(fc.integer({ min: 9_000, max: 25_000 }), fc.constantFrom("", "é", "\ud83d\ude00", "\ud800", "\\"))
  .map(([chars, mixed]) => prose(chars).replaceAll("way", `way${mixed}`));

const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: encoded },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 2, arbitrary: odd },
  { weight: 1, arbitrary: long },
);

const byteList: fc.Arbitrary<Json> = bytes.map((data) => [...data.subarray(0, 3_000)]);
const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1e21),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
);
const key: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "data",
    "content",
    "text",
    "blob",
    "_meta",
    "type",
    "a/b",
    "a~b",
    "~1",
    "",
    "0",
    "artifact",
    "sluice/refs",
  ),
  fc.string({ maxLength: 6 }),
);

const recursive = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    text,
    text,
    scalar,
    byteList,
    byteList.map((data) => ({ type: "Buffer", data })),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
    // JSON in a string, in which there may be JSON in a string
    tie("value").map((inner) => JSON.stringify(inner)),
    tie("value").map((inner) => JSON.stringify(inner, null, 2)),
  ),
}));

export const documents: fc.Arbitrary<Json> = recursive.value;

const block: fc.Arbitrary<Json> = fc.oneof(
  text.map((value) => ({ type: "text", text: value })),
  documents.map((value) => ({ type: "text", text: JSON.stringify(value) })),
  bytes.map((data) => ({ type: "image", data: base64(data), mimeType: "image/png" })),
  encoded.map((data) => ({ type: "audio", data, mimeType: "audio/wav", annotations: { priority: 0.5 } })),
  encoded.map((blob) => ({ type: "resource", resource: { uri: "file:///a/b.bin", blob } })),
  text.map((value) => ({
    type: "resource",
    resource: { uri: "file:///a/b.txt", mimeType: "text/plain", text: value },
  })),
  fc.constant({ type: "resource_link", uri: "file:///c.pdf", name: "c", size: 12 }),
  documents,
);

/** CallToolResults, and what calls itself one. */
export const results: fc.Arbitrary<Json> = fc.record(
  {
    content: fc.array(block, { maxLength: 4 }),
    structuredContent: fc.dictionary(key, documents, { maxKeys: 3, noNullPrototype: true }),
    isError: fc.boolean(),
    _meta: fc.oneof(fc.dictionary(key, documents, { maxKeys: 2, noNullPrototype: true }), fc.constant(null), scalar),
  },
  { requiredKeys: ["content"], noNullPrototype: true },
);

/**
 * Tool results to feed the command with.
 * @module
 */
import { createHash } from "node:crypto";
import { makePdf } from "../../../scripts/demo/pdf.mjs";
import { makePng } from "../../../scripts/demo/png.mjs";

/** One page, 117 KB or so. */
export const PDF: Buffer = makePdf({ pages: 1 });
export const PNG: Buffer = makePng({ width: 64, height: 48 });

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The usual incident as a CallToolResult: a PDF in JSON in a text block. */
export const WORKBOOK: string = JSON.stringify({
  content: [{ type: "text", text: JSON.stringify({ content: PDF.toString("base64"), name: "Sales", format: "pdf" }) }],
});

/** A typed image block. */
export const SCREENSHOT: string = JSON.stringify({
  content: [{ type: "image", data: PNG.toString("base64"), mimeType: "image/png" }],
});

/** Chunks of a result with one string of base64 that stands for `bytes` bytes, never whole in memory. */
export async function* hugeResult(bytes: number): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(48 * 1024);
  for (let i = 0; i < piece.length; i++) piece[i] = (i * 31 + (i >> 8)) & 0xff;
  const encoded = Buffer.from(piece.toString("base64"));
  yield Buffer.from(
    `{"content":[{"type":"resource","resource":{"uri":"file:///dump.bin","mimeType":"application/octet-stream","blob":"`,
  );
  for (let sent = 0; sent < bytes; sent += piece.length) yield encoded;
  yield Buffer.from(`"}}]}`);
}

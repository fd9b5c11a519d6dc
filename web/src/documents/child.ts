/**
 * The process in which documents are converted: see `sandbox-node.ts`.
 * @module
 */
import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { Worker } from "node:worker_threads";
import { pathToFileURL } from "node:url";
import { convert, type ConversionRequest, type OptionalLibraries } from "./conversion.js";
import { unreadable } from "./document.js";
import type { CanvasLibrary } from "./picture.js";
import type { PdfLibrary } from "./pdf.js";
import { failureOf, MAX_INPUT, overLimit } from "./sandbox.js";
import { Frame, FRAME_HEAD, MAX_FRAME } from "./sandbox-node.js";

// A thread of its own sees the memory also while this one is busy. A limit of the heap would not count array buffers. A process whose
// parent is gone ends too, since whoever asked will not read it. Where a process does not see that, as on Windows, its time ends it.
const WATCH = `
const { workerData: { memory, time } } = require("node:worker_threads");
const { ppid } = process;
setInterval(() => {
  const isOver = process.memoryUsage.rss() > memory || performance.now() > time || process.ppid !== ppid;
  if (isOver) process.kill(process.pid, "SIGKILL");
}, 20);`;

const require = createRequire(import.meta.url);

const libraries: OptionalLibraries = {
  async pdf(): Promise<PdfLibrary> {
    const folder = folderOf("pdfjs-dist") ?? missing("PDF is read with the package pdfjs-dist", "pdfjs-dist");
    const pdfjs = (await import(pathToFileURL(join(folder, "legacy/build/pdf.mjs")).href)) as PdfLibrary["pdfjs"];
    const of = (name: string): string => join(folder, name) + sep;
    return {
      pdfjs,
      options: {
        useSystemFonts: false,
        standardFontDataUrl: of("standard_fonts"),
        cMapUrl: of("cmaps"),
        wasmUrl: of("wasm"),
        iccUrl: of("iccs"),
      },
    };
  },
  async canvas(): Promise<CanvasLibrary> {
    // A global installation puts it within pdfjs-dist, which brings it.
    const pdfjs = folderOf("pdfjs-dist");
    const folder =
      folderOf("@napi-rs/canvas") ??
      (pdfjs && folderOf("@napi-rs/canvas", createRequire(join(pdfjs, "package.json")))) ??
      missing("Pictures are drawn with the package @napi-rs/canvas", "@napi-rs/canvas");
    return require(folder) as CanvasLibrary;
  },
};

/** The folder of a package as seen from here or another place. */
function folderOf(name: string, from = require): string | undefined {
  try {
    return dirname(from.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

function missing(what: string, name: string): never {
  throw unreadable(
    `${what}, which is not installed where Sluice is. Tell the user: npm install ${name} beside mcp-sluice; with -g where that is; or npx -p mcp-sluice -p ${name} sluice …`,
  );
}

function write(kind: number, content: Uint8Array): void {
  const frame = Buffer.alloc(FRAME_HEAD + content.length);
  frame[0] = kind;
  frame.writeUInt32BE(content.length, 1);
  frame.set(content, FRAME_HEAD);
  for (let at = 0; at < frame.length;) at += written(frame, at);
}

/** Waits while the pipe is full: nothing else runs here. */
function written(frame: Buffer, at: number): number {
  try {
    return writeSync(1, frame, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return 0;
    throw error;
  }
}

async function input(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_INPUT + 64 * 1024) throw overLimit("memory");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const told = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const [memory = 0, time = 0] = process.argv.slice(2).map(Number);
new Worker(WATCH, { eval: true, workerData: { memory, time } }).unref();
try {
  const all = await input();
  const line = all.indexOf("\n");
  const request = JSON.parse(all.toString("utf8", 0, line)) as ConversionRequest;
  const bytes = new Uint8Array(all.subarray(line + 1));
  const facts = await convert(bytes, request, libraries, async (chunk) => {
    for (let at = 0; at < chunk.length; at += MAX_FRAME) write(Frame.content, chunk.subarray(at, at + MAX_FRAME));
  });
  write(Frame.facts, told(facts));
} catch (error) {
  // Array buffers that cannot be had are range errors.
  if (error instanceof RangeError) process.abort();
  write(Frame.failure, told(failureOf(error)));
}
process.exit(0);

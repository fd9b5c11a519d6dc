/**
 * The process in which documents are converted: see `sandbox-node.ts`.
 * @module
 */
import { writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import type { DocumentModule } from "../core/engine.js";
import { Codecs } from "./codecs.js";
import { convert, type ConversionRequest, type Libraries } from "./conversion.js";
import { Pdfium } from "./pdfium.js";
import { toFailure, MAX_INPUT, overLimit } from "./sandbox.js";
import { Frame, FRAME_HEAD, MAX_FRAME } from "./sandbox-node.js";

// A thread of its own sees the memory also while this one is busy. A limit of the heap would not count array buffers. A process whose
// parent is gone ends too, since its answer would not be read. Where a process does not see that, as on Windows, its time ends it.
const WATCH = `
const { workerData: { memory, time } } = require("node:worker_threads");
const { ppid } = process;
setInterval(() => {
  const isOver = process.memoryUsage.rss() > memory || performance.now() > time || process.ppid !== ppid;
  if (isOver) process.kill(process.pid, "SIGKILL");
}, 20);`;

/** A module of WebAssembly beside this file. */
async function compile(name: DocumentModule): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(new URL(`./wasm/${name}.wasm`, import.meta.url)));
}

const pdfium = async (): Promise<Pdfium> => Pdfium.load(await compile("pdfium"));
const libraries: Libraries = { pdfium, pictures: async () => new Codecs({ compile, pdfium }) };

function write(kind: number, content: Uint8Array): void {
  const frame = Buffer.alloc(FRAME_HEAD + content.length);
  frame[0] = kind;
  frame.writeUInt32BE(content.length, 1);
  frame.set(content, FRAME_HEAD);
  for (let at = 0; at < frame.length;) at += writeFrame(frame, at);
}

/** Waits while the pipe is full: nothing else runs here. */
function writeFrame(frame: Buffer, at: number): number {
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

const encodeJson = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

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
  write(Frame.facts, encodeJson(facts));
} catch (error) {
  // Array buffers that cannot be had are range errors.
  if (error instanceof RangeError) process.abort();
  write(Frame.failure, encodeJson(toFailure(error)));
}
process.exit(0);

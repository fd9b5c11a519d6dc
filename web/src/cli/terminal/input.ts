/**
 * Files and standard input, in chunks.
 * @module
 */
import { open, type FileHandle } from "node:fs/promises";
import { addAbortSignal, type Readable } from "node:stream";
import { CommandError, Exit, systemReason } from "../exit.js";
import { fileName, type Terminal } from "./terminal.js";
import { BYTE_ORDER_MARK } from "../../jsonrpc/bytes.js";

/** Bytes that are read from a file at a time. */
const CHUNK = 262_144;

const MARK = Uint8Array.from(BYTE_ORDER_MARK);

/** An input, to be read once. */
export interface Input {
  /** The name as typed; `-` for standard input. */
  readonly name: string;
  /** In bytes, if known. */
  readonly size: number | undefined;
  /** A chunk is valid until the next one is read. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Opens a file, or standard input for `-` and undefined. Throws CommandError 66. */
export async function openInput(file: string | undefined, terminal: Terminal): Promise<Input> {
  if (file === undefined || file === "-") return standardInput(terminal);
  try {
    const handle = await open(file, "r");
    const stat = await handle.stat();
    const size = stat.isFile() ? stat.size : undefined;
    return { name: file, size, chunks: fileChunks(handle, file, terminal.signal) };
  } catch (error) {
    throw inputError(file, error);
  }
}

async function standardInput({ input, errors, signal }: Terminal): Promise<Input> {
  if (input.isTTY === true) await errors.write(errors.dim("Reading from the keyboard; Ctrl-D ends the input.\n"));
  return { name: "-", size: undefined, chunks: streamChunks(addAbortSignal(signal, input)) };
}

async function* streamChunks(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (error) {
    throw inputError("-", error);
  }
}

/** Removes a UTF-8 byte order mark at the start, which some editors write and JSON forbids. */
export async function* withoutMark(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let matched = 0;
  let matching = true;
  for await (const chunk of chunks) {
    let at = 0;
    while (matching && at < chunk.length && chunk[at] === MARK[matched]) {
      at += 1;
      matched += 1;
      matching = matched < MARK.length;
    }
    if (matching && at === chunk.length) continue;
    // Bytes that only looked like a mark.
    if (matching && matched > 0) yield MARK.subarray(0, matched);
    matching = false;
    matched = 0;
    if (at < chunk.length) yield chunk.subarray(at);
  }
  if (matching && matched > 0) yield MARK.subarray(0, matched);
}

async function* fileChunks(handle: FileHandle, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    const buffer = new Uint8Array(CHUNK);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await read(handle, buffer, name);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function read(handle: FileHandle, buffer: Uint8Array, name: string): Promise<{ bytesRead: number }> {
  try {
    return await handle.read(buffer, 0, buffer.length, null);
  } catch (error) {
    throw inputError(name, error);
  }
}

function inputError(name: string, error: unknown): Error {
  if (error instanceof Error && error.name === "AbortError") return error;
  const input = name === "-" ? "standard input" : fileName(name);
  return new CommandError(Exit.input, `cannot read ${input}: ${systemReason(error)}`, { cause: error });
}
